"""A SKILL.md without front matter: taken with its heading and first paragraph."""

from skillweave.formats.fields import SkillRead
from skillweave.formats.skill_md import read_skill_md
from skillweave.skills import Strictness


def read(text: str, folder: str = "tea-making", strictness: Strictness = Strictness.LENIENT) -> SkillRead:
    return read_skill_md(text.encode(), path="SKILL.md", folder=folder, source="test", strictness=strictness)


TEA = "\n# Making tea\n\nHow to boil water and\nlet tea draw. Use it for tea.\n\n## Steps\n\n1. Boil.\n"


def test_the_folder_names_it_and_the_first_paragraph_describes_it() -> None:
    skill = read(TEA).skill
    assert skill is not None
    assert (skill.id, skill.name) == ("tea-making", "Making tea")
    assert skill.description == "How to boil water and let tea draw. Use it for tea."


def test_the_whole_text_is_its_instructions() -> None:
    skill = read(TEA).skill
    assert skill is not None
    assert skill.text.instructions == TEA.strip()


def test_it_is_a_warning_with_place_and_fix() -> None:
    (found,) = read(TEA).diagnostics
    assert (found.code, found.severity.value, str(found.location)) == ("frontmatter-guessed", "warning", "SKILL.md:1")
    assert "`description:`" in found.fix


def test_without_a_folder_the_heading_names_it() -> None:
    skill = read(TEA, folder="").skill
    assert skill is not None
    assert skill.id == "Making-tea"


def test_a_paragraph_that_calls_itself_the_description_is_taken_without_that_word() -> None:
    skill = read("# Teaser\n\ndescription: Draft one-page teasers.\n").skill
    assert skill is not None
    assert skill.description == "Draft one-page teasers."


def test_what_is_no_sentence_is_not_taken_for_the_paragraph() -> None:
    skill = read("# Tea\n\n## Contents\n\n- one\n\n| a | b |\n\n```sh\n# code\n```\n\nMakes tea.\n").skill
    assert skill is not None
    assert skill.description == "Makes tea."


def test_a_long_paragraph_is_cut_after_a_sentence() -> None:
    skill = read(f"# Tea\n\n{'Makes tea. ' * 200}\n").skill
    assert skill is not None
    assert len(skill.description) <= 1024
    assert skill.description.endswith("Makes tea.")


def test_without_a_heading_or_a_paragraph_it_stays_an_error() -> None:
    for text in ("", "Makes tea.\n", "# Tea\n", "#\n\nMakes tea.\n", "# Tea\n\n- a list\n"):
        outcome = read(text)
        assert outcome.skill is None
        assert [found.code for found in outcome.diagnostics] == ["frontmatter-missing"]


def test_front_matter_that_is_never_closed_is_not_guessed() -> None:
    outcome = read("---\nname: tea\n\n# Tea\n\nMakes tea.\n")
    assert (outcome.skill, outcome.diagnostics[-1].code) == (None, "frontmatter-unclosed")


def test_strict_reading_guesses_nothing() -> None:
    outcome = read(TEA, strictness=Strictness.STRICT)
    assert (outcome.skill, [found.code for found in outcome.diagnostics]) == (None, ["frontmatter-missing"])
