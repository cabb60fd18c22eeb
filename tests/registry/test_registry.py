import asyncio
import hashlib
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from skillweave import Diagnostic, Registry, Severity, Skill, SkillNotFound, Triggers
from skillweave.errors import ArtifactNotFound, DuplicateSkill, InvalidSkill, SourceUnavailable
from skillweave.registry import Changes, Loaded, Precedence, Snapshot
from skillweave.skills import Origin, Relation, RelationKind
from skillweave.sources import InCode
from skillweave.sources.folder import Folder
from skillweave.values import Location
from tests.skill_folders import skill_text, write_skill


def skill(skill_id: str, description: str = "x", *, place: str = "", version: str | None = None) -> Skill:
    return Skill(
        skill_id, skill_id, description, version=version, origin=Origin("shelf", place or f"{skill_id}/SKILL.md")
    )


@dataclass
class Shelf:
    """A source whose content the test decides."""

    skills: tuple[Skill, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    name: str = "shelf"
    fails: bool = False
    asked: list[Loaded | None] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def load(self, previous: Loaded | None) -> Loaded:
        self.asked.append(previous)
        skills, findings = self.skills, self.findings
        if self.gate is not None:
            await self.gate.wait()
        if self.fails:
            raise SourceUnavailable(f"{self.name} is away; plug it in")
        return Loaded(skills, findings, memory=len(self.asked))

    async def read(self, skill: Skill, artifact: str) -> bytes:
        return f"{self.name}:{skill.id}:{artifact}".encode()


async def loaded(*sources: Shelf | InCode | Folder, precedence: Precedence = Precedence.FIRST) -> Registry:
    registry = Registry(sources, precedence=precedence)
    await registry.refresh()
    return registry


def codes(snapshot: Snapshot) -> list[str]:
    return [finding.code for finding in snapshot.diagnostics]


def error(code: str, path: str, skill_id: str | None = None) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, "broken", "mend it", skill_id, Location(path))


def test_a_new_registry_is_empty_and_of_generation_0() -> None:
    snapshot = Registry([Shelf((skill("a"),))]).snapshot
    assert (len(snapshot), snapshot.generation) == (0, 0)


async def test_refresh_tells_what_was_added_changed_and_removed() -> None:
    shelf = Shelf((skill("a"), skill("b"), skill("c")))
    registry = Registry([shelf])
    assert await registry.refresh() == Changes(0, 1, added=("a", "b", "c"))
    shelf.skills = (skill("d"), skill("b", "y"), skill("c"))
    assert await registry.refresh() == Changes(1, 2, added=("d",), changed=("b",), removed=("a",))


async def test_without_a_change_the_snapshot_stays_the_same_object() -> None:
    shelf = Shelf((skill("a"),))
    registry = await loaded(shelf)
    before = registry.snapshot
    shelf.skills = (skill("a"),)
    assert not await registry.refresh()
    assert registry.snapshot is before


async def test_a_new_finding_alone_makes_a_new_snapshot() -> None:
    shelf = Shelf((skill("a"),))
    registry = await loaded(shelf)
    shelf.findings = (error("late", "b/SKILL.md"),)
    changes = await registry.refresh()
    assert changes
    assert (changes.added, changes.changed, changes.removed) == ((), (), ())
    assert codes(registry.snapshot) == ["late"]


async def test_another_order_of_the_skills_makes_a_new_snapshot() -> None:
    shelf = Shelf((skill("a"), skill("b")))
    registry = await loaded(shelf)
    shelf.skills = tuple(reversed(shelf.skills))
    assert await registry.refresh()
    assert list(registry.snapshot) == ["b", "a"]


async def test_an_empty_source_makes_the_first_generation_once() -> None:
    registry = await loaded(Shelf())
    assert registry.snapshot.generation == 1
    assert not await registry.refresh()


async def test_a_source_is_given_its_last_answer() -> None:
    shelf = Shelf((skill("a"),))
    registry = await loaded(shelf)
    await registry.refresh()
    first, second = shelf.asked
    assert first is None
    assert second is not None
    assert second.memory == 1


async def test_a_held_snapshot_stays_as_it_was() -> None:
    shelf = Shelf((skill("a"),))
    registry = await loaded(shelf)
    held = registry.snapshot
    shelf.skills = ()
    await registry.refresh()
    registry.register(skill("b"))
    assert (list(held), held.generation) == (["a"], 1)
    assert (list(registry.snapshot), registry.snapshot.generation) == (["b"], 3)


