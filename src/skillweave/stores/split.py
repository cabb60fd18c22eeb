"""States in one store, decisions in the log of another: a turn waits for the first only."""

import asyncio
import atexit
import logging
import os
import random
import time
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from skillweave.closing import ClosedOnExit, close_all
from skillweave.decisions import Decision
from skillweave.errors import StoreUnavailable
from skillweave.state.port import DecisionLog, Logged, Store, TurnDecisions
from skillweave.state.state import State, Writes
from skillweave.tenants import tenant_of

BATCH_SECONDS = 0.5
"""Decisions of a turn wait so long for those of others, to be written together."""
LONGEST_PAUSE = 30.0
"""Seconds between two tries while the log does not answer, at most."""
MOST_WAITING = 50_000
"""Decisions that wait for a log, at most; of more, those that wait for longest are dropped."""
MOST_WRITTEN = 500
"""Turns of one batch."""
MOST_REFUSED = 10
"""A log that takes none of so many turns takes nothing at all."""
log = logging.getLogger("skillweave")


@runtime_checkable
class LogOffering(Protocol):
    """A source of skills whose database can keep decisions too."""

    def decision_log(self) -> DecisionLog | None:
        """A log in the same database over connections of its own, which the caller closes; None where it has none."""
        ...


@runtime_checkable
class BatchLog(Protocol):
    """A log that keeps the decisions of several turns in one trip."""

    async def append_all(self, turns: Sequence[TurnDecisions]) -> None:
        """Keep all of them or none; a turn that is kept already changes nothing."""
        ...


class _Waiting(NamedTuple):
    decisions: tuple[Decision, ...]
    since: float


_Turn: TypeAlias = tuple[str, str, str]
"""A tenant, a conversation and a turn."""


