from typing import Any

import pytest

from skillweave.contracts.codes import shown
from skillweave.tools import check_against


@pytest.mark.parametrize(
    ("schema", "value", "message", "fix"),
    [
        (
            {"type": ["integer", "null"]},
            "x",
            '"x" is not of type integer or null',
            "give a value of type integer or null",
        ),
        ({"type": "array"}, {}, "an object without keys is not of type array", "give a value of type array"),
        ({"const": {"a": 1}}, 1, "1 is not the one allowed value", 'give {"a": 1}'),
        ({"minimum": 2}, 1, "1 breaks the rule `minimum: 2`", "change it so that the rule holds"),
        ({"maxItems": 1}, [1, 2], "a list of 2 breaks the rule `maxItems: 1`", "change it so that the rule holds"),
        ({"pattern": "^b"}, "a", '"a" does not match the pattern', 'give a text that matches "^b"'),
        ({"not": {"type": "null"}}, None, 'null is what `not` forbids: {"type": "null"}', "give another value"),
        ({"properties": {"a": False}}, {"a": 1}, "1 stands where nothing may stand", "leave it out"),
        (
            {"oneOf": [{}, True]},
            1,
            "1 fits more than one of the 2 schemas of `oneOf`",
            "change it so that it fits exactly one",
        ),
        (
            {"required": list("abcdefg")},
            {},
            'it lacks what the schema requires: "a", "b", "c", "d", "e" and 2 more',
            "add it",
        ),
        (
            {"anyOf": [{"type": "null"}, {"properties": {"a": {"items": {"type": "string"}}}}]},
            {"a": ["x", 1]},
            (
                "an object with 1 key fits none of the 2 schemas of `anyOf`; "
                "nearest to one: at `#/a/1`, 1 is not of type string"
            ),
            "give a value of type string",
        ),
        (
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["x"]},
                    {"properties": {"kind": {"const": "b"}}, "required": ["y", "z"]},
                ]
            },
            {"kind": "b"},
            (
                "an object with 1 key fits none of the 2 schemas of `oneOf`; "
                'nearest to one: it lacks what the schema requires: "y", "z"'
            ),
            "add it",
        ),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            'an object with 1 key breaks the rule `dependentRequired: {"a": ["b"]}`',
            "change it so that the rule holds",
        ),
    ],
)
def test_each_rule_is_told_in_words(schema: Any, value: object, message: str, fix: str) -> None:
    (found,) = check_against(schema, value)
    assert (found.message, found.fix) == (message, fix)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("é\n", '"é\\n"'),
        ("x" * 100, '"' + "x" * 80 + '"… (100 characters)'),
        (10**100, "1" + "0" * 79 + "…"),
        ({}, "an object without keys"),
        ([], "an empty list"),
        ([1], "a list of 1"),
        ({"a": 1, "b": 2}, "an object with 2 keys"),
        (None, "null"),
    ],
)
def test_a_value_is_shown_short(value: object, text: str) -> None:
    assert shown(value) == text


def test_a_large_rule_is_not_written_out() -> None:
    (found,) = check_against({"enum": [f"value {n}" for n in range(5_000)]}, "x")
    assert found.fix == "give one of a list of 5000"
    (found,) = check_against({"enum": ["value" * 20] * 20}, "x")
    assert len(found.fix) < 250
