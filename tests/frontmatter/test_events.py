"""YAML as a stream of events: data with the line of every key and item."""

from skillweave.frontmatter.yaml_text import FRONT_MATTER_LIMITS, Plain, parse


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
