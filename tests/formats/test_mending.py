"""What reading repairs in memory is written back, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.formats.mending import mend_skill_md
from skillweave.formats.skill_md import read_skill_md
from skillweave.skill import Skill

BODY = "\n# Tea\n\nBoil  water.   \n\n---\nname: not a key\n\ttab\n"
PLAIN = f"---\nname: tea\ndescription: Makes tea.\n---\n{BODY}"
SLIPS = {
    "mark": f"\ufeff{PLAIN}",
    "crlf": PLAIN.replace("\n", "\r\n"),
    "blank lines": f"\n \n{PLAIN}",
    "fences": PLAIN.replace("---\n", "---  \n", 2),
    "name": PLAIN.replace("name: tea", "name: Tea Making"),
    "no name": PLAIN.replace("name: tea\n", ""),
    "everything": f"\ufeff\n{PLAIN.replace('name: tea', 'name: Tea')}".replace("\n", "\r\n"),
}


def mended(text: str, folder: str = "tea") -> tuple[str, tuple[str, ...]]:
    done = mend_skill_md(text.encode(), folder=folder)
    return done.data.decode(), done.changes


def skill_in(text: str, folder: str = "tea") -> Skill | None:
    return read_skill_md(text.encode(), path="", folder=folder, source="").skill


def fields(*lines: str) -> str:
    text = "\n".join(lines)
    return f"---\nname: tea\ndescription: Makes tea.\n{text}\n---\n{BODY}"


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_mended_and_the_rest_of_the_file_keeps_its_bytes(slip: str) -> None:
    text, changes = mended(SLIPS[slip])
    assert changes
    assert text == PLAIN


def test_a_file_without_a_slip_keeps_its_bytes() -> None:
    assert mended(PLAIN) == (PLAIN, ())


def test_a_value_with_a_colon_is_put_in_quotes() -> None:
    text = PLAIN.replace("Makes tea.", "Makes tea: it's green")
    done, changes = mended(text)
    assert done == text.replace("Makes tea: it's green", "'Makes tea: it''s green'")
    assert changes == ("the value of `description` is in quotes",)


def test_several_values_are_put_in_quotes() -> None:
    text = fields("license: a: b", "compatibility: c: d")
    assert "license: 'a: b'\ncompatibility: 'c: d'\n" in mended(text)[0]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("allowed-tools: Read, Bash(git:*)", "allowed-tools: Read Bash(git:*)"),
        ("allowed-tools: [Read, Grep]", "allowed-tools: Read Grep"),
        ("allowed-tools:\n  - Read\n  - Grep\nlicense: MIT", "allowed-tools: Read Grep\nlicense: MIT"),
    ],
)
def test_tools_are_one_text_with_spaces(written: str, plain: str) -> None:
    assert mended(fields(written))[0] == fields(plain)


def test_a_list_with_a_comment_in_it_is_left_to_its_author() -> None:
    text = fields("allowed-tools:\n  - Read # always\n  - Grep")
    assert mended(text) == (text, ())


def test_a_misspelled_key_is_the_one_that_was_meant() -> None:
    assert mended(fields("licence: MIT # free", "alowed-tools: Read"))[0] == fields(
        "license: MIT # free", "allowed-tools: Read"
    )


def test_a_misspelled_description_makes_the_file_a_skill() -> None:
    text = PLAIN.replace("description", "descripton")
    assert skill_in(text) is None
    assert mended(text)[0] == PLAIN


def test_a_key_whose_value_would_then_be_wrong_is_left() -> None:
    text = fields("trigger: {patterns: {a: b, c: d}}")
    assert mended(text) == (text, ())


def test_a_name_is_not_made_one_that_the_open_format_refuses() -> None:
    text = PLAIN.replace("name: tea", "name: green-tea")
    assert mended(text, "Green Tea") == (text, ())


def test_missing_front_matter_is_written_from_heading_and_paragraph() -> None:
    text = "# Making tea\n\nHow to make tea.\n\n1. Boil.\n"
    done, (change,) = mended(text, "tea")
    assert done.startswith("---\nname: tea\ndescription: How to make tea.\n")
    assert done.endswith(f"---\n\n{text}")
    assert "front matter" in change


def test_what_cannot_be_read_is_left_as_it_is() -> None:
    for text in ("", "x", "---\nname: tea\n", "---\n[\n---\n"):
        assert mended(text) == (text, ())
    assert mend_skill_md(b"\xff\xfe", folder="tea").data == b"\xff\xfe"


_LINES = st.sampled_from(
    [
        *("name: tea", "name: Tea", "description: Makes: tea", "descripton: x", "allowed-tools: a, b", "licence: 'x'"),
        *("license: [", "triggers: [a]", "# note", "", "  indented: 1", "metadata:", "  version: 1", "---", "\ufeff"),
        *("trigger: x", "name: 'tea", "allowed-tools: [a, b]", "- x", "x-skillweave: {name: Tea}"),
    ]
)


@given(st.lists(_LINES, max_size=8), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["tea", "Te a", ""]))
def test_mending_loses_no_skill_says_the_same_and_is_done_at_once(lines: list[str], end: str, folder: str) -> None:
    text = end.join(["---", *lines, "---", "", "Boil.", ""])
    done, changes = mended(text, folder)
    assert mended(done, folder) == (done, ())
    before, after = skill_in(text, folder), skill_in(done, folder)
    if before is None:
        return
    assert after is not None
    if not any("the key `" in change for change in changes):
        plain = [replace(one, id="x", name="", spelling=None, digest="") for one in (before, after)]
        assert plain[0] == plain[1]


@pytest.mark.soak
def test_real_skills_say_the_same_when_they_are_mended(skills_sample: Path) -> None:
    counted = 0
    for path in sorted(skills_sample.glob("*/*/SKILL.md")):
        folder, data = path.parent.name, path.read_bytes()
        done = mend_skill_md(data, folder=folder)
        counted += bool(done.changes)
        before, after = (read_skill_md(one, path="", folder=folder, source="").skill for one in (data, done.data))
        assert before is not None
        assert after is not None
        assert replace(before, id="x", name="", spelling=None, digest="") == replace(
            after, id="x", name="", spelling=None, digest=""
        ), path
        assert mend_skill_md(done.data, folder=folder).changes == ()
    assert counted > 90


@pytest.mark.parametrize("line_break", ["\x85", "\u2028", "\u2029", "\r"])
def test_a_file_with_line_breaks_that_only_yaml_knows_is_left_and_mending_ends(line_break: str) -> None:
    written = f"---\n{2 * line_break}name: Alpha\n---\nBoil.\n".encode()
    assert mend_skill_md(written, folder="alpha").data == written


def test_one_change_that_makes_room_for_another_takes_it_along() -> None:
    written = "---\n\ufeffallowed-tools:\n  - Read\n  - Bash(a, b)\ndescription: Makes tea.\n---\nBoil.\n".encode()
    mended = mend_skill_md(written, folder="tea")
    assert mend_skill_md(mended.data, folder="tea").changes == ()
