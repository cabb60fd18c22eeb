from typing import Any

import pytest

from skillweave.contracts import keywords
from skillweave.contracts.check import check_schema
from skillweave.tools import prepare_schema

OLD = "http://json-schema.org/draft-07/schema#"
DEEP: dict[str, Any] = {}
for _ in range(70):
    DEEP = {"not": DEEP}


def told(schema: Any) -> list[tuple[str, str]]:
    return [(finding.code, str(finding.location)) for finding in check_schema(schema)]


@pytest.mark.parametrize(
    ("schema", "code", "place"),
    [
        ({"type": 5}, "schema-invalid", "schema#/type"),
        ({"properties": {"a": {"minLength": -1}}}, "schema-invalid", "schema#/properties/a/minLength"),
        ([], "schema-invalid", "schema#"),
        (None, "schema-invalid", "schema#"),
        ({"default": {1}}, "schema-invalid", "schema#/default"),
        ({"$schema": "https://example.org/mine"}, "schema-draft", "schema#/$schema"),
        ({"$schema": 5}, "schema-draft", "schema#/$schema"),
        ({"not": {"$schema": OLD}}, "schema-draft", "schema#/not"),
        ({"not": {"pattern": "("}}, "schema-pattern", "schema#/not"),
        ({"patternProperties": {"(?<!a)": True}}, "schema-pattern", "schema#"),
        ({"$defs": {"unused": {"pattern": "a{1000}{1000}"}}}, "schema-pattern", "schema#/$defs/unused"),
        ({"$ref": "#/$defs/none"}, "schema-reference", "schema#"),
        ({"$ref": "#none"}, "schema-reference", "schema#"),
        ({"title": "x", "not": {"$ref": "#/title"}}, "schema-reference", "schema#/not"),
        ({"title": "x", "not": {"$ref": "#/title/x"}}, "schema-reference", "schema#/not"),
        ({"enum": [1], "not": {"$ref": "#/enum/0/x"}}, "schema-reference", "schema#/not"),
        ({"enum": [1], "not": {"$ref": "#/enum/x"}}, "schema-reference", "schema#/not"),
        ({"$id": "http://a", "not": {"$id": "b"}}, "schema-rule", "schema#/not"),
        ({"$defs": {"a": {"$anchor": "a"}}, "$ref": "#a"}, "schema-reference", "schema#"),
        ({"$dynamicRef": "#x"}, "schema-rule", "schema#"),
        ({"unevaluatedItems": False}, "schema-rule", "schema#"),
        ({"not": {"unevaluatedProperties": False}}, "schema-rule", "schema#/not"),
        ({"mine": {"type": "foo"}, "$ref": "#/mine"}, "schema-invalid", "schema#/mine/type"),
        ({"mine": {"$ref": "#/none"}, "$ref": "#/mine"}, "schema-reference", "schema#/mine"),
        (DEEP, "schema-too-large", "schema#" + "/not" * 65),
        ({"enum": list(range(30_000))}, "schema-too-large", "schema#/enum/19998"),
        ({"const": "x" * 2_000_000}, "schema-too-large", "schema#/const"),
        ({"$schema": "http://json-schema.org/draft-04/schema#"}, "schema-draft", "schema#/$schema"),
        ({"$schema": OLD, "not": {"$ref": 5}}, "schema-invalid", "schema#/not/$ref"),
    ],
)
def test_what_is_wrong_with_a_schema_is_told_with_its_place(schema: Any, code: str, place: str) -> None:
    assert told(schema) == [(code, place)]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"$schema": {"type": "string"}, "$ref": {"type": "string"}}},
        {"const": {"$schema": OLD, "$ref": 5, "pattern": "("}},
        {"$id": "http://["},
        {"unknown": {"pattern": "("}},
        {"$schema": OLD, "definitions": {"a~/b": {}}, "$ref": "#/definitions/a~0~1b"},
    ],
)
def test_what_only_looks_wrong_is_not(schema: Any) -> None:
    assert told(schema) == []


def test_at_most_five_mistakes_are_told() -> None:
    assert len(told({"properties": {str(n): {"type": n} for n in range(20)}})) == 5
    assert len(told({"properties": {str(n): {"$ref": f"#{n}"} for n in range(20)}})) == 5
    assert len(told({"properties": {str(n): {"pattern": f"({n}"} for n in range(20)}})) == 5


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"pattern": f"a{{{n}}}"} for n in range(600)]},
        {"allOf": [{"$ref": f"#none{n}"} for n in range(600)]},
        {"x": {str(n): {"not": {}} for n in range(300)}, "allOf": [{"$ref": f"#/x/{n}"} for n in range(300)]},
    ],
)
def test_a_schema_that_is_too_much_work_is_given_up(schema: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keywords, "BUDGET", 50_000)
    assert {code for code, _ in told(schema)} == {"schema-too-large"}


def test_a_schema_is_looked_through_once() -> None:
    schema = {"title": "once", "type": "object"}
    assert prepare_schema(schema) is prepare_schema(dict(schema))


def test_a_schema_that_is_changed_afterwards_is_another_one() -> None:
    schema: dict[str, Any] = {"title": "twice", "type": "object"}
    before = prepare_schema(schema)
    schema["type"] = "nonsense"
    assert prepare_schema(schema).problems
    assert not before.problems
