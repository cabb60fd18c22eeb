import pytest

from skillweave import Severity, Skill
from skillweave.errors import ArtifactNotFound
from skillweave.skills import Origin
from skillweave.sources import InCode
from tests.skill_folders import ids


async def test_values_and_mappings_load_in_the_given_order() -> None:
    source = InCode(
        Skill("b", "B", "x"),
        {"name": "a", "description": "y"},
        {"skill_id": "c", "description": "z"},
    )
    assert ids(await source.load()) == ["b", "a", "c"]


async def test_a_value_gets_a_digest_and_an_origin() -> None:
    (skill,) = (await InCode(Skill("a", "A", "x"), name="mine").load()).skills
    assert skill.origin == Origin("mine", "mine")
    assert len(skill.digest) == 64


async def test_equal_values_have_equal_digests_and_others_do_not() -> None:
    skills = (await InCode(Skill("a", "A", "x"), Skill("a", "A", "x"), Skill("a", "A", "y")).load()).skills
    assert skills[0].digest == skills[1].digest != skills[2].digest


@pytest.mark.parametrize("bad", [{"id": "x"}, {"id": "x" * 101, "description": "y"}, None, 7, [], "text", {}])
async def test_what_is_no_definition_is_a_finding_and_hides_no_other(bad: object) -> None:
    loaded = await InCode(Skill("a", "A", "x"), bad, Skill("b", "B", "x")).load()  # type: ignore[arg-type]
    assert ids(loaded) == ["a", "b"]
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.severity) == ("not-a-definition", Severity.ERROR)
    assert "definition 2 is no skill" in finding.message


async def test_artifacts_given_in_code_are_listed_and_read() -> None:
    source = InCode(Skill("a", "A", "x"), artifacts={"a": {"references/x.md": "größe", "logo.png": b"\x89PNG"}})
    (skill,) = (await source.load()).skills
    assert [(ref.id, ref.media_type, ref.size) for ref in skill.artifacts] == [
        ("references/x.md", "text/markdown", 7),
        ("logo.png", "image/png", 4),
    ]
    assert await source.read(skill, "logo.png") == b"\x89PNG"


async def test_artifacts_of_a_skill_that_is_not_there_are_reported() -> None:
    loaded = await InCode(Skill("a", "A", "x"), artifacts={"b": {"x.md": "y"}}).load()
    (finding,) = loaded.diagnostics
    assert "'b'" in finding.message


async def test_text_that_is_no_unicode_is_a_finding() -> None:
    loaded = await InCode(Skill("a", "A", "x"), artifacts={"a": {"x.md": "\ud800"}}).load()
    assert ids(loaded) == []
    assert "not Unicode text at character 0" in loaded.diagnostics[0].message


async def test_the_same_skill_of_another_source_is_not_read() -> None:
    source = InCode(Skill("a", "A", "x"), artifacts={"a": {"x.md": "y"}})
    with pytest.raises(ArtifactNotFound):
        await source.read(Skill("a", "A", "other"), "x.md")
