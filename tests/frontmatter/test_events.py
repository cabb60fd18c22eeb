"""YAML as a stream of events: data with the line of every key and item."""

import pytest
import yaml

from skillweave.frontmatter.yaml_text import FRONT_MATTER_LIMITS, PARSER, Parser, Plain, Refused, parse


def test_texts_lists_and_mappings_of_one_level_are_read() -> None:
    parsed = parse("a: x y\nb: '1'\nc: [x, \"y, z\"]\nd:\n- x\ne:\n  f: 1.0\ng:\n", FRONT_MATTER_LIMITS, 2)

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
    parsed = parse("a: 1\nb: '1'\n", FRONT_MATTER_LIMITS)

    assert isinstance(parsed.data, dict)
    assert [isinstance(value, Plain) for value in parsed.data.values()] == [True, False]


_VALUES = (
    "w",
    "a b: c",
    "a:b",
    "a :b",
    "a #b",
    "a#b",
    '"q w"',
    '""',
    '"q" w',
    '"q\\n"',
    "'q'",
    "w \n  more",
    "é — /",
    "",
)


@pytest.mark.parametrize("value", _VALUES)
@pytest.mark.parametrize("text", ["a: {}\nb: x\n", "a:\n  b: {}\n  c: x\nb: {}\n", "a: x\n  b: {}\n", "a: x\na: {}\n"])
def test_simple_texts_are_read_as_the_parser_in_python_reads_them(text: str, value: str) -> None:
    assert _said(text.replace("{}", value), yaml.SafeLoader) == _said(text.replace("{}", value), PARSER)


def _said(text: str, parser: Parser) -> object:
    try:
        parsed = parse(text, FRONT_MATTER_LIMITS, parser=parser)
    except Refused as refused:
        return refused.code, refused.line
    return parsed, repr(parsed.data), str(_kinds(parsed.data))


def _kinds(data: object) -> object:
    return [_kinds(value) for value in data.values()] if isinstance(data, dict) else type(data)
