"""Every spelling of a skill reads back what it wrote, whatever the skill (spec 1.1)."""

from dataclasses import replace

from hypothesis import given

from skillweave import Severity, Skill
from skillweave.formats.native import from_dict, to_dict
from skillweave.formats.skill_md import read_skill_md, to_skill_md
from skillweave.formats.spelling import from_tiers, read_any
from skillweave.skills import from_definition, to_definition, to_tiers
from tests.depth import tried
from tests.strategies import skills

quick = tried(20)


def definition_of(skill: Skill | None) -> Skill | None:
    return skill and replace(skill, origin=None, digest="")


@quick
@given(skills())
def test_skill_md_reads_back_what_it_wrote_without_losing_anything(skill: Skill) -> None:
    text = to_skill_md(skill)

    read = read_skill_md(
        text.encode(), path="SKILL.md", folder=skill.spelling or skill.id, source="test", artifacts=skill.artifacts
    )

    assert definition_of(read.skill) == skill
    assert not [found for found in read.diagnostics if found.severity is Severity.ERROR]


@quick
@given(skills())
def test_tiers_read_back_what_they_wrote(skill: Skill) -> None:
    tiers = to_tiers(skill)

    assert definition_of(from_tiers(**tiers)) == skill
    assert definition_of(read_any(tiers, path="", source="test").skill) == skill


@quick
@given(skills())
def test_a_definition_reads_back_what_it_wrote(skill: Skill) -> None:
    definition = to_definition(skill)

    assert definition_of(from_definition(definition)) == skill
    assert definition_of(read_any(definition, path="", source="test").skill) == skill


@quick
@given(skills())
def test_the_native_form_reads_back_what_it_wrote(skill: Skill) -> None:
    native = to_dict(skill)

    assert definition_of(from_dict(native)) == skill
    assert definition_of(read_any(native, path="", source="test").skill) == skill