async def test_a_registered_skill_can_be_used_at_once() -> None:
    registry = Registry()
    given = registry.register({"name": "a", "description": "From a mapping.", "triggers": ["x"]})
    assert registry.snapshot["a"] is given
    assert given.triggers.keywords == ("x",)
    assert registry.snapshot.generation == 1


async def test_a_registered_skill_survives_refresh() -> None:
    registry = await loaded(Shelf((skill("a"),)))
    registry.register(skill("b"))
    await registry.refresh()
    assert list(registry.snapshot) == ["a", "b"]


async def test_registering_an_equal_skill_again_changes_nothing() -> None:
    registry = Registry()
    registry.register(skill("a"))
    before = registry.snapshot
    registry.register(skill("a"))
    assert registry.snapshot is before


async def test_registering_an_id_again_replaces_it() -> None:
    registry = Registry()
    registry.register(skill("a"))
    registry.register(skill("a", "new"))
    assert registry.snapshot["a"].description == "new"
    assert registry.snapshot.shadowed == ()


@pytest.mark.parametrize("precedence", [Precedence.FIRST, Precedence.LAST, Precedence.NAMESPACE])
async def test_what_is_registered_wins_over_sources_and_shadows_visibly(precedence: Precedence) -> None:
    source_id = "shelf__a" if precedence is Precedence.NAMESPACE else "a"
    registry = await loaded(Shelf((skill("a"), skill("b"))), precedence=precedence)
    registry.register(skill(source_id, "mine"))
    snapshot = registry.snapshot
    assert snapshot[source_id].description == "mine"
    assert [loser.description for loser in snapshot.shadowed] == ["x"]
    assert codes(snapshot) == ["shadowed"]
    assert next(iter(snapshot)) == source_id


@pytest.mark.parametrize(
    "definition", [{"name": "a"}, {"description": "no name"}, Skill("no id", "x", "y"), "text", None, {"id": 7}]
)
def test_what_is_no_skill_is_refused_and_changes_nothing(definition: object) -> None:
    registry = Registry()
    before = registry.snapshot
    with pytest.raises(InvalidSkill):
        registry.register(cast("Any", definition))
    assert registry.snapshot is before


async def test_what_was_put_in_and_what_is_got_out_cannot_change_the_registry() -> None:
    registry = Registry()
    metadata: dict[str, Any] = {"tags": ["one"]}
    mapping: dict[str, Any] = {
        "id": "b",
        "description": "x",
        "metadata": {"tags": ["one"]},
        "triggers": {"keywords": ["k"]},
    }
    registry.register(Skill("a", "A", "x", metadata=metadata, triggers=Triggers(cast("Any", ["k"]))))
    registry.register(mapping)
    metadata["tags"].append("two")
    mapping["metadata"]["tags"].append("two")
    mapping["triggers"]["keywords"].append("k2")
    for got in registry.snapshot.values():
        assert got.metadata["tags"] == ("one",)
        assert got.triggers.keywords == ("k",)
        with pytest.raises(TypeError):
            cast("Any", got.metadata)["tags"] = ()
    with pytest.raises(TypeError):
        cast("Any", registry.snapshot.skills)["c"] = skill("c")
    with pytest.raises(AttributeError):
        cast("Any", registry.snapshot)["a"].description = "changed"


async def test_a_removed_skill_is_gone_wherever_it_came_from_and_stays_gone() -> None:
    registry = await loaded(Shelf((skill("a"), skill("b"))))
    registry.register(skill("a", "mine"))
    assert registry.remove("a").description == "mine"
    assert list(registry.snapshot) == ["b"]
    await registry.refresh()
    assert list(registry.snapshot) == ["b"]
    assert codes(registry.snapshot) == []


async def test_a_removed_skill_can_be_registered_again() -> None:
    registry = await loaded(Shelf((skill("a"),)))
    registry.remove("a")
    registry.register(skill("a", "mine"))
    assert registry.snapshot["a"].description == "mine"


async def test_removing_what_is_not_there_names_the_nearest() -> None:
    registry = await loaded(Shelf((skill("spacing"),)))
    before = registry.snapshot
    with pytest.raises(SkillNotFound) as caught:
        registry.remove("spacin")
    assert caught.value.nearest == ("spacing",)
    assert registry.snapshot is before


async def test_one_clash_is_an_error_where_none_is_allowed_and_the_snapshot_stays() -> None:
    one, other = Shelf((skill("a", place="one/a"),)), Shelf((skill("b"),))
    registry = await loaded(one, other, precedence=Precedence.ERROR)
    before = registry.snapshot
    other.skills = (skill("a", place="other/a"),)
    with pytest.raises(DuplicateSkill, match="'a' comes from one/a and from other/a; remove or rename one"):
        await registry.refresh()
    with pytest.raises(DuplicateSkill):
        registry.register(skill("b"))
    assert registry.snapshot is before
    other.skills = (skill("c"),)
    assert (await registry.refresh()).added == ("c",)


