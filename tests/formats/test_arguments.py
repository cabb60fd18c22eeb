"""`$ARGUMENTS` in a skill's text."""

from pathlib import Path

from skillweave.formats.arguments import MOST_PLACES, digest_in_use, filled, takes_arguments
from skillweave.formats.skill_md import read_skill_md
from skillweave.skills import SkillText
from tests.skills import make_skill

FIX = make_skill("fix", instructions="Fix $ARGUMENTS, then test.")
PLAIN = make_skill("plain", instructions="Costs $5, see $ARGUMENTSX and \\$ARGUMENTS.")


def text(instructions: str | None = None, *steps: str) -> SkillText:
    return SkillText(instructions=instructions, steps=steps)


def test_instructions_and_steps_take_arguments() -> None:
    assert takes_arguments(FIX)
    assert takes_arguments(make_skill("a", text=text(None, "Read $ARGUMENTS")))
    assert not takes_arguments(PLAIN)
    assert not takes_arguments(make_skill("a", description="$ARGUMENTS"))


def test_the_arguments_stand_in_every_place() -> None:
    assert filled(text("`$ARGUMENTS`: $ARGUMENTS", "1 $ARGUMENTS"), "x y") == text("`x y`: x y", "1 x y")


def test_without_arguments_the_places_are_empty() -> None:
    assert filled(text("Fix $ARGUMENTS.", "$ARGUMENTS"), "") == text("Fix .", "")


def test_a_longer_name_an_index_and_an_escaped_dollar_are_no_places() -> None:
    as_it_is = text("$ARGUMENTSX $ARGUMENTS_ $ARGUMENTS[0] \\$ARGUMENTS $arguments")
    assert filled(as_it_is, "x") == as_it_is


def test_what_the_user_wrote_is_no_template_itself() -> None:
    assert filled(text("a $ARGUMENTS b"), r"\1 \g<0> $ARGUMENTS {x}") == text(r"a \1 \g<0> $ARGUMENTS {x} b")


def test_a_text_without_places_is_the_same_value() -> None:
    plain = text("Costs $5.")
    assert filled(plain, "x") is plain


def test_more_places_than_are_filled_stay_as_they_are_so_that_no_text_grows_without_end() -> None:
    many = filled(text("$ARGUMENTS\n" * MOST_PLACES, "$ARGUMENTS", "$ARGUMENTS"), "x" * 2000)
    assert many.instructions == ("x" * 2000 + "\n") * MOST_PLACES
    assert many.steps == ("$ARGUMENTS", "$ARGUMENTS")


def test_a_text_with_too_many_places_is_found() -> None:
    body = "$ARGUMENTS\n" * (MOST_PLACES + 1)
    data = f"---\nname: a\ndescription: d\n---\n{body}".encode()
    (found,) = read_skill_md(data, path="a/SKILL.md", folder="a", source="s").diagnostics
    assert (found.code, found.message) == (
        "many-arguments",
        "`$ARGUMENTS` stands in 21 places; the first 20 are filled",
    )


def test_the_digest_in_use_is_the_skills_own_without_arguments_and_where_none_are_taken() -> None:
    assert digest_in_use(FIX) == digest_in_use(FIX, "") == FIX.digest
    assert digest_in_use(PLAIN, "x") == PLAIN.digest


def test_the_digest_in_use_tells_skills_and_arguments_apart() -> None:
    other = make_skill("fix", instructions="Mend $ARGUMENTS.")
    digests = {digest_in_use(skill, words) for skill in (FIX, other) for words in ("", "a", "b", "\ud800")}
    assert len(digests) == 8


def test_real_skills_take_arguments(skills_sample: Path) -> None:
    reads = [
        read_skill_md(path.read_bytes(), path=str(path), folder=path.parent.name, source="sample")
        for path in sorted(skills_sample.glob("*/*/SKILL.md"))
    ]
    taking = [read.skill for read in reads if read.skill is not None and takes_arguments(read.skill)]
    assert len(taking) == 25
    for skill in taking:
        shown = filled(skill.text, "the words of a user").instructions or ""
        assert "the words of a user" in shown
    assert not any(found.code == "many-arguments" for read in reads for found in read.diagnostics)
