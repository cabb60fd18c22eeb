"""The contract of working memory as tests: a backend is what passes them."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any, cast
from uuid import uuid4

import pytest

from skillweave.errors import InvalidTurn, InvalidValue
from skillweave.frozen import as_json
from skillweave.state.working_memory import (
    KEEP_MEMORY_SECONDS,
    MOST_MEMORY_BYTES,
    MemoryTooLarge,
    WorkingMemory,
)
from skillweave_testing.fakes import ManualClock

VALUES: Mapping[str, Any] = {
    "well": "Ä-7",
    "depth_m": 1e23,
    "count": 7,
    "share": 1.0,
    "open": True,
    "large": 2**70,
    "": "no name",
    "lines": [1, [2.5, {"a": None}], ""],
    "nested": {"z": {"deep": []}, "a": None},
    "text": "a\0b \u2028 \\u0000 \"quoted\" 'single' 😀\n",
    "__proto__": {},
}
"""Everything that JSON has."""
HOSTILE_IDS = (
    "a:b",
    "{a}",
    "%",
    "a/b",
    "a\\b",
    "'; DROP TABLE working_memory; --",
    "Ω≈ç√",
    "*",
    "a" * 500,
    " ",
    "NULL",
)


@pytest.mark.asyncio
class WorkingMemoryContract:
    """Inherit, and give a fixture `memory` that makes a store on the fixture `clock`.

    The store may hold other conversations: each test has one of its own. A store that cannot be told the time, such as
    one on a server's clock, overrides `let_pass`.
    """

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock that the store must go by."""
        return ManualClock()

    @pytest.fixture
    def memory(self, clock: ManualClock) -> WorkingMemory:
        """The store under test."""
        raise NotImplementedError("a subclass gives the store")

    @pytest.fixture
    def conversation(self) -> str:
        """The id of a new conversation."""
        return f"contract-{uuid4().hex}"

    async def let_pass(self, memory: WorkingMemory, clock: ManualClock, seconds: float) -> None:
        """Let the store's time go on by so many seconds."""
        clock.advance(seconds)

    async def test_an_unknown_conversation_has_nothing(self, memory: WorkingMemory, conversation: str) -> None:
        assert await memory.read(conversation) == {}
        assert not await memory.forget(conversation)

    async def test_what_is_merged_comes_back_equal_and_sorted_by_key(
        self, memory: WorkingMemory, conversation: str
    ) -> None:
        merged = await memory.merge(conversation, VALUES)
        read = await memory.read(conversation)
        for found in (merged, read):
            assert as_json(found) == VALUES
            assert list(found) == sorted(VALUES)
            assert [type(found[key]) for key in ("share", "count", "large", "open")] == [float, int, int, bool]

    async def test_the_order_of_keys_inside_a_value_stays(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"nested": {"z": 1, "a": 2}})
        found = as_json((await memory.read(conversation))["nested"])
        assert json.dumps(found) == '{"z": 1, "a": 2}'

    async def test_keys_that_are_not_named_stay(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1, "b": 2})
        assert await memory.merge(conversation, {"b": 3, "c": 4}) == {"a": 1, "b": 3, "c": 4}
        assert await memory.read(conversation) == {"a": 1, "b": 3, "c": 4}

    async def test_a_value_takes_the_place_of_the_earlier_one_as_a_whole(
        self, memory: WorkingMemory, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": {"x": 1, "y": 2}})
        assert await memory.merge(conversation, {"a": {"x": None}}) == {"a": {"x": None}}

    async def test_none_removes_a_key_and_also_one_that_is_not_there(
        self, memory: WorkingMemory, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": 1, "b": 2})
        assert await memory.merge(conversation, {"a": None, "z": None}) == {"b": 2}
        assert await memory.read(conversation) == {"b": 2}

    async def test_a_memory_without_keys_is_not_kept(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1})
        assert await memory.merge(conversation, {"a": None}) == {}
        assert not await memory.forget(conversation)
        assert await memory.merge(conversation, {}) == {}
        assert not await memory.forget(conversation)

    async def test_merging_nothing_answers_what_is_kept(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1})
        assert await memory.merge(conversation, {}) == {"a": 1}

    async def test_what_is_forgotten_is_gone(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1})
        assert await memory.forget(conversation)
        assert await memory.read(conversation) == {}
        assert not await memory.forget(conversation)
        assert await memory.merge(conversation, {"b": 2}) == {"b": 2}

    async def test_it_is_kept_for_a_day(self, memory: WorkingMemory, clock: ManualClock, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS - 60)
        assert await memory.read(conversation) == {"a": 1}

    async def test_it_is_gone_after_a_day_without_use(
        self, memory: WorkingMemory, clock: ManualClock, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS + 60)
        assert await memory.read(conversation) == {}

    async def test_what_is_gone_is_not_forgotten_once_more(
        self, memory: WorkingMemory, clock: ManualClock, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS + 60)
        assert not await memory.forget(conversation)

    async def test_what_is_merged_after_its_time_is_not_added_to_what_was_there(
        self, memory: WorkingMemory, clock: ManualClock, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS + 60)
        assert await memory.merge(conversation, {"b": 2}) == {"b": 2}
        assert await memory.read(conversation) == {"b": 2}

    async def test_reading_keeps_it_for_another_day(
        self, memory: WorkingMemory, clock: ManualClock, conversation: str
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS - 60)
        await memory.read(conversation)
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS - 60)
        assert await memory.read(conversation) == {"a": 1}

    @pytest.mark.parametrize("values", [{"b": 2}, {}], ids=["a key", "nothing"])
    async def test_merging_keeps_it_for_another_day(
        self, memory: WorkingMemory, clock: ManualClock, conversation: str, values: Mapping[str, object]
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS - 60)
        await memory.merge(conversation, values)
        await self.let_pass(memory, clock, KEEP_MEMORY_SECONDS - 60)
        assert await memory.read(conversation) == {"a": 1, **values}

    @pytest.mark.parametrize("letter", ["x", "ä", "😀", '"'], ids=ascii)
    async def test_64_kib_of_utf_8_are_kept_and_a_byte_more_is_refused(
        self, memory: WorkingMemory, conversation: str, letter: str
    ) -> None:
        room = MOST_MEMORY_BYTES - len('{"a":""}')
        each = len(json.dumps(letter, ensure_ascii=False).encode()) - 2
        full = letter * (room // each) + "x" * (room % each)
        await memory.merge(conversation, {"a": full})
        assert await memory.read(conversation) == {"a": full}
        with pytest.raises(MemoryTooLarge) as refused:
            await memory.merge(conversation, {"a": f"{full}x"})
        assert refused.value.size == MOST_MEMORY_BYTES + 1
        assert await memory.read(conversation) == {"a": full}

    async def test_the_limit_is_that_of_all_keys_together(self, memory: WorkingMemory, conversation: str) -> None:
        half = "x" * (MOST_MEMORY_BYTES // 2)
        await memory.merge(conversation, {"a": half})
        with pytest.raises(MemoryTooLarge):
            await memory.merge(conversation, {"b": half})
        assert await memory.read(conversation) == {"a": half}
        assert await memory.merge(conversation, {"a": None, "b": half}) == {"b": half}

    @pytest.mark.parametrize(
        "values",
        [{"b": float("nan")}, {"b": object()}, {"b": {7: 1}}, {7: 1}, {"b": "\ud800"}, {"\ud800": 1}, ["b"], "b"],
        ids=["NaN", "object", "key inside", "key", "half of a pair", "half of a pair as key", "list", "text"],
    )
    async def test_what_is_not_json_is_refused_and_nothing_changes(
        self, memory: WorkingMemory, conversation: str, values: object
    ) -> None:
        await memory.merge(conversation, {"a": 1})
        with pytest.raises(InvalidValue, match=r"^merge\(values"):
            await memory.merge(conversation, cast("Mapping[str, object]", values))
        assert await memory.read(conversation) == {"a": 1}

    async def test_a_refused_merge_of_a_new_conversation_leaves_nothing(
        self, memory: WorkingMemory, conversation: str
    ) -> None:
        with pytest.raises(InvalidValue):
            await memory.merge(conversation, {"a": 1, "b": object()})
        assert await memory.read(conversation) == {}
        assert not await memory.forget(conversation)

    async def test_of_merges_at_once_none_is_lost(self, memory: WorkingMemory, conversation: str) -> None:
        await asyncio.gather(*(memory.merge(conversation, {f"k{number:02}": number}) for number in range(24)))
        assert await memory.read(conversation) == {f"k{number:02}": number for number in range(24)}

    @pytest.mark.parametrize("hostile", HOSTILE_IDS, ids=lambda text: text[:40])
    async def test_any_conversation_is_kept_apart_from_all_others(self, memory: WorkingMemory, hostile: str) -> None:
        tenant = f"tenant-{uuid4().hex}"
        others = [other for other in HOSTILE_IDS if other != hostile]
        for other in others:
            await memory.merge(other, {"is": other}, tenant=tenant)
        assert await memory.read(hostile, tenant=tenant) == {}
        await memory.merge(hostile, {"is": hostile}, tenant=tenant)
        assert await memory.forget(hostile, tenant=tenant)
        for other in others:
            assert await memory.read(other, tenant=tenant) == {"is": other}

    async def test_tenants_have_memories_of_their_own(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1})
        assert await memory.read(conversation, tenant="acme") == {}
        assert not await memory.forget(conversation, tenant="acme")
        assert await memory.merge(conversation, {"b": 2}, tenant="acme") == {"b": 2}
        assert await memory.forget(conversation, tenant="acme")
        assert await memory.read(conversation) == {"a": 1}

    async def test_the_default_tenant_has_two_names(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": 1}, tenant="default")
        assert await memory.read(conversation) == {"a": 1}
        assert await memory.forget(conversation, tenant="default")

    @pytest.mark.parametrize("tenant", ["a\0b", "a" * 10_000, "\ud800"], ids=["NUL", "long", "half of a pair"])
    async def test_an_impossible_tenant_is_refused(self, memory: WorkingMemory, conversation: str, tenant: str) -> None:
        for asked in (memory.read, memory.forget):
            with pytest.raises(InvalidValue, match="tenant"):
                await asked(conversation, tenant=tenant)
        with pytest.raises(InvalidValue, match="tenant"):
            await memory.merge(conversation, {"a": 1}, tenant=tenant)

    @pytest.mark.parametrize("impossible", ["", "a\0b", "\ud800", "a" * 501], ids=["empty", "NUL", "half", "long"])
    async def test_what_can_be_no_conversation_is_refused(self, memory: WorkingMemory, impossible: str) -> None:
        for asked in (memory.read, memory.forget):
            with pytest.raises(InvalidTurn, match="conversation"):
                await asked(impossible)
        with pytest.raises(InvalidTurn, match="conversation"):
            await memory.merge(impossible, {"a": 1})

    async def test_what_is_read_cannot_be_changed(self, memory: WorkingMemory, conversation: str) -> None:
        await memory.merge(conversation, {"a": [1]})
        found = cast("dict[str, object]", await memory.read(conversation))
        with pytest.raises(TypeError):
            found["a"] = 2

    async def test_closing_twice_does_nothing(self, memory: WorkingMemory) -> None:
        await memory.close()
        await memory.close()