async def test_namespaces_keep_all_skills_apart() -> None:
    one = Shelf((skill("a"), Skill("b", "B", "x", relations=(Relation(RelationKind.REQUIRES, "a"),))), name="acme corp")
    other = Shelf((skill("a", "other"),), name="beta")
    registry = await loaded(one, other, precedence=Precedence.NAMESPACE)
    assert list(registry.snapshot) == ["acme-corp__a", "acme-corp__b", "beta__a"]
    assert registry.snapshot["acme-corp__b"].requires() == ("acme-corp__a",)
    assert registry.snapshot["beta__a"].spelling == "a"
    assert codes(registry.snapshot) == []


async def test_a_missing_source_is_an_error_at_first() -> None:
    registry = Registry([Shelf((skill("a"),)), Shelf(fails=True, name="usb")])
    with pytest.raises(SourceUnavailable, match="usb is away"):
        await registry.refresh()
    assert registry.snapshot.generation == 0


async def test_a_source_that_goes_away_keeps_its_skills_and_others_go_on() -> None:
    one, other = Shelf((skill("a"),), name="usb"), Shelf((skill("b"),))
    registry = await loaded(one, other)
    one.fails, other.skills = True, (skill("b"), skill("c"))
    assert (await registry.refresh()).added == ("c",)
    assert list(registry.snapshot) == ["a", "b", "c"]
    (finding,) = registry.snapshot.diagnostics
    assert (finding.code, finding.severity) == ("source-unavailable", Severity.ERROR)
    assert not await registry.refresh()
    one.fails = False
    await registry.refresh()
    assert codes(registry.snapshot) == []


async def test_a_broken_edit_keeps_the_last_good_version_until_it_is_mended() -> None:
    shelf = Shelf((skill("a"), skill("b"), skill("c")))
    registry = await loaded(shelf)
    shelf.skills, shelf.findings = (skill("a"), skill("c")), (error("yaml-invalid", "b/SKILL.md"),)
    changes = await registry.refresh()
    assert changes
    assert changes.removed == ()
    assert list(registry.snapshot) == ["a", "b", "c"]
    assert codes(registry.snapshot) == ["yaml-invalid", "kept-last-good"]
    assert not await registry.refresh()
    shelf.skills, shelf.findings = (skill("a"), skill("b", "new"), skill("c")), ()
    assert (await registry.refresh()).changed == ("b",)
    assert codes(registry.snapshot) == []


