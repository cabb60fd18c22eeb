"""The port of what the exchange puts into requests, kept beside the States so that any process puts it back."""

from collections.abc import Collection, Mapping
from typing import Protocol

KEEP_ENTRIES_SECONDS = 30 * 24 * 3600.0
"""What was not used for thirty days is forgotten, as a conversation is."""
TOUCH_ENTRIES_SECONDS = 24 * 3600.0
"""What is found is noted as used, at most once in so many seconds."""


class Insertions(Protocol):
    """Keeps entries by scope and key. It is what passes `skillweave_testing.InsertionsContract`.

    Both methods raise StoreUnavailable when the store does not answer. An entry that nobody found or kept for
    KEEP_ENTRIES_SECONDS may be forgotten; one that is found is there for as long again.
    """

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """The entries of these keys that there are."""
        ...

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """Keep these entries, each in place of the one that is there: all of them or none."""
        ...