class SplitStore(ClosedOnExit):
    """The States and the index of `states`, and a log of decisions elsewhere, so that a turn makes no trip to the log.

    Decisions are written after the answer, those of several turns together and about half a second late; `read` and
    `close` write what waits. While the log does not answer they are tried again, with growing pauses. Of more than
    `most_waiting` decisions, those that wait for longest are dropped, and the log of the process says how many. A crash
    loses what waits. Closing it closes both.
    """

    def __init__(self, states: Store, decisions: DecisionLog, *, most_waiting: int = MOST_WAITING) -> None:
        self.states = states
        self.decisions = decisions
        self._most = most_waiting
        self._waiting: dict[_Turn, _Waiting] = {}
        self._number = 0
        self._dropped = 0
        self.dropped = 0
        """Turns whose decisions were dropped or could not be written, in this process."""
        self._lock = Lock()
        self._process = os.getpid()
        self._writers: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}
        self._closed = False

    @property
    def waiting(self) -> int:
        """Decisions that wait for the log."""
        return self._number

    @property
    def keeps_events(self) -> bool:
        """Whether the store of the States keeps the events."""
        return self.states.keeps_events

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State and the clock of its store."""
        return await self.states.load(conversation, tenant=tenant)

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State, and where that was won log the decisions afterwards."""
        state_only = Writes(writes.state, writes.turn_id, events=writes.events)
        if not await self.states.swap(conversation, expected_revision, state_only, tenant=tenant):
            return False
        self._log((tenant, conversation, writes.turn_id), writes.decisions)
        return True

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Log the decisions afterwards."""
        if self._closed:
            raise StoreUnavailable("the log of decisions is closed; open it again")
        self._log((tenant_of(tenant), conversation, turn_id), decisions)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """The kept decisions, with those that this process has not written yet."""
        await self._flush()
        return await self.decisions.read(conversation, tenant=tenant)

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids of the store of the States."""
        return await self.states.conversations(prefix, limit, after, tenant=tenant)

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations the store of the States keeps."""
        return await self.states.count(tenant=tenant)

    async def close(self) -> None:
        """Write what waits, once, and close both; the log of the process says what could not be written."""
        if not self._closed:
            self._closed = True
            writer = self._writers.pop(asyncio.get_running_loop(), None)
            if writer is not None:
                writer.cancel()
                await asyncio.wait([writer])
            await self._flush_or_drop()
            atexit.unregister(self._end)
        await close_all((self.states, self.decisions))

    def _log(self, turn: _Turn, decisions: Sequence[Decision]) -> None:
        if not decisions:
            return
        if not all(map(str.isprintable, turn)):
            # No turn of a weaver has such an id, and in a batch it would hold up all others for ever.
            log.warning("the decisions of a turn are not logged, as an id has an unprintable character: %r", turn)
            return
        self._forget_parents()
        kept = tuple(decision.without_message_text() for decision in decisions)
        with self._lock:
            if turn not in self._waiting:
                self._waiting[turn] = _Waiting(kept, time.monotonic())
                self._number += len(kept)
            first = self._make_room()
        if first:
            log.warning(
                "the log of decisions does not answer, and %d of them wait: from now on those that wait for longest "
                "are dropped; see whether its server runs",
                self._most,
            )
        self._start_writing()

    def _make_room(self) -> bool:
        """Drop what waits for longest where there is too much; whether that is the first time."""
        before = self._dropped
        while self._number > self._most and len(self._waiting) > 1:
            self._forget(next(iter(self._waiting)))
            self._dropped += 1
            self.dropped += 1
        return not before and bool(self._dropped)

    def _forget(self, turn: _Turn) -> None:
        gone = self._waiting.pop(turn, None)
        self._number -= len(gone.decisions) if gone is not None else 0

    def _start_writing(self) -> None:
        """Have a task of this loop write what waits; a loop that has ended takes its task with it."""
        loop = asyncio.get_running_loop()
        writer = self._writers.get(loop)
        if writer is None or writer.done():
            for ended in [one for one in list(self._writers) if one.is_closed()]:
                self._writers.pop(ended, None)
            self._writers[loop] = loop.create_task(self._write_later())
            # Also for a program that neither closes what it opened nor ends its loop.
            atexit.register(self._end)

    def _end(self) -> None:
        """At the end of the program: what still waits is written, or the log of the process says what was lost."""
        self._forget_parents()
        if self._waiting:
            asyncio.run(self._flush_or_drop())

    async def _write_later(self) -> None:
        pause = BATCH_SECONDS
        try:
            while self._waiting and not self._closed:
                await asyncio.sleep(pause)
                try:
                    await self._flush()
                    pause = BATCH_SECONDS
                except Exception as error:  # noqa: BLE001 - whatever a log raises, the next try may succeed
                    log.debug("decisions wait, as their log does not answer: %s", error)
                    pause = min(pause * 2, LONGEST_PAUSE) * random.uniform(0.8, 1.2)  # noqa: S311 - not all at once
        except asyncio.CancelledError:
            if not self._closed:  # the loop ends, and with it the last chance to write
                await self._flush_or_drop()
            raise
        finally:
            if not self._waiting:
                atexit.unregister(self._end)

    async def _flush_or_drop(self) -> None:
        try:
            await self._flush()
        except Exception as error:  # noqa: BLE001 - whatever a log raises, closing goes on
            with self._lock:
                lost = len(self._waiting) + self._dropped
                self.dropped += len(self._waiting)
                self._waiting.clear()
                self._number = self._dropped = 0
            log.warning("the decisions of %d turn%s were not logged: %s", lost, "" if lost == 1 else "s", error)

    async def _flush(self) -> None:
        """Write everything that waits now. Twice at once writes some of it twice, which changes nothing in a log."""
        self._forget_parents()
        with self._lock:
            turns = list(self._waiting)
        for start in range(0, len(turns), MOST_WRITTEN):
            await self._write(turns[start : start + MOST_WRITTEN])
        with self._lock:
            dropped, self._dropped = self._dropped, 0
        if dropped:
            log.warning("the decisions of %d turns were dropped while their log did not answer", dropped)

    async def _write(self, turns: Sequence[_Turn]) -> None:
        now = time.monotonic()
        with self._lock:
            found = [(turn, self._waiting[turn]) for turn in turns if turn in self._waiting]
        batch = [TurnDecisions(*turn, one.decisions, now - one.since) for turn, one in found]
        try:
            await self._append(batch)
        except StoreUnavailable as error:
            if error.retry_after is not None:
                raise
            await self._append_what_can_be(batch)
        with self._lock:
            for turn, _ in found:
                self._forget(turn)

    async def _append(self, batch: Sequence[TurnDecisions]) -> None:
        if isinstance(self.decisions, BatchLog):
            await self.decisions.append_all(batch)
        else:
            for one in batch:
                await self.decisions.append(one.conversation, one.turn_id, one.decisions, tenant=one.tenant)

    async def _append_what_can_be(self, batch: Sequence[TurnDecisions]) -> None:
        """One turn after the other, so that one that the log never takes holds up no other; a log that takes none of
        them raises, and everything waits.
        """
        refusals: list[StoreUnavailable] = []
        for tried, one in enumerate(random.sample(batch, len(batch)), 1):
            try:
                await self._append((one,))
            except StoreUnavailable as error:
                refusals.append(error)
                none_taken = len(refusals) == tried and tried in (len(batch), MOST_REFUSED)
                if error.retry_after is not None or none_taken:
                    raise
        if refusals:
            what = "the decisions of %d turns are not logged, as their log does not take them: %s"
            log.warning(what, len(refusals), refusals[0])

    def _forget_parents(self) -> None:
        """A forked child leaves to its parent what waited there."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._lock = Lock()
            self._waiting, self._writers, self._number, self._dropped = {}, {}, 0, 0


def with_log(store: Store, sources: Iterable[object]) -> Store:
    """The store, with the log of decisions of the first source that offers one, where the store would rather have that.

    A store says so by an attribute `decisions_elsewhere` that is true: it holds what is used in every turn, in memory
    perhaps, and a database of skills stands beside it.
    """
    if not getattr(store, "decisions_elsewhere", False):
        return store
    offered = (source.decision_log() for source in sources if isinstance(source, LogOffering))
    found = next((one for one in offered if one is not None), None)
    return store if found is None else SplitStore(store, found)
