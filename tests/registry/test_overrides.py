from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Diagnostic, Registry, Severity, Skill, SkillNotFound
from skillweave.errors import ArtifactNotFound, DuplicateSkill, InvalidSkill
from skillweave.registry import Precedence
from skillweave.sources import InCode
from skillweave.sources.folder import Folder
from tests.skill_folders import skill_text, write_skill


def skill(skill_id: str, version: str | None = None, description: str = "x") -> Skill:
    return Skill(skill_id, skill_id, description, version=version)


async def holding(*skills: Skill, precedence: Precedence = Precedence.FIRST) -> Registry:
    registry = Registry([InCode(*skills, name="shelf")], precedence=precedence)
    await registry.refresh()
    return registry


def overridden(registry: Registry) -> list[Diagnostic]:
    return [finding for finding in registry.snapshot.diagnostics if finding.code == "overridden"]


async def test_a_definition_replaces_the_skill_of_a_source() -> None:
    registry = await holding(skill("a", "1.0.0", "old"), skill("b"))
    given_back = registry.override_version("a", {"id": "a", "description": "new", "version": "2.0.0"})
    assert registry.snapshot["a"] == given_back
    assert (given_back.version, given_back.description) == ("2.0.0", "new")
    assert list(registry.snapshot) == ["a", "b"]


async def test_what_a_definition_replaces_is_shadowed_and_reported_with_both_versions() -> None:
    registry = await holding(skill("a", "1.0.0", "old"))
    registry.override_version("a", skill("a", "2.0.0", "new"))
    (finding,) = overridden(registry)
    assert [(lost.version, lost.description) for lost in registry.snapshot.shadowed] == [("1.0.0", "old")]
    assert str(finding) == (
        "shelf: info: skill 'a' of shelf is overridden by the one of code; "
        "version '2.0.0' is in use, newer than '1.0.0' [overridden]. "
        "nothing, if it is meant; else register the definition that is to be used"
    )


@pytest.mark.parametrize(
    ("before", "now", "said", "severity"),
    [
        ("1.9.0", "1.10.0", "version '1.10.0' is in use, newer than '1.9.0'", Severity.INFO),
        ("1.0", "1.0.0", "version '1.0.0' is in use, the same as '1.0'", Severity.INFO),
        ("2.0.0", "1.0.0", "version '1.0.0' is in use, although '2.0.0' is newer", Severity.WARNING),
        ("monday", "1.0.0", "version '1.0.0' is in use for 'monday'; no rule orders the two", Severity.WARNING),
        (None, "1.0.0", "version '1.0.0' is in use", Severity.INFO),
    ],
)
async def test_a_version_alone_is_reported_with_how_it_stands_to_the_one_before(
    before: str | None, now: str, said: str, severity: Severity
) -> None:
    registry = await holding(skill("a", before))
    assert registry.override_version("a", now).version == now
    (finding,) = overridden(registry)
    assert (finding.message, finding.severity) == (
        f"skill 'a' of shelf has its version overridden; {said}",
        severity,
    )


async def test_a_definition_without_a_version_is_reported_as_such() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", skill("a"))
    assert overridden(registry)[0].message.endswith("the one in use has no version, before it was '1.0.0'")


async def test_a_version_alone_gives_a_new_digest_and_changes_nothing_else() -> None:
    registry = await holding(skill("a", "1.0.0"))
    before = registry.snapshot["a"]
    now = registry.override_version("a", "2.0.0")
    assert now.digest not in ("", before.digest)
    assert (now.description, now.origin) == (before.description, before.origin)
    assert registry.override_version("a", "3.0.0").digest != now.digest


async def test_a_version_for_an_unknown_id_makes_no_hollow_skill() -> None:
    registry = await holding(skill("alpha"))
    with pytest.raises(SkillNotFound, match=r"'alpa'.*did you mean 'alpha'"):
        registry.override_version("alpa", "2.0.0")
    assert list(registry.snapshot) == ["alpha"]


