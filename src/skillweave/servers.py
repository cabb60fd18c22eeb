"""What a store or a source can say about the server behind it; abilities that none must have, for people who look."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class ServerFacts(Portable):
    """A server: product with version, place without password, seconds of the quickest round trip.

    `clock_ahead` are the seconds by which its clock is ahead of this machine's. `details` are clauses, such as how many
    connections it takes. `revision` is that of its tables, None where there are none; `newest` is the one that this
    version of skillweave works with, None where the server has no tables at all. Newer revisions come later as texts.
    """

    product: str
    place: str
    round_trip: float
    clock_ahead: float
    details: tuple[str, ...] = ()
    revision: str | None = None
    newest: str | None = None

    @property
    def is_ahead(self) -> bool:
        """Whether its tables were made by a newer skillweave, so that this version cannot work with them."""
        return self.revision is not None and self.newest is not None and self.revision > self.newest


@runtime_checkable
class Served(Protocol):
    """What a store or a source has besides when it stands on a server."""

    async def server(self) -> ServerFacts:
        """Ask the server about itself and change nothing, not even its tables; raises StoreUnavailable."""
        ...


@runtime_checkable
class Migrated(Protocol):
    """What a store or a source has besides when its tables come to the form of this version by migrations."""

    async def migrate(self) -> tuple[str | None, str]:
        """Bring the tables up to date, with their data; the revisions before and after. Raises StoreUnavailable."""
        ...


@runtime_checkable
class Durable(Protocol):
    """What a store or a source has besides when it can tell whether a write that it acknowledged may be lost."""

    async def durability(self) -> tuple[Diagnostic, ...]:
        """A finding for each way in which one may be lost, by the configuration as it is; raises StoreUnavailable."""
        ...
