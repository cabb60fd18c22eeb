"""An Observer for tests: it keeps what it is told, and can be made slow or broken."""

import asyncio
from collections.abc import Sequence

from skillweave import Event


class Recorder:
    """Keeps all events in their order, and by step in `batches`; `delay` is in seconds, `failure` is raised each time.

    A step counts as kept once the delay is over.
    """

    def __init__(self, *, delay: float = 0.0, failure: BaseException | None = None, name: str = "recorder") -> None:
        self.delay = delay
        self.failure = failure
        self.name = name
        self.batches: list[tuple[Event, ...]] = []

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that was told, oldest first."""
        return tuple(event for batch in self.batches for event in batch)

    @property
    def types(self) -> list[str]:
        """The types of all events, oldest first."""
        return [event.event_type for event in self.events]

    def of(self, event_type: str) -> list[Event]:
        """The events of that type, oldest first."""
        return [event for event in self.events if event.event_type == event_type]

    async def observe(self, events: Sequence[Event]) -> None:
        """Keep the events, or fail."""
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        self.batches.append(tuple(events))