async def test_a_version_for_a_removed_skill_makes_no_hollow_skill() -> None:
    registry = await holding(skill("a"))
    registry.remove("a")
    with pytest.raises(SkillNotFound):
        registry.override_version("a", "2.0.0")


async def test_a_definition_for_an_unknown_id_registers_it() -> None:
    registry = await holding()
    registry.override_version("a", skill("a", "1.0.0"))
    assert list(registry.snapshot) == ["a"]
    assert not overridden(registry)


async def test_a_definition_brings_a_removed_skill_back() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.remove("a")
    registry.override_version("a", skill("a", "2.0.0"))
    assert registry.snapshot["a"].version == "2.0.0"


async def test_a_definition_of_another_id_is_refused_and_both_are_named() -> None:
    registry = await holding(skill("a"))
    before = registry.snapshot
    with pytest.raises(InvalidSkill, match="override 'a' is of skill 'b'; give it the id 'a', or override 'b'"):
        registry.override_version("a", skill("b"))
    assert registry.snapshot is before


@pytest.mark.parametrize("version", ["", "  ", "1\n2", "1\x00", "9" * 101, "1\u2028"])
async def test_what_is_no_line_of_text_is_no_version(version: str) -> None:
    registry = await holding(skill("a"))
    with pytest.raises(InvalidSkill, match="is no version for skill 'a'"):
        registry.override_version("a", version)


async def test_artifacts_come_with_a_definition_only() -> None:
    registry = await holding(skill("a"))
    with pytest.raises(InvalidSkill, match="not with a version alone"):
        registry.override_version("a", "2.0.0", {"notes.md": "x"})
    registry.override_version("a", skill("a"), {"notes.md": "x"})
    assert (await registry.read_artifact("a", "notes.md")).text == "x"


async def test_artifacts_stay_readable_under_another_version(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "a", files={"references/notes.md": "read me"})
    registry = Registry([Folder(tmp_path / "skills")])
    await registry.refresh()
    registry.override_version("a", "2.0.0")
    assert (await registry.read_artifact("a", "references/notes.md")).text == "read me"


async def test_artifacts_stay_readable_under_another_version_in_a_namespace(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "a", files={"references/notes.md": "read me"})
    registry = Registry([Folder(tmp_path / "skills", name="org")], precedence=Precedence.NAMESPACE)
    await registry.refresh()
    assert registry.override_version("org__a", "2.0.0").version == "2.0.0"
    assert (await registry.read_artifact("org__a", "references/notes.md")).text == "read me"


async def test_artifacts_of_the_replaced_skill_go_with_it(tmp_path: Path) -> None:
    write_skill(tmp_path / "skills" / "a", files={"references/notes.md": "read me"})
    registry = Registry([Folder(tmp_path / "skills")])
    await registry.refresh()
    registry.override_version("a", skill("a"))
    with pytest.raises(ArtifactNotFound):
        await registry.read_artifact("a", "references/notes.md")


async def test_a_skill_with_another_version_follows_its_source(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "skills" / "a", skill_text("a", "Old."))
    registry = Registry([Folder(tmp_path / "skills")])
    await registry.refresh()
    old = registry.override_version("a", "2.0.0")
    path.write_text(skill_text("a", "New and longer."), encoding="utf-8")
    await registry.refresh()
    now = registry.snapshot["a"]
    assert (now.description, now.version) == ("New and longer.", "2.0.0")
    assert now.digest != old.digest


async def test_an_override_survives_a_refresh() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", skill("a", "2.0.0"))
    await registry.refresh()
    assert registry.snapshot["a"].version == "2.0.0"


async def test_the_version_that_a_skill_has_already_overrides_nothing() -> None:
    registry = await holding(skill("a", "1.0.0"))
    before = registry.snapshot
    assert registry.override_version("a", "1.0.0") == before["a"]
    assert registry.snapshot is before


