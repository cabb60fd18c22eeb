"""The port of a store: it keeps the State of each conversation, the decisions about it, and the index of them all.

Every method takes a `tenant`: conversations of two tenants have nothing to do with each other, also when they have
the same id. The default tenant is the empty text, and `default` means the same: `skillweave.tenants.tenant_of` reads a
tenant so in every store, and raises InvalidValue for what cannot be the name of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from skillweave.closing import ClosableOnExit
from skillweave.codec import Portable
from skillweave.decisions import Decision
from skillweave.state.state import State, Writes

KEEP_DECISIONS_SECONDS = 30 * 24 * 3600.0
"""Decisions are kept for thirty days (spec 5.5)."""


@dataclass(frozen=True, slots=True)
class Logged(Portable):
    """A kept decision: the turn it belongs to and when it was made, in seconds of the store's clock."""

    turn_id: str
    at: float
    decision: Decision


class TurnDecisions(NamedTuple):
    """The decisions of one turn on their way into a log, made `age` seconds ago."""

    tenant: str
    conversation: str
    turn_id: str
    decisions: tuple[Decision, ...]
    age: float = 0.0


class Ledger(Protocol):
    """Keeps one State per conversation, and changes it by compare-and-swap.

    All methods raise StoreUnavailable when the store does not answer.
    """

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The State, empty with revision 0 when there is none, and the store's clock in seconds."""
        ...

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store a turn's writes, the State as revision `expected_revision + 1`, if that revision is still the newest.

        False if it is not: then nothing of the writes is stored. Decisions of a turn that has some already are left
        out, so that a turn that is repeated is logged once.
        """
        ...


class DecisionLog(Protocol):
    """Keeps decisions for `why`, for thirty days and without any message text."""

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep the decisions of a turn that does not change the State, each `without_message_text()`.

        The same turn again changes nothing.
        """
        ...

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """The kept decisions of a conversation, oldest first; none that is older than thirty days."""
        ...


class ConversationIndex(Protocol):
    """Says which conversations are kept, for people who look."""

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in the order of their characters.

        The last id of one answer is the `after` of the next one.
        """
        ...

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations there are."""
        ...


class Store(Ledger, DecisionLog, ConversationIndex, ClosableOnExit, Protocol):
    """A backend, which does all three. It is what passes `skillweave_testing.ledger.LedgerContract`."""

    @property
    def keeps_events(self) -> bool:
        """Whether a swap puts the events of `Writes` into an EventStream, with the State or not at all.

        Otherwise it leaves them out. Observers are told in both cases, by the caller.
        """
        ...

    async def close(self) -> None:
        """Give back connections, files and threads; a second call does nothing.

        A store that needed them raises StoreUnavailable afterwards. `async with store:` closes it at the end.
        """
        ...
