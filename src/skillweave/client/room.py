"""What every group of the client's verbs works with."""

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Protocol, TypeVar
from urllib.parse import quote

from skillweave.api.pages import MOST_LISTED
from skillweave.blocking import M, Verbs
from skillweave.client.sending import Asked, Wire

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Page(Protocol[T_co]):
    """Some entries of a list, and where the next ones begin."""

    @property
    def items(self) -> tuple[T_co, ...]:
        """The entries."""
        ...

    @property
    def next(self) -> str | None:
        """What the next page begins after, None at the end."""
        ...


class Room(Verbs[M]):
    """A group of verbs: `_wire` sends their requests, `_new_id` makes the ids of what they make."""

    _wire: Wire
    _new_id: Callable[[], str]

    async def _entries(
        self, path: str, page: type[Page[T]], query: Mapping[str, object] | None = None
    ) -> AsyncGenerator[T, None]:
        """The entries of all pages, each page asked for when the one before is used up."""
        after: str | None = None
        while True:
            asked = Asked("GET", path, {**(query or {}), "after": after, "limit": MOST_LISTED})
            found = await self._wire.answer(asked, page)
            for one in found.items:
                yield one
            after = found.next
            if after is None:
                return

    def _key(self, key: str | None) -> dict[str, str]:
        """The header by which a request that is sent again is done once, with a new key where none is given."""
        # A header carries ASCII only; keys that differ stay different.
        return {"Idempotency-Key": self._new_id() if key is None else quote(key, safe="!#$&'()*+,/:;=?@[]^`{|}~")}