async def test_where_no_clash_is_allowed_an_override_still_replaces() -> None:
    registry = await holding(skill("a", "1.0.0"), precedence=Precedence.ERROR)
    with pytest.raises(DuplicateSkill):
        registry.register(skill("a", "2.0.0"))
    assert registry.override_version("a", skill("a", "2.0.0")) == registry.snapshot["a"]


async def test_what_was_registered_stays_visible_below_an_override() -> None:
    registry = await holding()
    registry.register(skill("a", "1.0.0", "registered"))
    registry.override_version("a", skill("a", "2.0.0"))
    assert [lost.description for lost in registry.snapshot.shadowed] == ["registered"]


async def test_registering_ends_an_override() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", skill("a", "2.0.0"))
    registry.override_version("a", "3.0.0")
    registry.register(skill("a", "1.5.0"))
    assert registry.snapshot["a"].version == "1.5.0"
    assert not overridden(registry)


async def test_removing_ends_an_override() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", skill("a", "2.0.0"))
    assert registry.remove("a").version == "2.0.0"
    assert "a" not in registry.snapshot


async def test_a_new_definition_ends_the_version_that_was_set_before() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", "9.0.0")
    registry.override_version("a", skill("a", "2.0.0"))
    assert registry.snapshot["a"].version == "2.0.0"


async def test_a_set_version_is_no_further_definition_that_was_loaded() -> None:
    registry = await holding(skill("a", "1.0.0"))
    registry.override_version("a", "2.0.0")
    assert (registry.snapshot.loaded, len(registry.snapshot.shadowed)) == (1, 1)
    registry.override_version("a", skill("a", "3.0.0"))
    assert (registry.snapshot.loaded, len(registry.snapshot.shadowed)) == (2, 1)


async def test_a_finding_of_an_overriding_definition_is_kept() -> None:
    registry = await holding(skill("a"))
    registry.override_version("a", {"id": "a", "description": "x", "triggers": {"keywords": "one", "bogus": 1}})
    assert {"not-a-list", "unknown-key"} <= {finding.code for finding in registry.snapshot.diagnostics}


STEPS = st.lists(
    st.tuples(st.sampled_from(["register", "override", "version", "remove"]), st.sampled_from("ab")), max_size=8
)


@given(STEPS)
def test_whatever_is_done_what_is_in_use_is_what_was_said_last(steps: list[tuple[str, str]]) -> None:
    registry = Registry()
    expected: dict[str, str] = {}
    for number, (step, skill_id) in enumerate(steps, 1):
        version = f"{number}.0.0"
        if step == "register":
            registry.register(skill(skill_id, version))
        elif step == "override":
            registry.override_version(skill_id, skill(skill_id, version))
        elif skill_id not in expected:
            continue
        elif step == "version":
            registry.override_version(skill_id, version)
        else:
            registry.remove(skill_id)
        expected = {**expected, skill_id: version}
        if step == "remove":
            del expected[skill_id]
    snapshot = registry.snapshot
    assert {skill_id: held.version for skill_id, held in snapshot.items()} == expected
    assert len(overridden(registry)) <= len(snapshot.shadowed)


async def test_a_changed_copy_never_passes_for_its_original() -> None:
    registry = await holding(skill("a", "1.0.0", "old"))
    original = registry.snapshot["a"]
    made = registry.override_version("a", replace(original, description="new", version="2.0.0"))
    again = registry.override_version("a", replace(made, description="newer"))
    assert len({original.digest, made.digest, again.digest}) == 3


async def test_a_changed_copy_of_what_only_has_another_version_now_never_passes_for_its_original() -> None:
    registry = await holding(skill("a", "1.0.0", "old"))
    original = registry.snapshot["a"]
    registry.override_version("a", "2.0.0")
    assert registry.register(replace(original, description="new")).digest != original.digest


async def test_a_copy_without_changes_keeps_its_digest() -> None:
    registry = await holding(skill("a", "1.0.0", "old"))
    original = registry.snapshot["a"]
    assert registry.override_version("a", original).digest == original.digest
