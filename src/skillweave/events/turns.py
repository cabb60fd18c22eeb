"""The event that a turn was decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class TurnDecided(BuiltIn):
    """A turn is stored: how its decisions came out, what it costs, how long it took.

    `revision` is that of the conversation's State, None while the ledger does not answer: it orders the turns of one
    conversation, whichever process ran them. `skills` are those whose text is in the context of the coming call,
    `outcomes` counts decisions, `tokens` has the keys catalog, injected and left, `diagnostics` are codes.
    """

    event_type: ClassVar[str] = "turn.decided"

    revision: int | None
    generation: int
    placement: str
    delivery: str
    skills: tuple[str, ...]
    outcomes: Mapping[str, int] = field(hash=False)
    tokens: Mapping[str, int] = field(hash=False)
    diagnostics: tuple[str, ...]
    duration_ms: float
