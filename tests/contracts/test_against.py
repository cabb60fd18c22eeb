import socket
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any

import pytest

from skillweave import Diagnostic
from skillweave.contracts import keywords
from skillweave.contracts.check import MOST
from skillweave.errors import MissingExtra
from skillweave.tools import check_against, prepare_schema

WELL: dict[str, Any] = {
    "type": "object",
    "required": ["id", "depth"],
    "additionalProperties": False,
    "properties": {"id": {"type": "string"}, "depth": {"type": "integer", "minimum": 0}, "tags": {"items": {}}},
}


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    return [finding.code for finding in found]


def nested(levels: int, key: str = "kid") -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {key: value}
    return value


def test_a_value_that_fits_gives_nothing() -> None:
    assert check_against(WELL, {"id": "7", "depth": 0}) == ()


def test_every_broken_rule_is_told_with_its_place_and_fix() -> None:
    found = check_against(WELL, {"depth": "deep", "colour": 1}, place="output", skill="spacing")
    assert [str(finding) for finding in found] == [
        'output#: error: it lacks what the schema requires: "id" [schema-mismatch]. add it',
        'output#: error: the schema has no place for "colour" (`additionalProperties`) [schema-mismatch]. leave it out',
        'output#/depth: error: "deep" is not of type integer [schema-mismatch]. give a value of type integer',
    ]
    assert {finding.skill for finding in found} == {"spacing"}


def test_the_place_is_the_json_pointer_in_its_fragment_form() -> None:
    schema = {"properties": {"a/b~ %ü\n": {"items": {"type": "string"}}}}
    (found,) = check_against(schema, {"a/b~ %ü\n": ["x", 1]}, place="output")
    assert str(found.location) == "output#/a~1b~0%20%25%C3%BC%0A/1"


def test_a_longer_pointer_is_cut() -> None:
    (found,) = check_against({"additionalProperties": {"type": "null"}}, {"x" * 9_000: 1})
    assert len(str(found.location)) < 600


def test_only_some_are_listed_and_the_others_counted() -> None:
    found = check_against({"items": {"type": "string"}}, list(range(MOST + 5)))
    assert codes(found) == ["schema-mismatch"] * MOST + ["more-mismatches"]
    assert found[-1].message == "5 more rules are broken"
    assert check_against({"items": {"type": "string"}}, [1, 2], most=1)[-1].message == "1 more rule is broken"


def test_frozen_data_is_the_same_as_plain_data() -> None:
    frozen = MappingProxyType({"id": "7", "depth": 1, "tags": ("a", MappingProxyType({}))})
    assert check_against(MappingProxyType(WELL), frozen) == ()


@pytest.mark.parametrize(
    ("schema", "fits"),
    [(True, True), (False, False), ({}, True), ({"not": {}}, False)],
)
def test_true_fits_anything_and_false_nothing(schema: Any, fits: bool) -> None:
    assert (check_against(schema, 1) == ()) is fits


@pytest.mark.parametrize(
    ("draft", "schema", "value", "fits"),
    [
        ("http://json-schema.org/draft-07/schema#", {"items": [{"type": "string"}]}, [1], False),
        ("http://json-schema.org/draft-07/schema", {"prefixItems": [{"type": "string"}]}, [1], True),
        ("https://json-schema.org/draft/2020-12/schema", {"prefixItems": [{"type": "string"}]}, [1], False),
        (None, {"prefixItems": [{"type": "string"}]}, [1], False),
    ],
)
def test_the_draft_is_what_the_schema_says(
    draft: str | None, schema: dict[str, Any], value: object, fits: bool
) -> None:
    said = {"$schema": draft} if draft else {}
    assert (check_against({**said, **schema}, value) == ()) is fits


def test_format_is_a_note() -> None:
    assert check_against({"format": "ipv4"}, "no address") == ()


@pytest.mark.parametrize(
    ("rules", "value", "fits"),
    [
        ({"pattern": "^a+$"}, "aaa", True),
        ({"pattern": "^a+$"}, "aaa\n", False),
        ({"pattern": "A"}, "a", False),
        ({"pattern": ""}, "", True),
        ({"pattern": "\\u00e9\\\\u"}, "é\\u", True),
        ({"patternProperties": {"^n": {"type": "integer"}}}, {"n1": "x"}, False),
        ({"patternProperties": {"^n": {}}, "additionalProperties": False}, {"n1": 1}, True),
        ({"patternProperties": {"^n": {}}, "additionalProperties": False}, {"n1": 1, "m": 1}, False),
        ({"propertyNames": {"pattern": "^n"}}, {"m": 1}, False),
    ],
)
def test_patterns_are_matched(rules: dict[str, Any], value: object, fits: bool) -> None:
    assert (check_against(rules, value) == ()) is fits


