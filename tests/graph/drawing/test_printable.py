"""Text that every format can hold, on one line."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.wording import BLANK, printable, visible
from tests.graph.drawing.shapes import nasty


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\r\nlines\tand  a tab", "two lines and a tab"),
        ("  around  ", "around"),
        ("nul\x00bell\x07c1\x9b", "nul bell c1"),
        ("half \ud83d of a pair", "half \ufffd of a pair"),
        ("no character \uffff", "no character \ufffd"),
        ("日本 é 😀", "日本 é 😀"),
    ],
)
def test_text_is_shown_on_one_line_of_what_can_be_shown(text: str, line: str) -> None:
    assert printable(text, 40) == line


def test_a_longer_text_ends_in_an_ellipsis() -> None:
    assert printable("abcdef", 6) == "abcdef"
    assert printable("abcdefg", 6) == "abcde…"


def test_a_text_of_much_white_space_is_cut_too() -> None:
    assert printable("a" + " " * 1000 + "b", 6) == "a…"


@pytest.mark.parametrize("text", ["", "  ", "\n", "\u200b", "\u202e\u2066", "\xa0", "\x00"])
def test_a_text_of_which_nothing_is_seen_is_called_blank(text: str) -> None:
    assert visible(text, 10) == BLANK


@given(nasty, st.integers(min_value=2, max_value=60))
def test_any_text_is_short_enough_and_fits_into_utf_8_and_xml(text: str, longest: int) -> None:
    line = printable(text, longest)
    assert len(line) <= longest
    element = ET.Element("a")
    element.text = line
    assert (ET.fromstring(ET.tostring(element, encoding="utf-8")).text or "") == line
    assert printable(line, longest) == line
