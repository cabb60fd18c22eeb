import pytest

from skillweave import MemorySource, Skill
from skillweave_testing import ManualClock, WritableSourceContract


class TestMemorySource(WritableSourceContract):
    @pytest.fixture
    def source(self) -> MemorySource:
        return MemorySource()


async def test_a_version_tells_when_it_was_published() -> None:
    clock = ManualClock(100.0)
    source = MemorySource(clock=clock)
    await source.publish(Skill("a", "A", "old"))
    clock.advance(5)
    await source.publish(Skill("a", "A", "new"))
    clock.advance(5)
    await source.publish(Skill("a", "A", "old"))
    assert [(one.skill.description, one.at) for one in await source.versions("a")] == [("new", 105.0), ("old", 100.0)]


async def test_a_skill_of_an_earlier_snapshot_still_reads_its_own_artifacts() -> None:
    source = MemorySource()
    await source.publish(Skill("a", "A", "x"), {"x.md": "old"})
    (old,) = (await source.load()).skills
    await source.publish(Skill("a", "A", "y"), {"x.md": "new"})
    assert await source.read(old, "x.md") == b"old"
