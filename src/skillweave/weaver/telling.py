"""Telling observers what happens: in its order, each observer by itself, and never for longer than agreed.

Without an observer no event is made.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Severity
from skillweave.events.event import Event, Kept, Observer, Wanted

log = logging.getLogger("skillweave")

OBSERVER_SECONDS = 1.0
"""How long an observer may take before its call is cancelled and the turn goes on."""
LONGEST_REASON = 200

_Task: TypeAlias = "asyncio.Task[None]"
_Lane: TypeAlias = "tuple[int, asyncio.AbstractEventLoop, str]"
_OBSERVING: "ContextVar[_Task | None]" = ContextVar("skillweave_observing", default=None)
"""The call of an observer inside which this runs, if any."""


@dataclass(frozen=True, slots=True)
class EventDispatch:
    """Events on their way: each observer's task with the observer's name, and when the event loop's clock ends them."""

    tasks: Mapping[_Task, str]
    until: float = 0.0

    async def ended(self) -> tuple[Diagnostic, ...]:
        """Wait until every observer has them, or its time is over; a finding for each that has not.

        Whoever is cancelled here cancels no observer: what happened is told to its end.
        """
        if not self.tasks:
            return ()
        await asyncio.wait(self.tasks, timeout=max(0.0, self.until - asyncio.get_running_loop().time()))
        return tuple(
            Diagnostic(
                code="observer-failed",
                severity=Severity.WARNING,
                message=f"observer {name} was not told what happened: {_failure(task)}",
                fix="check the observer; the turn itself is complete",
            )
            for task, name in self.tasks.items()
            if not task.done() or task.cancelled() or task.exception() is not None
        )


NOBODY = EventDispatch(MappingProxyType({}))
"""The dispatch of no event to nobody."""


@dataclass(slots=True)
class Observers:
    """Who is told, and for how many seconds at most.

    Every observer has a lane per conversation, in which one call follows the other; one that hangs holds up nothing but
    its own lane. The lanes of different event loops are different ones. Raises TypeError for what cannot observe.
    """

    listening: Sequence[Observer]
    seconds: float = OBSERVER_SECONDS
    hear_everything: bool = field(init=False)
    """Whether anybody wants to hear of what the store keeps, too."""
    _names: tuple[str, ...] = field(init=False)
    _wanting: tuple[Wanted, ...] = field(init=False)
    _lanes: dict[_Lane, list[_Task]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Once and now: a guest's attribute that fails must not fail when a turn is over.
        self._names = tuple(map(name_of, self.listening))
        self._wanting = tuple(getattr(one, "wanted", Wanted.EVERYTHING) for one in self.listening)
        self.hear_everything = Wanted.EVERYTHING in self._wanting

    def tell(self, conversation: str, events: Sequence[Event], kept: Kept = Kept.NOWHERE) -> EventDispatch:
        """Begin to hand the events to everybody; their place in the order is taken when this returns.

        What the store has kept is told to those only who want everything.

        Inside an observer's own call nobody waits for them: that call has to end before the next one begins.
        """
        if not self.listening or not events:
            return NOBODY
        loop = asyncio.get_running_loop()
        tasks = {
            self._begun((number, loop, conversation), observer, events): self._names[number]
            for number, observer in enumerate(self.listening)
            if kept is Kept.NOWHERE or self._wanting[number] is Wanted.EVERYTHING
        }
        call = _OBSERVING.get()
        # A task that an observer leaves behind inherits the call, which is over then.
        if not tasks or (call is not None and not call.done()):
            return NOBODY
        return EventDispatch(MappingProxyType(tasks), loop.time() + self.seconds)

    def _begun(self, lane: _Lane, observer: Observer, events: Sequence[Event]) -> _Task:
        loop = lane[1]
        tasks = self._lanes.setdefault(lane, [])
        task = loop.create_task(_hand_over(observer, events, tuple(tasks)))
        tasks.append(task)
        # The timer ends the task also where nobody waits for it any more.
        timer = loop.call_later(self.seconds, task.cancel)
        task.add_done_callback(partial(self._over, lane, timer))
        return task

    def _over(self, lane: _Lane, timer: asyncio.TimerHandle, task: _Task) -> None:
        timer.cancel()
        name = self._names[lane[0]]
        tasks = self._lanes[lane]
        tasks.remove(task)
        if not tasks:
            del self._lanes[lane]
        if task.cancelled():
            log.warning("observer %s did not take the events of conversation %r in time", name, lane[2])
        elif task.exception() is not None:
            log.warning("observer %s failed in conversation %r", name, lane[2], exc_info=task.exception())


def name_of(observer: Observer) -> str:
    """What an observer is called in messages to people: its `name`, else that of its type.

    Raises TypeError for what has no method `observe`.
    """
    if not callable(getattr(observer, "observe", None)):
        raise TypeError(
            f"{observer!r:.100} is not an observer, it has no method `observe`; "
            "put a plain function into skillweave.events.Callback(...)"
        )
    name = getattr(observer, "name", None)
    return name if isinstance(name, str) and name else type(observer).__name__


async def _hand_over(observer: Observer, events: Sequence[Event], earlier: Sequence[_Task]) -> None:
    if earlier:
        await asyncio.wait(earlier)
    _OBSERVING.set(asyncio.current_task())
    await observer.observe(events)


def _failure(task: _Task) -> str:
    if not task.done() or task.cancelled():
        return "it took too long"
    # Observers are guests: whatever they raise is reported here, and costs nobody else anything.
    error = task.exception()
    return f"{type(error).__name__}: {_said_by(error)}"[:LONGEST_REASON]


def _said_by(error: BaseException | None) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - also the text of an error is a guest's code
        return "it has no readable text"