async def test_a_broken_edit_in_a_real_folder_keeps_the_last_good_version(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", files={"references/a.md": "x"})
    write_skill(tmp_path / "two")
    registry = await loaded(Folder(tmp_path))
    path.write_text("---\nname: one\nbroken")
    assert await registry.refresh()
    assert list(registry.snapshot) == ["one", "two"]
    assert codes(registry.snapshot) == ["frontmatter-unclosed", "kept-last-good"]
    assert (await registry.read_artifact("one", "references/a.md")).text == "x"
    path.unlink()
    assert (await registry.refresh()).removed == ("one",)


async def test_a_source_that_answered_late_does_not_undo_a_newer_answer() -> None:
    shelf = Shelf((skill("old"),), gate=asyncio.Event())
    registry = Registry([shelf])
    slow = asyncio.create_task(registry.refresh())
    await asyncio.sleep(0)
    gate, shelf.gate, shelf.skills = shelf.gate, None, (skill("new"),)
    await registry.refresh()
    assert gate is not None
    gate.set()
    await slow
    assert list(registry.snapshot) == ["new"]


async def test_what_is_registered_while_a_source_loads_is_kept() -> None:
    shelf = Shelf((skill("a"),), gate=asyncio.Event())
    registry = Registry([shelf])
    loading = asyncio.create_task(registry.refresh())
    await asyncio.sleep(0)
    registry.register(skill("b"))
    assert list(registry.snapshot) == ["b"]
    assert shelf.gate is not None
    shelf.gate.set()
    await loading
    assert list(registry.snapshot) == ["a", "b"]


async def test_a_cancelled_refresh_changes_nothing() -> None:
    shelf = Shelf((skill("a"),), gate=asyncio.Event())
    registry = Registry([shelf])
    loading = asyncio.create_task(registry.refresh())
    await asyncio.sleep(0)
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert registry.snapshot.generation == 0


async def test_an_artifact_comes_with_its_content_size_and_hash() -> None:
    registry = await loaded(InCode(skill("a"), artifacts={"a": {"references/x.md": "größe"}}))
    artifact = await registry.read_artifact("a", "references/x.md")
    assert artifact.text == "größe"
    assert artifact.ref.size == 7
    assert artifact.ref.content_hash == hashlib.sha256("größe".encode()).hexdigest()


async def test_artifacts_of_registered_skills_are_read() -> None:
    registry = Registry()
    registry.register(skill("a"), {"x.md": "one"})
    registry.register({"id": "b", "description": "x", "artifacts": [{"id": "y.md", "content": "two"}]})
    assert (await registry.read_artifact("a", "x.md")).text == "one"
    assert (await registry.read_artifact("b", "y.md")).text == "two"


async def test_new_content_of_an_equal_registered_skill_counts() -> None:
    registry = Registry()
    registry.register(skill("a"), {"x.md": "one"})
    registry.register(skill("a"), {"x.md": "two"})
    assert (await registry.read_artifact("a", "x.md")).text == "two"


async def test_in_a_namespace_artifacts_are_read_from_the_right_source() -> None:
    one, other = (
        InCode(skill("a"), artifacts={"a": {"x.md": "one"}}, name="one"),
        InCode(skill("a"), artifacts={"a": {"x.md": "two"}}, name="two"),
    )
    registry = await loaded(one, other, precedence=Precedence.NAMESPACE)
    assert (await registry.read_artifact("two__a", "x.md")).text == "two"


async def test_an_artifact_of_a_shadowed_skill_is_not_read_in_its_place() -> None:
    registry = await loaded(InCode(skill("a")), InCode(skill("a", "y"), artifacts={"a": {"x.md": "two"}}))
    with pytest.raises(ArtifactNotFound):
        await registry.read_artifact("a", "x.md")


async def test_unknown_skills_and_artifacts_are_different_errors() -> None:
    registry = await loaded(InCode(skill("a"), artifacts={"a": {"x.md": "one"}}))
    with pytest.raises(SkillNotFound):
        await registry.read_artifact("b", "x.md")
    with pytest.raises(ArtifactNotFound, match=r"'y.md' of skill 'a' cannot be read: the skill lists 'x.md'"):
        await registry.read_artifact("a", "y.md")


async def test_readers_never_see_half_of_a_refresh(tmp_path: Path) -> None:
    names = [f"skill-{index:02}" for index in range(10)]
    for name in names:
        write_skill(tmp_path / name, skill_text(name, "Version 0."))
    registry = await loaded(Folder(tmp_path))
    torn: list[set[str]] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            snapshot = registry.snapshot
            versions = {found.description for found in snapshot.values()}
            if len(versions) != 1 or len(snapshot) != len(names):
                torn.append(versions)
            time.sleep(0.0001)

    readers = [threading.Thread(target=watch) for _ in range(2)]
    for reader in readers:
        reader.start()
    for version in range(1, 5):
        for name in names:
            write_skill(tmp_path / name, skill_text(name, f"Version {version}."))
        await registry.refresh()
    done.set()
    for reader in readers:
        reader.join()
    assert torn == []
    assert registry.snapshot["skill-00"].description == "Version 4."


async def test_skills_registered_by_many_threads_at_once_are_all_there() -> None:
    registry = Registry()

    def register(start: int) -> None:
        for index in range(start, start + 50):
            registry.register(skill(f"skill-{index}"))

    threads = [threading.Thread(target=register, args=(start,)) for start in range(0, 200, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(registry.snapshot) == 200
    assert registry.snapshot.generation == 200


async def test_refresh_works_on_two_event_loops_at_once() -> None:
    shelf = Shelf((skill("a"),))
    registry = Registry([shelf])
    thread = threading.Thread(target=lambda: asyncio.run(_refresh(registry)))
    thread.start()
    await registry.refresh()
    thread.join()
    assert list(registry.snapshot) == ["a"]


async def _refresh(registry: Registry) -> None:
    await registry.refresh()


async def test_all_real_skills_are_loaded_and_the_shadowed_ones_stay_visible(skills_sample: Path) -> None:
    snapshot = (await loaded(Folder(skills_sample))).snapshot
    assert snapshot.loaded == len(snapshot) + len(snapshot.shadowed) == 841
    assert len([code for code in codes(snapshot) if code == "shadowed"]) == len(snapshot.shadowed) > 0
    assert all(found.origin for found in snapshot.shadowed)
