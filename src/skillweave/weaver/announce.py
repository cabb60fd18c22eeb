"""When who is told what: the Weaver's events at the moments at which they happen.

Without an observer no event is made, and no clock is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from skillweave.diagnostics import Diagnostic
from skillweave.weaver.observers import NOBODY, Observers, Telling

if TYPE_CHECKING:
    from skillweave.compose.verdict import Verdict
    from skillweave.events.cause import Cause
    from skillweave.events.event import Event
    from skillweave.injection import CurrentPolicy, Injection
    from skillweave.registry import Snapshot
    from skillweave.state.state import Delivery, State

LONGEST_NAME = 200
"""Characters of a tool's name, or of a call's, in an event; models make these names, and they can be anything."""


@dataclass(frozen=True, slots=True)
class Announcer:
    """Makes the events and hands them to the observers; `new_id` names what happens without a trace in any State."""

    observers: Observers
    new_id: Callable[[], str]
    clock: Callable[[], float] = perf_counter

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return bool(self.observers.listening)

    def begun(self) -> float:
        """The clock's time in seconds, to be handed to `turn_decided`; 0 when nobody listens."""
        return self.clock() if self.heard else 0.0

    def turn_decided(
        self,
        injection: "Injection",
        snapshot: "Snapshot",
        states: "tuple[State, State]",
        *,
        stored: bool,
        delivery: "Delivery",
        begun: float,
    ) -> Telling:
        """Begin to tell what a turn did; `states` are those before and after it, `stored` whether a ledger has them."""
        if not self.heard:
            return NOBODY
        from skillweave.weaver.turn_events import DecidedTurn, turn_events

        before, after = states
        revision = None if not stored else before.revision if before == after else before.revision + 1
        duration = (self.clock() - begun) * 1000
        decided = DecidedTurn(injection, snapshot, before, after, revision, delivery, duration)
        return self.observers.tell(injection.conversation, turn_events(decided))

    async def state_changed(
        self, conversation: str, turn_id: str | None, states: "tuple[State, State]", cause: "Cause"
    ) -> None:
        """Tell what people decided and which texts count as given no longer; what an observer cannot take is logged."""
        if not self.heard:
            return
        from skillweave.weaver.state_events import change_events

        await self.observers.tell(conversation, change_events(conversation, turn_id, *states, cause)).ended()

    async def tool_blocked(
        self, injection: "Injection | CurrentPolicy", verdict: "Verdict", call_id: str | None
    ) -> None:
        """Tell that a call was denied."""
        if not self.heard:
            return
        from skillweave.events.event import event_id, event_of
        from skillweave.events.tools import ToolBlocked

        policy = injection.tools
        payload = ToolBlocked(
            tool=verdict.tool[:LONGEST_NAME],
            code="" if verdict.code is None else verdict.code.value,
            allowed=policy.grant if policy.allowed_tools is None else policy.allowed_tools,
            forbidden=policy.forbidden_tools,
            call_id=None if call_id is None else call_id[:LONGEST_NAME],
        )
        where, turn_id = injection.conversation, injection.turn_id
        made = self.new_id() if call_id is None else event_id(where, turn_id, payload.event_type, payload.tool, call_id)
        await self.tell(event_of(payload, id=made, conversation=where, turn_id=turn_id))

    async def tell(self, event: "Event") -> tuple[Diagnostic, ...]:
        """Tell one event, and wait until everybody has it or its time is over."""
        return await self.observers.tell(event.conversation, (event,)).ended()
