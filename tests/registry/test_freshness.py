"""Versions of sources, compared by whoever asks: at most once a second, never for longer than a turn waits."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import MemorySource, Registry, Skill
from skillweave.registry import Agent, Precedence
from skillweave.registry.freshness import COMPARE_SECONDS, LONGEST_PAUSE
from skillweave.registry.source import Loaded
from skillweave.sources.code import InCode
from skillweave_testing import FailingSource, ManualClock

SECONDS = 0.02
"""So long a turn waits in these tests."""


@dataclass
class Followed:
    """A registry over a store that somebody else writes to, with a clock that is moved by hand."""

    clock: ManualClock = field(default_factory=ManualClock)
    store: MemorySource = field(default_factory=MemorySource)

    def __post_init__(self) -> None:
        self.source = FailingSource(self.store, self.clock)
        self.registry = Registry([self.source], clock=self.clock)

    async def begun(self) -> "Followed":
        await self.publish("first")
        await self.registry.refresh()
        self.source.asked.clear()
        return self

    async def publish(self, description: str) -> None:
        await self.store.publish({"id": "alpha", "description": description})

    async def seen(self) -> str:
        """What a turn that begins now sees."""
        await self.registry.catch_up(SECONDS)
        return self.registry.snapshot["alpha"].description

    @property
    def asked(self) -> int:
        return self.source.asked["version"]


async def followed() -> Followed:
    return await Followed().begun()


async def test_a_publish_is_seen_by_the_first_turn_a_second_later() -> None:
    one = await followed()
    await one.publish("second")
    one.clock.advance(0.99)
    assert await one.seen() == "first"
    one.clock.advance(0.01)
    assert await one.seen() == "second"


async def test_versions_are_compared_at_most_once_a_second_however_many_turns_there_are() -> None:
    one = await followed()
    for _ in range(1000):
        one.clock.advance(0.01)
        await one.seen()
    assert one.asked == 10


async def test_where_nobody_asks_no_version_is_compared() -> None:
    one = await followed()
    one.clock.advance(3600)
    assert one.asked == 0
    await one.seen()
    assert one.asked == 1


async def test_simultaneous_turns_share_one_comparison_and_all_see_what_it_finds() -> None:
    one = await followed()
    await one.publish("second")
    one.clock.advance(1)
    assert await asyncio.gather(*(one.seen() for _ in range(50))) == ["second"] * 50
    assert (one.asked, one.source.asked["load"]) == (1, 1)


async def test_an_unchanged_version_loads_nothing_and_keeps_the_snapshot() -> None:
    one = await followed()
    before = one.registry.snapshot
    one.clock.advance(5)
    await one.seen()
    assert (one.source.asked["load"], one.registry.snapshot is before) == (0, True)


async def test_a_changed_agent_is_seen_too() -> None:
    one = await followed()
    await one.store.put_agents([Agent("clerk", skills=("alpha",))])
    one.clock.advance(1)
    await one.seen()
    assert list(one.registry.snapshot.agents) == ["clerk"]


async def test_a_refresh_counts_as_a_comparison() -> None:
    one = await followed()
    one.clock.advance(5)
    await one.registry.refresh()
    one.source.asked.clear()
    one.clock.advance(0.5)
    await one.seen()
    assert one.asked == 0


class WithoutVersion(InCode):
    """A source like a folder: it can only be read as a whole."""

    loads = 0

    async def load(self, previous: Loaded | None = None) -> Loaded:
        self.loads += 1
        return await super().load(previous)


async def test_a_source_without_a_version_is_not_touched() -> None:
    clock, store, folder = ManualClock(), MemorySource(), WithoutVersion(Skill("beta", "Beta", "x"))
    silent_about_it = FailingSource(WithoutVersion(Skill("gamma", "Gamma", "x")), clock)
    await store.publish({"id": "alpha", "description": "x"})
    registry = Registry([folder, store, silent_about_it], clock=clock)
    await registry.refresh()
    await store.publish({"id": "alpha", "description": "y"})
    clock.advance(1)
    assert await registry.catch_up(SECONDS) is None
    assert registry.snapshot["alpha"].description == "y"
    assert (folder.loads, silent_about_it.asked["load"]) == (1, 1)


async def test_before_anything_was_loaded_nothing_is_compared() -> None:
    one = Followed()
    assert await one.registry.catch_up(SECONDS) is None
    assert (one.asked, one.registry.snapshot.generation) == (0, 0)


STEPS = st.lists(st.one_of(st.just("publish"), st.floats(0, 3)), max_size=40)


@given(STEPS)
def test_whenever_a_turn_begins_it_sees_what_was_published_a_second_before_and_asks_once_a_second(
    steps: list[str | float],
) -> None:
    async def play() -> None:
        one = await followed()
        begun, published = one.clock.now, [one.clock.now]
        for step in steps:
            if isinstance(step, str):
                published.append(one.clock.now)
                await one.publish(f"number {len(published)}")
                continue
            one.clock.advance(step)
            old = sum(at <= one.clock.now - COMPARE_SECONDS for at in published)
            seen = await one.seen()
            assert seen in ["first", *(f"number {n + 2}" for n in range(len(published) - 1))][max(0, old - 1) :]
        assert one.asked <= one.clock.now - begun + 1

    asyncio.run(play())


# -- a source that does not answer ------------------------------------------------------------------------------------


async def test_a_source_that_does_not_answer_keeps_its_skills_and_the_very_snapshot_and_says_so() -> None:
    one = await followed()
    before = one.registry.snapshot
    await one.publish("second")
    one.source.down.add("version")
    one.clock.advance(1)
    behind = await one.registry.catch_up(SECONDS)
    assert behind is not None
    assert (behind.code, behind.severity.value) == ("skills-may-be-old", "warning")
    assert "told not to answer version" in behind.message
    assert one.registry.snapshot is before


async def test_it_says_so_until_a_comparison_succeeds() -> None:
    one = await followed()
    one.source.down.add("version")
    one.clock.advance(1)
    first = await one.registry.catch_up(SECONDS)
    assert await one.registry.catch_up(SECONDS) == first
    assert one.asked == 1
    one.source.down.clear()
    await one.publish("second")
    one.clock.advance(1)
    assert await one.registry.catch_up(SECONDS) is None
    assert one.registry.snapshot["alpha"].description == "second"


async def test_a_silent_source_is_waited_for_once_and_the_turn_goes_on() -> None:
    one = await followed()
    one.source.silent.add("version")
    one.clock.advance(1)
    behinds = await asyncio.gather(*(one.registry.catch_up(SECONDS) for _ in range(20)))
    assert {behind.message for behind in behinds if behind} == {
        "the skills may be older than what their sources hold: 'memory' did not say within 0.01 s whether it changed"
    }
    assert (one.asked, all(behinds)) == (1, True)


@pytest.mark.parametrize(("took", "pause"), [(0.0, 1.0), (0.5, 5.0), (2.0, 20.0), (30.0, LONGEST_PAUSE)])
async def test_the_longer_a_failure_took_the_later_the_next_comparison_comes(took: float, pause: float) -> None:
    one = await followed()
    one.source.down.add("version")
    one.source.seconds = took
    one.clock.advance(1)
    await one.seen()
    one.source.seconds = 0.0
    one.clock.advance(pause - 0.01)
    await one.seen()
    assert one.asked == 1
    one.clock.advance(0.02)
    await one.seen()
    assert one.asked == 2


async def test_a_slow_answer_is_no_failure_and_makes_no_later_one_wait() -> None:
    one = await followed()
    one.source.seconds = 0.7
    one.clock.advance(1)
    await one.seen()
    one.clock.advance(0.3)
    await one.seen()
    assert one.asked == 2


async def test_a_source_that_falls_silent_while_it_is_read_is_not_waited_for_again() -> None:
    one = await followed()
    await one.publish("second")
    one.source.silent.add("load")
    one.clock.advance(1)
    behind = await one.registry.catch_up(SECONDS)
    assert behind is not None
    assert "is being read" in behind.message
    one.clock.advance(5)
    await one.registry.catch_up(SECONDS)
    assert (one.asked, one.source.asked["load"], one.registry.snapshot["alpha"].description) == (1, 1, "first")


async def test_a_source_that_cannot_be_read_after_it_said_that_it_changed_is_tried_again() -> None:
    one = await followed()
    before = one.registry.snapshot
    await one.publish("second")
    one.source.down.add("load")
    one.clock.advance(1)
    assert await one.registry.catch_up(SECONDS) is not None
    assert one.registry.snapshot is before
    one.source.down.clear()
    one.clock.advance(1)
    assert await one.seen() == "second"


async def test_one_source_that_is_silent_hides_no_change_of_another() -> None:
    clock, answering = ManualClock(), MemorySource()
    silent = FailingSource(MemorySource(name="other"), clock)
    registry = Registry([silent, answering], clock=clock)
    await registry.refresh()
    silent.silent.add("version")
    await answering.publish({"id": "alpha", "description": "x"})
    clock.advance(1)
    behind = await registry.catch_up(0.4)
    assert behind is not None
    assert "'other'" in behind.message
    assert list(registry.snapshot) == ["alpha"]


async def test_a_source_that_a_refresh_found_away_comes_back_with_the_same_version() -> None:
    one = await followed()
    one.source.down.add("version")
    await one.registry.refresh()
    assert [found.code for found in one.registry.snapshot.diagnostics] == ["source-unavailable"]
    one.source.down.clear()
    one.clock.advance(1)
    await one.seen()
    assert one.registry.snapshot.diagnostics == ()


async def test_a_change_that_clashes_where_no_clash_is_allowed_is_said_and_the_skills_stay() -> None:
    clock, one, other = ManualClock(), MemorySource(name="one"), MemorySource(name="other")
    registry = Registry([one, other], clock=clock, precedence=Precedence.ERROR)
    await one.publish({"id": "alpha", "description": "x"})
    await registry.refresh()
    await other.publish({"id": "alpha", "description": "y"})
    clock.advance(1)
    behind = await registry.catch_up(SECONDS)
    assert behind is not None
    assert "skill 'alpha' comes from" in behind.message
    assert registry.snapshot["alpha"].description == "x"


class Broken(FailingSource):
    """A source with a mistake in its code."""

    async def version(self) -> str | None:
        if self.down:
            raise TypeError("a mistake")
        return await super().version()


async def test_a_mistake_in_the_code_of_a_source_is_told_and_costs_no_turn() -> None:
    clock = ManualClock()
    source = Broken(MemorySource(), clock)
    registry = Registry([source], clock=clock)
    await registry.refresh()
    source.down.add("version")
    clock.advance(1)
    behind = await registry.catch_up(SECONDS)
    assert behind is not None
    assert "TypeError: a mistake" in behind.message


def test_event_loops_that_come_one_after_the_other_each_see_changes() -> None:
    one = Followed()
    asyncio.run(one.begun())
    one.source.silent.add("load")
    asyncio.run(one.publish("second"))
    one.clock.advance(1)
    assert asyncio.run(one.seen()) == "first"
    one.source.silent.clear()
    one.clock.advance(1)
    assert asyncio.run(one.seen()) == "second"
