import asyncio
from pathlib import Path

import pytest

import skillweave
from skillweave import MemoryStore, Observer, SqliteStore, State, Weaver
from skillweave.errors import Contended
from skillweave.ledger import Writes
from skillweave.state.port import Store
from skillweave.weaver import contention
from skillweave_testing.fakes import WordCounter

_SKILL = {"id": "greet", "description": "d", "triggers": {"keywords": ["hello"]}, "text": {"instructions": "How."}}


def _weaver(store: Store, *observers: Observer) -> Weaver:
    return skillweave.open(dict(_SKILL), ledger=store, counter=WordCounter(), observers=observers)


class _Counting(SqliteStore):
    """A ledger that knows how often somebody tried to store."""

    tries = 0

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        self.tries += 1
        return await super().swap(conversation, expected_revision, writes, tenant=tenant)


async def test_a_hundred_turns_of_one_conversation_at_once_are_all_stored(tmp_path: Path) -> None:
    async with _Counting(tmp_path / "state.db") as store:
        weaver = _weaver(store)
        await weaver.weave("hello", conversation="c")
        await asyncio.gather(*(weaver.weave("what else?", conversation="c") for _ in range(100)))
        assert (await weaver.ledger.state("c")).engaged[0].idle == 100
        assert store.tries <= 300, "who has lost once waits for its place, and does not race on"


class _LosesTwice(MemoryStore):
    """A ledger in which somebody else is faster twice."""

    lost = 0

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        if self.lost < 2:
            self.lost += 1
            return False
        return await super().swap(conversation, expected_revision, writes, tenant=tenant)


async def test_who_has_stored_leaves_the_queue_to_the_next() -> None:
    weaver = _weaver(_LosesTwice())
    first, second = [await weaver.weave("hello", conversation="c", turn_id=f"t{n}") for n in range(2)]
    assert (first.skills, second.skills) == (("greet",), ())
    assert weaver._engine.queues.race("", "c")._queue.locked() is False


class _AlwaysLate(MemoryStore):
    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        return False


async def test_turns_that_wait_behind_one_that_never_wins_all_say_contended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "PATIENCE_SECONDS", 0.05)
    weaver = _weaver(_AlwaysLate())

    turns = [weaver.weave("hello", conversation="c") for _ in range(4)]
    found = await asyncio.gather(*turns, return_exceptions=True)
    assert {type(one) for one in found} == {Contended}


class _BeginsSlowly(_LosesTwice):
    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        if not self.lost:
            await asyncio.sleep(2 * contention.PATIENCE_SECONDS)
        return await super().load(conversation, tenant=tenant)


async def test_a_store_that_takes_long_to_begin_leaves_as_much_time_for_races(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "PATIENCE_SECONDS", 0.5)
    given = await _weaver(_BeginsSlowly()).weave("hello", conversation="c")
    assert given.skills == ("greet",)


class _Evicting:
    """An observer that lets go of what it is told about, while it is told."""

    weaver: Weaver
    evicted: bool | None = None

    async def observe(self, events: object) -> None:
        if self.evicted is None:
            self.evicted = False
            self.evicted = await self.weaver.evict("c", "greet")


async def test_an_observer_may_change_the_conversation_that_it_is_told_about() -> None:
    observer = _Evicting()
    observer.weaver = _weaver(_LosesTwice(), observer)
    await observer.weaver.weave("hello", conversation="c")
    assert observer.evicted is True
