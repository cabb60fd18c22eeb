"""The port through which somebody is told what happened."""

from collections.abc import Callable, Sequence
from typing import Protocol

from skillweave.events.event import Event


class Observer(Protocol):
    """Is told what happened, after it is stored; an answer is not expected, a failure costs nobody else anything.

    The events of one conversation come in their order, and the next ones only when the last call has ended. A call
    that takes longer than the Weaver's `observer_seconds` is cancelled, so what is slow belongs behind a queue.
    """

    async def observe(self, events: Sequence[Event]) -> None:
        """Take what one step of a conversation brought, one event or several; do not block the event loop."""
        ...


class Callback:
    """An Observer that calls a plain function with each event, on the event loop: it has to be quick."""

    def __init__(self, function: Callable[[Event], object]) -> None:
        self._function = function

    @property
    def name(self) -> str:
        """What messages to people call it: the function's name."""
        return str(getattr(self._function, "__qualname__", self._function))

    async def observe(self, events: Sequence[Event]) -> None:
        """Call the function with each of them."""
        for event in events:
            self._function(event)
