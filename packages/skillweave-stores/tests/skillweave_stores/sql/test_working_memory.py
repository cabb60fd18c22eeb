"""Working memory in a database of each kind: the contract, and what is particular to a database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio
from hypothesis import given, settings
from tests.skillweave_stores.sql.conftest import ByHand
from tests.skillweave_stores.sql.test_skills_faults import when

from skillweave import StoreUnavailable
from skillweave.frozen import as_json
from skillweave.state.working_memory import KEEP_MEMORY_SECONDS, MemoryTooLarge
from skillweave_stores.sql import working_memory
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.working_memory import SqlWorkingMemory
from skillweave_testing import ManualClock
from tests.contracts_of_ports.working_memory import WorkingMemoryContract
from tests.proxy import Proxy
from tests.strategies import json_mappings

DAY = KEEP_MEMORY_SECONDS


class TestSqlWorkingMemory(WorkingMemoryContract):
    @pytest_asyncio.fixture
    async def memory(self, shared_url: str, clock: ManualClock) -> AsyncIterator[SqlWorkingMemory]:
        async with SqlWorkingMemory(shared_url, clock=clock) as memory:
            yield memory


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest_asyncio.fixture
async def memory(url: str, clock: ManualClock) -> AsyncIterator[SqlWorkingMemory]:
    async with SqlWorkingMemory(url, clock=clock) as memory:
        yield memory


async def test_any_json_comes_back_equal(url: str) -> None:
    async with SqlWorkingMemory(url) as memory:
        for number, values in enumerate(_some_mappings()):
            kept = {key: value for key, value in values.items() if value is not None}
            assert as_json(await memory.merge(f"c{number}", values)) == kept
            assert as_json(await memory.read(f"c{number}")) == kept


def _some_mappings() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []

    @settings(max_examples=10, database=None)
    @given(json_mappings.filter(lambda one: not _broken(one)))
    def collect(values: object) -> None:
        found.append(cast("dict[str, object]", as_json(values)))

    collect()
    return found


def _broken(values: object) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in str(values))


async def test_without_a_clock_it_goes_by_the_databases_own(url: str, by_hand: ByHand) -> None:
    async with SqlWorkingMemory(url) as memory:
        await memory.merge("c", {"a": 1})
        assert await memory.read("c") == {"a": 1}
        by_hand(f"UPDATE working_memory SET until = until - {DAY + 61}")
        assert await memory.read("c") == {}


async def test_reading_writes_once_a_minute_at_most(
    memory: SqlWorkingMemory, clock: ManualClock, statements: list[str]
) -> None:
    await memory.merge("c", {"a": 1})
    clock.advance(59)
    statements.clear()
    await memory.read("c")
    assert not [one for one in statements if "UPDATE" in one]
    clock.advance(2)
    await memory.read("c")
    await memory.read("c")
    assert len([one for one in statements if "UPDATE" in one]) == 1


async def test_what_was_written_before_a_clock_was_put_back_is_kept_for_a_day_from_then(
    memory: SqlWorkingMemory, clock: ManualClock
) -> None:
    clock.advance(100 * DAY)
    await memory.merge("c", {"a": 1})
    clock.advance(-100 * DAY)
    assert await memory.read("c") == {"a": 1}
    clock.advance(2 * DAY)
    assert await memory.read("c") == {}


async def test_what_is_over_is_removed_now_and_then_and_nothing_else(
    memory: SqlWorkingMemory, clock: ManualClock, by_hand: ByHand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_memory, "SWEEP_CHANCE", 0.0)
    for number in range(6):
        await memory.merge(f"old{number}", {"a": 1}, tenant="acme" if number % 2 else "")
    clock.advance(DAY)
    await memory.merge("young", {"a": 1})
    clock.advance(61)
    await memory.merge("new", {"a": 1})
    assert by_hand("SELECT count(*) FROM working_memory") == [(8,)]
    monkeypatch.setattr(working_memory, "SWEEP_CHANCE", 1.0)
    monkeypatch.setattr(working_memory, "MOST_SWEPT", 4)
    await memory.merge("new", {"b": 1})
    assert by_hand("SELECT count(*) FROM working_memory") == [(4,)]
    await memory.merge("new", {"c": 1})
    assert by_hand("SELECT conversation FROM working_memory ORDER BY 1") == [("new",), ("young",)]


async def test_sweeping_is_rare() -> None:
    assert 0 < working_memory.SWEEP_CHANCE <= 0.1


async def test_two_stores_that_merge_into_one_conversation_lose_nothing(url: str) -> None:
    async with SqlWorkingMemory(url) as ours, SqlWorkingMemory(url) as theirs:
        await asyncio.gather(*((ours, theirs)[n % 2].merge("c", {f"k{n}": n}) for n in range(40)))
        assert await ours.read("c") == await theirs.read("c") == {f"k{n}": n for n in range(40)}


async def test_stores_that_sweep_and_merge_at_once_do_not_wait_in_a_circle(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(working_memory, "SWEEP_CHANCE", 1.0)
    later = ManualClock(DAY * 3)
    async with SqlWorkingMemory(url, clock=ManualClock(0)) as ours, SqlWorkingMemory(url, clock=later) as theirs:
        await asyncio.gather(*((ours, theirs)[n % 2].merge(f"c{n % 5}", {f"k{n}": n}) for n in range(40)))
        assert await theirs.merge("last", {"a": 1}) == {"a": 1}


async def test_a_refused_merge_leaves_the_transaction_undone(memory: SqlWorkingMemory, by_hand: ByHand) -> None:
    with pytest.raises(MemoryTooLarge):
        await memory.merge("c", {"a": "x" * 70_000})
    assert by_hand("SELECT count(*) FROM working_memory") == [(0,)]


@pytest.mark.parametrize("document", ["", "[]", "{", '{"a": NaN}', "[" * 100_000], ids=lambda text: text[:10])
async def test_a_damaged_row_is_named_and_can_be_removed(
    memory: SqlWorkingMemory, by_hand: ByHand, document: str
) -> None:
    await memory.merge("c", {"a": 1})
    by_hand("UPDATE working_memory SET document = :document", document=document)
    with pytest.raises(StoreUnavailable, match=r"working memory of a conversation cannot be read .*remove it"):
        await memory.read("c")
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        await memory.merge("c", {"b": 1})
    assert await memory.forget("c")
    assert await memory.merge("c", {"b": 1}) == {"b": 1}


async def test_a_file_that_is_not_there_has_nothing_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    async with SqlWorkingMemory(f"sqlite:///{path}") as memory:
        assert await memory.read("c") == {}
        assert not await memory.forget("c")
        assert not path.exists()
        await memory.merge("c", {"a": 1})
    assert path.exists()


async def test_a_database_that_is_shared_stays_open(url: str) -> None:
    database = Database(url)
    async with SqlWorkingMemory(database) as memory:
        await memory.merge("c", {"a": 1})
    async with SqlWorkingMemory(database) as memory:
        assert await memory.read("c") == {"a": 1}
    await database.close()


async def test_a_forgetting_whose_answer_was_lost_says_that_it_forgot(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlWorkingMemory(proxy.url) as memory:
        await memory.merge("c", {"a": 1})
        cuts: list[object] = []

        def cut(*_: object) -> None:
            if not cuts:
                cuts.append(True)
                proxy.lose_answer()

        with when("commit", cut):
            assert await memory.forget("c")
        assert cuts
        assert await memory.read("c") == {}
