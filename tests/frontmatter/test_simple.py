"""The quick reader of plain front matter."""

import pytest

from skillweave.frontmatter import Plain
from skillweave.frontmatter.simple import LONGEST, parse_simple


def test_texts_lists_and_mappings_of_one_level_are_read() -> None:
    parsed = parse_simple("a: x y\nb: '1'\nc: [x, \"y, z\"]\nd:\n- x\ne:\n  f: 1.0\ng:\n", 2)

    assert parsed is not None
    assert parsed.data == {"a": "x y", "b": "1", "c": ["x", "y, z"], "d": ["x"], "e": {"f": "1.0"}, "g": ""}
    assert parsed.lines == {
        ("a",): 2,
        ("b",): 3,
        ("c",): 4,
        ("c", 0): 4,
        ("c", 1): 4,
        ("d",): 5,
        ("d", 0): 6,
        ("e",): 7,
        ("e", "f"): 8,
        ("g",): 9,
    }


def test_unquoted_scalars_are_told_from_quoted_ones() -> None:
    parsed = parse_simple("a: 1\nb: '1'\n", 1)

    assert parsed is not None
    assert isinstance(parsed.data, dict)
    assert [isinstance(value, Plain) for value in parsed.data.values()] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: b: c\n",
        "a: b # c\n",
        "# a\n",
        "a: b\n\nc: d\n",
        "a: >\n  b\n",
        "a: b\n  c\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !b c\n",
        "a: {b: c}\n",
        "a: [[b]]\n",
        'a: "b\\n"\n',
        "a: 'b''c'\n",
        "a: b\na: c\n",
        "a:\n  b: c\n  b: d\n",
        "a:\n  b:\n    c: d\n",
        "a:\n- b\n  c: d\n",
        "a: b\tc\n",
        "--- a\n",
        "a: " + "b" * LONGEST,
    ],
)
def test_everything_else_is_left_to_the_events(text: str) -> None:
    assert parse_simple(text, 1) is None
