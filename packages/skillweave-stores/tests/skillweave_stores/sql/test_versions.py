"""Every version of a skill is kept, with the content of its artifacts, once each."""

from dataclasses import replace

from tests.skillweave_stores.sql.conftest import ByHand

from skillweave.registry import Agent
from skillweave_stores import SqlSource


def _definition(description: str) -> dict[str, str]:
    return {"id": "alpha", "description": description}


async def test_a_skill_of_an_earlier_snapshot_still_reads_its_own_artifacts(source: SqlSource) -> None:
    await source.publish(_definition("x"), {"x.md": "old", "y.md": "same"})
    (old,) = (await source.load()).skills
    await source.publish(_definition("y"), {"x.md": "new", "y.md": "same"})
    await source.publish(_definition("z"))
    assert [await source.read(old, name) for name in ("x.md", "y.md")] == [b"old", b"same"]
    await source.remove("alpha")
    assert [await source.read(old, name) for name in ("x.md", "y.md")] == [b"old", b"same"]


async def test_rolling_back_restores_every_artifact(source: SqlSource) -> None:
    contents = {"a.md": "a", "b.bin": b"\xff\x00", "c.md": "", "d.md": "same"}
    await source.publish(_definition("first"), contents)
    (first,) = (await source.load()).skills
    await source.publish(_definition("second"), {"a.md": "other", "d.md": "same"})
    await source.remove("alpha")
    (_, old) = await source.versions("alpha")
    assert await source.roll_back("alpha", old.content_hash) == first
    (back,) = (await source.load()).skills
    assert back == first
    assert {ref.id: await source.read(back, ref.id) for ref in back.artifacts} == {
        name: data if isinstance(data, bytes) else data.encode() for name, data in contents.items()
    }


async def test_content_of_versions_that_are_not_in_use_is_kept_once(source: SqlSource, by_hand: ByHand) -> None:
    for n in range(3):
        await source.publish(_definition(f"version {n}"), {"same.md": "same", f"n{n}.md": str(n)})
    for n in range(3):
        await source.publish({"id": f"other{n}", "description": "x"}, {"same.md": "same"})
        await source.remove(f"other{n}")
    kept = [row[0] for row in by_hand("SELECT content FROM artifact_contents ORDER BY content")]
    assert kept == ["0", "1", "same"]


async def test_an_artifact_that_stays_is_not_written_again(source: SqlSource, by_hand: ByHand) -> None:
    await source.publish(_definition("old"), {"large.md": "x" * 10_000, "small.md": "old"})
    (before,) = by_hand("SELECT created_at FROM skill_artifacts WHERE id = 'large.md'")
    await source.publish(_definition("new"), {"large.md": "x" * 10_000, "small.md": "new"})
    assert by_hand("SELECT created_at FROM skill_artifacts WHERE id = 'large.md'") == [before]
    assert [row[0] for row in by_hand("SELECT content FROM artifact_contents")] == ["old"]


async def test_a_changed_copy_without_content_keeps_the_content_that_its_hashes_name(source: SqlSource) -> None:
    await source.publish(_definition("old"), {"a.md": "a"})
    (skill,) = (await source.load()).skills
    await source.publish(replace(skill, description="new", digest=""))
    (changed,) = (await source.load()).skills
    assert (changed.description, await source.read(changed, "a.md")) == ("new", b"a")
    await source.remove("alpha")
    await source.publish(replace(skill, description="newer", digest=""))
    (changed,) = (await source.load()).skills
    assert (changed.description, await source.read(changed, "a.md")) == ("newer", b"a")


async def test_versions_are_numbered_from_one_and_told_when(source: SqlSource, by_hand: ByHand) -> None:
    for description in ("a", "b", "a", "c"):
        await source.publish(_definition(description))
    versions = await source.versions("alpha")
    assert [one.skill.description for one in versions] == ["c", "b", "a"]
    assert versions[0].at >= versions[1].at >= versions[2].at > 1_600_000_000
    assert [row[0] for row in by_hand("SELECT number FROM skill_versions ORDER BY number")] == [1, 2, 3]


async def test_the_generation_grows_by_one_with_each_change_and_with_nothing_else(source: SqlSource) -> None:
    agent = Agent("clerk")
    seen = [int((await source.version()).split()[0])]
    await source.publish(_definition("a"), {"a.md": "a"})
    (old,) = await source.versions("alpha")
    for change in (
        source.publish(_definition("b")),
        source.roll_back("alpha", old.content_hash),
        source.put_agents([agent, Agent("other")]),
        source.remove_agent("other"),
        source.remove("alpha"),
    ):
        await change
        seen.append(int((await source.version()).split()[0]))
    assert seen == [0, 2, 3, 4, 5, 6]
    for nothing in (source.put_agents([agent]), source.load(), source.versions("alpha"), source.upsert([])):
        await nothing
    assert int((await source.version()).split()[0]) == 6
