"""Refreshes that happen at once, and sources that say when nothing changed."""

import asyncio
from contextlib import aclosing

import pytest

from skillweave import Registry, Skill
from skillweave.errors import CannotWatch, SourceUnavailable
from skillweave.registry import Loaded


class Counting:
    """A source that counts its loads; each of them takes until `gate` is open."""

    name = "counting"

    def __init__(self) -> None:
        self.loads = 0
        self.skills: tuple[Skill, ...] = (Skill("a", "A", "x"),)
        self.failure: Exception | None = None
        self.begun = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def load(self, previous: Loaded | None) -> Loaded:
        self.loads += 1
        skills = self.skills
        self.begun.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return Loaded(skills)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        raise AssertionError


class Telling(Counting):
    """One that says its version: a number that the test raises."""

    def __init__(self) -> None:
        super().__init__()
        self.number: int | None = 1
        self.away = False

    async def version(self) -> str | None:
        if self.away:
            raise SourceUnavailable("the table is away")
        return None if self.number is None else str(self.number)

    def give(self, *ids: str) -> None:
        self.skills = tuple(Skill(skill_id, skill_id, "x") for skill_id in ids)
        self.number = (self.number or 0) + 1


async def test_twenty_refreshes_at_once_load_once() -> None:
    source = Counting()
    registry = Registry([source])
    changes = await asyncio.gather(*(registry.refresh() for _ in range(20)))
    assert source.loads == 1
    assert {change.added for change in changes} == {("a",)}


async def test_a_refresh_during_another_sees_what_changed_meanwhile() -> None:
    source = Counting()
    registry = Registry([source])
    source.gate.clear()
    first = asyncio.create_task(registry.refresh())
    await source.begun.wait()
    source.skills = (Skill("b", "B", "x"),)
    later = [asyncio.create_task(registry.refresh()) for _ in range(10)]
    await asyncio.sleep(0)
    source.gate.set()
    assert (await first).added == ("a",)
    assert {(await one).added for one in later} == {("b",)}
    assert (source.loads, list(registry.snapshot)) == (2, ["b"])


async def test_who_gives_up_does_not_end_the_refresh_of_others() -> None:
    source = Counting()
    registry = Registry([source])
    source.gate.clear()
    first, second = (asyncio.create_task(registry.refresh()) for _ in range(2))
    await source.begun.wait()
    first.cancel()
    source.gate.set()
    assert (await second).added == ("a",)
    assert first.cancelled()


async def test_an_error_is_raised_to_all_who_share_the_run_and_the_next_run_is_a_new_one() -> None:
    source = Counting()
    source.failure = SourceUnavailable("away")
    registry = Registry([source])
    results = await asyncio.gather(*(registry.refresh() for _ in range(5)), return_exceptions=True)
    assert [type(result) for result in results] == [SourceUnavailable] * 5
    source.failure = None
    assert (await registry.refresh()).added == ("a",)


def test_event_loops_one_after_the_other_each_get_an_answer() -> None:
    async def read() -> int:
        return len(registry.snapshot) + bool(await registry.refresh())

    class Still:
        name = "still"

        async def load(self, previous: Loaded | None) -> Loaded:
            return Loaded((Skill("a", "A", "x"),))

        async def read(self, skill: Skill, artifact: str) -> bytes:
            raise AssertionError

    registry = Registry([Still()])
    assert [asyncio.run(read()) for _ in range(3)] == [1, 1, 1]


async def test_a_source_with_the_same_version_is_not_loaded_again() -> None:
    source = Telling()
    registry = Registry([source])
    for _ in range(3):
        await registry.refresh()
    assert source.loads == 1
    source.give("a", "b")
    assert (await registry.refresh()).added == ("b",)
    assert source.loads == 2


async def test_a_source_that_cannot_tell_its_version_is_loaded() -> None:
    source = Telling()
    source.number = None
    registry = Registry([source])
    await registry.refresh()
    await registry.refresh()
    assert source.loads == 2


async def test_a_source_that_comes_back_with_its_version_is_well_again() -> None:
    source = Telling()
    registry = Registry([source])
    await registry.refresh()
    source.away = True
    await registry.refresh()
    assert [finding.code for finding in registry.snapshot.diagnostics] == ["source-unavailable"]
    source.away = False
    await registry.refresh()
    assert (registry.snapshot.diagnostics, list(registry.snapshot)) == ((), ["a"])


async def test_another_version_is_followed_without_files() -> None:
    source = Telling()
    async with aclosing(Registry([source]).watch(poll_seconds=0.01)) as changes:
        assert (await anext(changes)).added == ("a",)
        source.give("a", "b")
        assert (await asyncio.wait_for(anext(changes), 20)).added == ("b",)
        source.away = True
        assert not (await asyncio.wait_for(anext(changes), 20)).removed
        source.away = False
        source.give("b")
        assert (await asyncio.wait_for(anext(changes), 20)).removed == ("a",)


async def test_a_source_that_can_say_nothing_cannot_be_followed() -> None:
    source = Telling()
    source.number = None
    with pytest.raises(CannotWatch, match="whether it changed"):
        await anext(Registry([source]).watch())


@pytest.mark.parametrize("seconds", [0.0, -1.0, 3601.0, float("nan")])
def test_the_time_between_two_questions_is_bounded(seconds: float) -> None:
    class Table:
        name = "table"

        async def version(self) -> str:
            return ""

        async def load(self, previous: Loaded | None) -> Loaded:
            return Loaded()

        async def read(self, skill: Skill, artifact: str) -> bytes:
            raise AssertionError

    with pytest.raises(ValueError, match="poll_seconds"):
        Registry([Table()]).watch(poll_seconds=seconds)


async def test_closing_a_registry_closes_the_sources_that_can_be_closed() -> None:
    class Connected(Counting):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    source = Connected()
    async with Registry([Counting(), source]) as registry:
        await registry.refresh()
    assert (source.closed, list(registry.snapshot)) == (1, ["a"])
