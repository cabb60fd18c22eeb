"""Writing SKILL.md: what the open specification has a place for stands there."""

from dataclasses import replace

import pytest
from hypothesis import given

from skillweave import Skill, Status, ToolRules, Triggers
from skillweave.diagnostics import Severity
from skillweave.errors import InvalidSkill
from skillweave.formats.open_spec import name_fault
from skillweave.formats.skill_md import read_skill_md, to_open_skill_md, to_skill_md, to_strict_skill_md
from skillweave.frontmatter.documents import read_front_matter, tidy_body
from skillweave.frozen import freeze_mapping
from skillweave.skills import SkillText, Strictness
from tests.strategies import skills

JAM = Skill(id="jam", name="Jam", description="Labels jars", text=SkillText(instructions="# Jam\n\nStir."))


def test_a_skill_of_the_open_specification_is_written_in_its_fields_only() -> None:
    skill = replace(
        JAM,
        version="1.0",
        domain_tags=("pantry", "fruit"),
        license="MIT",
        tools=ToolRules(preapproved=("Read", "Bash(git add:*)")),
        metadata=freeze_mapping({"author": "me"}),
    )

    text = to_skill_md(skill)

    assert text == (
        "---\n"
        "name: jam\n"
        "description: Labels jars\n"
        "license: MIT\n"
        "allowed-tools: Read Bash(git add:*)\n"
        "metadata:\n"
        "  author: me\n"
        "  version: '1.0'\n"
        "  domain_tags: pantry, fruit\n"
        "---\n"
        "\n"
        "# Jam\n\nStir.\n"
    )
    read = read_skill_md(text.encode(), path="p", folder="jam", source="s", strictness=Strictness.STRICT)
    assert read.skill is not None


def test_the_open_form_has_its_keywords_in_metadata_and_is_read_strictly() -> None:
    skill = replace(JAM, triggers=Triggers(keywords=("jam", "fig jam")), metadata=freeze_mapping({"author": "me"}))

    text = to_open_skill_md(skill)

    assert text == (
        "---\n"
        "name: jam\n"
        "description: Labels jars\n"
        "metadata:\n"
        "  author: me\n"
        "  triggers: jam, fig jam\n"
        "---\n"
        "\n"
        "# Jam\n\nStir.\n"
    )
    read = read_skill_md(text.encode(), path="p", folder="jam", source="s", strictness=Strictness.STRICT)
    assert read.skill is not None
    assert (read.skill.triggers, read.skill.metadata) == (skill.triggers, skill.metadata)


@pytest.mark.parametrize(
    ("skill", "what"),
    [
        (replace(JAM, triggers=Triggers(keywords=("one, two",))), "triggers"),
        (replace(JAM, triggers=Triggers(keywords=("jam",), verbs=("stir",))), "triggers"),
        (replace(JAM, triggers=Triggers(("a",)), metadata=freeze_mapping({"triggers": "b"})), "triggers"),
        (replace(JAM, status=Status.DRAFT), "status"),
        (replace(JAM, extra=freeze_mapping({"mine": "1"})), "mine"),
        (replace(JAM, text=SkillText(instructions=" odd ")), "text"),
    ],
)
def test_what_the_open_form_has_no_place_for_is_refused_and_named(skill: Skill, what: str) -> None:
    with pytest.raises(InvalidSkill, match=f"no place for {what} of skill 'jam'; use to_skill_md"):
        to_open_skill_md(skill)


def test_the_original_spelling_of_the_name_is_written_back() -> None:
    assert to_skill_md(replace(JAM, id="Jam-Jars", spelling="Jam & Jars")).startswith("---\nname: Jam & Jars\n")


def test_triggers_are_a_flat_list_while_they_are_only_keywords() -> None:
    assert "triggers:\n- jam\n- 'no'\n" in to_skill_md(replace(JAM, triggers=Triggers(keywords=("jam", "no"))))
    assert "triggers:\n  verbs:\n  - stir\n" in to_skill_md(replace(JAM, triggers=Triggers(verbs=("stir",))))


def test_what_has_no_place_stands_under_the_extension() -> None:
    text = to_skill_md(replace(JAM, name="Jam Labels", status=Status.DRAFT, tools=ToolRules(allowed=())))

    assert "x-skillweave:\n  name: Jam Labels\n  status: draft\n  tools:\n    allowed: []\n" in text


def test_numbers_and_truth_values_of_free_data_keep_their_types() -> None:
    skill = replace(JAM, extra=freeze_mapping({"user-invocable": False, "version": "1", "hint": "[a]"}))

    text = to_skill_md(skill)

    assert "hint: '[a]'\n" in text
    assert "  json:\n    extra:\n      user-invocable: false\n      version: '1'\n" in text


@pytest.mark.parametrize("triggers", [Triggers(), Triggers(keywords=("fig",)), Triggers(verbs=("stir",))])
def test_metadata_that_only_looks_like_keywords_is_metadata_again(triggers: Triggers) -> None:
    skill = replace(JAM, triggers=triggers, metadata=freeze_mapping({"triggers": "jam, fig"}))

    read = read_skill_md(to_skill_md(skill).encode(), path="p", folder="jam", source="s")

    assert read.skill is not None
    assert (read.skill.triggers, read.skill.metadata) == (skill.triggers, skill.metadata)


def test_half_of_a_surrogate_pair_is_refused() -> None:
    for broken in (replace(JAM, description="a\ud800"), replace(JAM, text=SkillText(instructions="a\ud800"))):
        with pytest.raises(InvalidSkill, match="surrogate"):
            to_skill_md(broken)
        with pytest.raises(InvalidSkill, match="surrogate"):
            to_open_skill_md(broken)


@given(skills())
def test_a_strict_reader_accepts_every_skill_as_it_is_written_for_it(skill: Skill) -> None:
    text = to_strict_skill_md(skill)
    name = str(read_front_matter(text.encode(), path="SKILL.md").fields["name"])  # type: ignore[index]
    found = read_skill_md(text.encode(), path="SKILL.md", folder=name, source="s", strictness=Strictness.STRICT)
    assert [one for one in found.diagnostics if one.severity is Severity.ERROR] == []


@given(skills().filter(lambda skill: not name_fault(skill.spelling or skill.id)))
def test_what_is_written_for_a_strict_reader_reads_back_equal(skill: Skill) -> None:
    text = to_strict_skill_md(skill)
    found = read_skill_md(text.encode(), path="SKILL.md", folder=skill.spelling or skill.id, source="s")
    body = tidy_body(skill.text.instructions or "") or None
    kept = replace(skill, artifacts=(), phrases=(), text=replace(skill.text, instructions=body))
    assert found.skill is not None
    assert replace(found.skill, origin=kept.origin, digest=kept.digest) == kept


def test_a_text_that_is_too_long_for_the_open_format_stands_in_full_beside_it() -> None:
    skill = Skill("greet", "Greet", "word " * 300 + "end")
    text = to_strict_skill_md(skill)
    found = read_skill_md(text.encode(), path="SKILL.md", folder="greet", source="s").skill
    assert found is not None
    assert found.description == skill.description
