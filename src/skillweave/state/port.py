"""The ports of the ledger: where States are kept, and beside it the log of decisions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillweave.codec import Portable
from skillweave.decisions import Decision
from skillweave.state.state import State

KEEP_DECISIONS_SECONDS = 30 * 24 * 3600.0
"""Decisions are kept for thirty days (spec 5.5)."""


class Ledger(Protocol):
    """Keeps one State per conversation. A backend is what passes `skillweave.testing.ledger.LedgerContract`.

    Both methods raise StoreUnavailable when the store does not answer.
    """

    async def load(self, conversation: str) -> tuple[State, float]:
        """The State, empty with revision 0 when there is none, and the store's clock in seconds."""
        ...

    async def swap(self, conversation: str, expected_revision: int, state: State) -> bool:
        """Store the State as revision `expected_revision + 1` if that revision is still the newest; False if not."""
        ...


@dataclass(frozen=True, slots=True)
class Logged(Portable):
    """A kept decision: the turn it belongs to and when it was made, in seconds of the store's clock."""

    turn_id: str
    at: float
    decision: Decision


class DecisionLog(Protocol):
    """Keeps decisions for `why`, without any message text."""

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision]) -> None:
        """Keep a turn's decisions, each `without_message_text()`; the same turn again changes nothing."""
        ...

    async def read(self, conversation: str) -> tuple[Logged, ...]:
        """The kept decisions of a conversation, oldest first."""
        ...


class Store(Ledger, DecisionLog, Protocol):
    """A backend that keeps both."""


@runtime_checkable
class ConversationIndex(Protocol):
    """What a backend may tell beside, for people who look: which conversations it keeps."""

    async def count(self) -> int:
        """How many conversations there are."""
        ...

    async def conversations(self, prefix: str = "", limit: int = 1000) -> tuple[str, ...]:
        """At most `limit` ids that begin so, in their order."""
        ...
