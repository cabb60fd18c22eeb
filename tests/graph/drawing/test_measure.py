"""Widths of text without a font, and lines that keep to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.drawing.figures import width_of, wrapped
from tests.graph.drawing.shapes import nasty


def test_wide_letters_are_wider_than_narrow_ones_and_marks_take_no_room() -> None:
    assert width_of("illi", 10) < width_of("lamb", 10) < width_of("WMWM", 10) < width_of("日本日本", 10)
    assert width_of("e\u0301", 10) == width_of("e", 10)
    assert width_of("ab", 20) == 2 * width_of("ab", 10)


def test_lines_break_between_words_and_after_the_signs_that_join_them() -> None:
    assert wrapped("says refund or charge", 10, 70, 3) == ("says refund", "or charge")
    assert wrapped("shipping-claim-handler", 10, 90, 3) == ("shipping-claim-", "handler")
    assert wrapped("lookup_order_status", 10, 80, 3) == ("lookup_order_", "status")


def test_a_word_without_a_break_is_cut_where_it_has_to_be() -> None:
    assert wrapped("x" * 20, 10, 63, 3) == ("x" * 10, "x" * 10)


def test_what_does_not_fit_into_the_lines_ends_in_an_ellipsis() -> None:
    assert wrapped("one two three four five", 10, 50, 2) == ("one two", "three f…")


@given(nasty, st.sampled_from((40.0, 80.0, 170.0)), st.integers(min_value=1, max_value=4))
def test_no_line_is_wider_than_it_may_be_and_none_is_lost(text: str, widest: float, most: int) -> None:
    lines = wrapped(text, 13, widest, most)
    assert len(lines) <= most
    assert all(width_of(line, 13) <= widest for line in lines)
    whole = "".join("".join(lines).split())
    if whole.endswith("…") and not text.rstrip().endswith("…"):
        assert "".join(text.split()).startswith(whole[:-1])
    else:
        assert whole == "".join(text.split())


@pytest.mark.parametrize("text", ["", "   "])
def test_nothing_takes_no_lines(text: str) -> None:
    assert wrapped(text, 13, 100, 3) == ()
