"""What a conversation works on, as texts, numbers and lists by name: kept for a day after it was last used (spec 8)."""

from collections.abc import Mapping
from types import TracebackType
from typing import Protocol, Self

from skillweave.errors import SkillweaveError
from skillweave.frozen import FrozenJson

KEEP_MEMORY_SECONDS = 24 * 3600.0
"""Seconds that working memory is kept after its last use; reading it is a use."""
MOST_MEMORY_BYTES = 64 * 1024
"""Bytes that the working memory of one conversation may have, as compact JSON in UTF-8."""


class MemoryTooLarge(SkillweaveError, ValueError):
    """Working memory that would grow over its limit; what was there before stays as it was."""

    def __init__(self, size: int) -> None:
        self.size = size
        super().__init__(
            f"the working memory of a conversation has at most {MOST_MEMORY_BYTES:,} bytes as JSON, and this would "
            f"make it {size:,}; remove keys by giving null for them, or keep large texts elsewhere"
        )


class WorkingMemory(Protocol):
    """Keeps one JSON object per conversation; `skillweave.testing.WorkingMemoryContract` is the contract as tests.

    Reading and writing both keep it for another 24 hours. All methods raise StoreUnavailable when what is asked does
    not answer.
    """

    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        """All keys, sorted, with their values; empty where nothing is kept."""
        ...

    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        """Set these keys in one step, and remove those whose value is None; what is kept afterwards.

        Keys that are not named stay as they are; a value takes the place of the earlier one as a whole. Raises
        MemoryTooLarge, and InvalidValue for what is not JSON: then nothing changes.
        """
        ...

    async def forget(self, conversation: str, *, tenant: str = "") -> bool:
        """Remove everything; False where nothing was kept."""
        ...

    async def close(self) -> None:
        """Give back connections; a second call does nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
