"""What a conversation works on, as texts, numbers and lists by name: kept for a day after it was last used (spec 8)."""

import json
from collections.abc import Mapping
from typing import Protocol

from skillweave.checking import Checked
from skillweave.closing import ClosableOnExit
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.frozen import FrozenJson, Json, as_json, freeze_mapping

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


class WorkingMemory(ClosableOnExit, Protocol):
    """Keeps one JSON object per conversation; `tests/contracts_of_ports/working_memory.py` is the contract as tests.

    Reading and writing both keep it for another 24 hours; an object without keys is not kept. All methods raise
    InvalidTurn for a conversation that can be none, and StoreUnavailable when what is asked does not answer.
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


def merged(kept: Mapping[str, object], values: Mapping[str, object]) -> Mapping[str, FrozenJson]:
    """What is kept after `values` were merged into it, sorted by key: what `WorkingMemory.merge` does with them.

    Raises MemoryTooLarge, and InvalidValue for values that are not JSON.
    """
    checked = Checked("merge")
    given = checked.mapping("values", values)
    for key, value in given.items():
        try:
            _text({key: as_json(value)}).encode()
        except (ValueError, RecursionError) as error:
            why = "half of a surrogate pair" if isinstance(error, UnicodeEncodeError) else error
            checked.refuse(f"values[{key[:40]!r}]", value, f"JSON; it holds {why}")
    after = {**kept, **given}
    found = {str(key): as_json(after[key]) for key in sorted(after) if after[key] is not None}
    size = len(_text(found).encode())
    if size > MOST_MEMORY_BYTES:
        raise MemoryTooLarge(size)
    return freeze_mapping(found)


def memory_to_json(memory: Mapping[str, FrozenJson]) -> str:
    """Working memory as the compact JSON text that counts for its limit; it holds no NUL."""
    return _text({key: as_json(value) for key, value in memory.items()})


def memory_from_json(text: str) -> Mapping[str, FrozenJson]:
    """The working memory that `memory_to_json` wrote; raises StoreUnavailable for anything else, naming the remedy."""
    try:
        found = as_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise _unreadable(f"{type(error).__name__}: {error!s:.200}") from error
    if not isinstance(found, dict):
        raise _unreadable("it is no JSON object")
    return freeze_mapping(found)


def _text(data: Mapping[str, Json]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _unreadable(why: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"the working memory of a conversation cannot be read ({why}); remove it with DELETE "
        "/api/v1/memory/CONVERSATION, or correct its row"
    )
