"""What a cell of a CSV file says, and how a value is put into one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.frozen import freeze
from skillweave.sources.entity_reading import (
    Empty,
    cell_of,
    cell_of_text,
    cell_of_texts,
    is_formula,
    text_of,
    texts_of,
    value_of,
)
from tests.sources.entity_strategies import texts, values


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("45", 45),
        (" 45 ", 45),
        ("-45", -45),
        ("0", 0),
        ("1.50", 1.5),
        ("640.0", 640.0),
        ("-0.25", -0.25),
        ("1e+22", 1e22),
        ("5e-324", 5e-324),
        ("1234567890123456789012345", 1234567890123456789012345),
        ("true", True),
        ("false", False),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('{"0": 29600}', {"0": 29600}),
        ('"45"', "45"),
        ('""', ""),
    ],
)
def test_a_cell_that_is_json_is_its_value(cell: str, value: Any) -> None:
    assert (value_of(cell), type(value_of(cell))) == (value, type(value))


@pytest.mark.parametrize(
    "cell",
    [
        *("08", "007", "-007", "+5", "1,5", "1 000", "1_000", "1E5", "1e5", ".5", "5.", "0x1f", "1:30", "2026-03-01"),
        *("42-329-12345", "08-48213", "NaN", "-inf", "Infinity", "True", "NULL", "١٢", "-", "--"),
        *("[draft]", "{a}", '"Big" Bob', "[1, 2", '{"a": 1, "a": 2}', "[NaN]", " with spaces ", "a\nb"),
        *("12345678901234567890.5", "0.1000000000000000055511151231257827", "1e999", "9" * 5000, "[" * 100_000),
    ],
    ids=lambda cell: cell[:20],
)
def test_a_cell_that_is_none_is_its_text(cell: str) -> None:
    assert value_of(cell) == cell


@pytest.mark.parametrize("cell", ["", " ", "\t"])
def test_an_empty_cell_says_nothing(cell: str) -> None:
    assert value_of(cell) is Empty.CELL


@given(values)
def test_a_value_comes_back_from_its_cell(value: Any) -> None:
    # As text, since 1 equals 1.0 and True.
    assert json.dumps(value_of(cell_of(freeze(value)))) == json.dumps(value)


@given(texts)
def test_a_text_comes_back_from_a_cell_for_texts(text: str) -> None:
    assert text_of(cell_of_text(text)) == text


@given(st.lists(texts.filter(lambda text: bool(text.strip())), max_size=4))
def test_texts_come_back_from_their_cell(several: list[str]) -> None:
    assert texts_of(cell_of_texts(several)) == several


@given(values | texts)
def test_no_text_is_written_as_a_formula(value: Any) -> None:
    cell = cell_of(freeze(value))
    assert isinstance(value, int | float) or not is_formula(cell)


@given(texts, st.lists(texts, min_size=1, max_size=3))
def test_no_name_is_written_as_a_formula(text: str, several: list[str]) -> None:
    assert not is_formula(cell_of_text(text))
    assert not is_formula(cell_of_texts(several))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1 day", "@x", "\t=1", " =1", "＝1", "\r=1"])
def test_a_formula_is_a_text_in_quotation_marks(text: str) -> None:
    assert cell_of(text) == cell_of_text(text) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize("text", ["Mitchell", "a = b", "5-1", "", "a@b.org", "x=1"])
def test_a_text_that_is_no_formula_stays_readable(text: str) -> None:
    assert cell_of_text(text) == text


@pytest.mark.parametrize(
    ("cell", "several"),
    [
        ("a|b c | d", ["a", "b c", "d"]),
        ("", []),
        (" | ", []),
        ('["a|b", "c"]', ["a|b", "c"]),
        ("[a]|b", ["[a]", "b"]),
        ("[1]", ["[1]"]),
    ],
)
def test_several_texts_stand_between_bars_or_in_a_list(cell: str, several: list[str]) -> None:
    assert texts_of(cell) == several