@pytest.mark.parametrize("pattern", ["^(a+)+$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_would_hang_elsewhere_is_matched_in_no_time(pattern: str) -> None:
    value = "ax" * 100_000 + "!"
    assert codes(check_against({"pattern": pattern}, value)) == ["schema-mismatch"]
    rules = {"patternProperties": {pattern: False}, "additionalProperties": True}
    assert check_against(rules, {value: 1}) == ()


def test_a_schema_inside_that_names_the_draft_gets_no_other_engine() -> None:
    draft = {"$schema": keywords.DEFAULT}
    inner = {**draft, "pattern": "^(a+)+$"}
    tree = {**draft, "properties": {"text": inner, "kid": {"$ref": "#"}}, "$defs": {"again": inner}}
    value = {"kid": {"text": "a" * 5_000 + "!"}}
    assert codes(check_against(tree, value)) == ["schema-mismatch"]


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    for reference in ("http://127.0.0.1:9/x.json", "https://example.org/x", "file:///etc/passwd", "other.json"):
        (found,) = check_against({"$ref": reference}, {})
        assert (found.code, str(found.location)) == ("schema-reference", "schema of value#")
        assert "nothing is ever fetched" in found.fix


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"not": {"if": {"$ref": "#"}}},
    ],
)
def test_a_schema_that_is_itself_is_given_up(schema: dict[str, Any]) -> None:
    assert codes(check_against(schema, nested(3))) == ["check-unfinished"]


def test_a_tree_of_itself_is_checked() -> None:
    tree = {"properties": {"kid": {"$ref": "#"}}, "additionalProperties": False}
    assert check_against(tree, nested(60)) == ()
    assert codes(check_against(tree, {"kid": {"kid": {"cat": 1}}})) == ["schema-mismatch"]


def test_however_deep_the_caller_is_nothing_is_raised() -> None:
    schemas = [{"$ref": "#"}, {"properties": {"kid": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}}]

    def at(depth: int) -> tuple[Diagnostic, ...]:
        return tuple(x for s in schemas for x in check_against(s, nested(60))) if depth == 0 else at(depth - 1)

    for depth in range(0, 880, 40):
        assert set(codes(at(depth))) <= {"check-unfinished", "schema-too-large"}


DOUBLED = {"a0": {"type": "string"}, **{f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, 40)}}
BRANCHED = {
    "a0": {"properties": {"kid": True}},
    **{
        f"a{n}": {"dependentSchemas": {key: {"$ref": f"#/$defs/a{n - 1}"} for key in ("kid", "cat")}}
        for n in range(1, 40)
    },
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"$defs": DOUBLED, "$ref": "#/$defs/a39"}, "x"),
        ({"$defs": BRANCHED, "$ref": "#/$defs/a39"}, {"kid": 1, "cat": 1}),
        ({"items": {"enum": [{"a": n} for n in range(2_000)]}}, [{"a": 0}] * 10_000),
        ({"anyOf": [{"type": "integer"}] * 1_000}, "x" * 1_000_000),
    ],
)
def test_a_check_that_would_take_for_ever_is_given_up(
    schema: dict[str, Any], value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = prepare_schema(schema)
    monkeypatch.setattr(keywords, "BUDGET", 50_000)
    assert codes(check_against(prepared, value)) == ["check-unfinished"]


def test_many_items_are_compared_in_one_pass() -> None:
    items = [{"a": [n, [n]]} for n in range(9_000)]
    assert check_against({"uniqueItems": True}, items) == ()
    (found,) = check_against({"uniqueItems": True}, [*items, {"a": [7.0, [7]]}])
    assert found.message == "the items 7 and 9000 are equal, and all must differ (`uniqueItems`)"


def test_numbers_with_one_hash_take_no_longer_than_others() -> None:
    assert check_against({"uniqueItems": True}, [n * (2**61 - 1) for n in range(40_000)]) == ()


@pytest.mark.parametrize("items", [[-0.0, 0], [1e299, int(1e299)], [[2.0], [2]]])
def test_what_json_calls_equal_is_equal(items: list[object]) -> None:
    assert codes(check_against({"uniqueItems": True}, items)) == ["schema-mismatch"]


@pytest.mark.parametrize(
    "items", [[1, True], [0, False], ["1", 1], [[1], {"0": 1}], [None, False], [{"a": 1}, {"a": True}]]
)
def test_what_json_calls_different_is_different(items: list[object]) -> None:
    assert check_against({"uniqueItems": True}, items) == ()


def test_what_is_found_before_the_work_is_used_up_is_told() -> None:
    schema = {"type": "string", "items": {"enum": [{"a": n} for n in range(2_000)]}}
    assert codes(check_against(schema, [{"a": 0}] * 10_000)) == ["schema-mismatch", "check-unfinished"]


def test_a_prepared_schema_checks_the_same_in_many_threads() -> None:
    prepared = prepare_schema(WELL)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: check_against(prepared, {"id": n, "depth": 1}), range(200)))
    assert {codes(one)[0] for one in found} == {"schema-mismatch"}
    assert check_against(prepared, {"id": "x", "depth": 1}) == ()


def test_a_schema_with_a_mistake_checks_nothing() -> None:
    (found,) = check_against({"type": "strng"}, 1, place="output", skill="a")
    assert (found.code, str(found.location), found.skill) == ("schema-invalid", "schema of output#/type", "a")


def test_a_missing_package_is_one_line_that_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    keywords.checker_for.cache_clear()
    with pytest.raises(MissingExtra, match=r"needs the package jsonschema.*pip install 'skillweave\[schema\]'"):
        check_against({"title": "never seen before"}, 1)
