"""Laws of checking values against schemas: the answer of `jsonschema`, and never an exception."""

from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from skillweave.contracts.output import read_answer
from skillweave.diagnostics import has_errors
from skillweave.tools import check_against, prepare_schema
from tests.contracts.schemas import VALUES, schemas

DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": jsonschema.Draft202012Validator,
    "http://json-schema.org/draft-07/schema#": jsonschema.Draft7Validator,
}
GIVEN_UP = {"schema-invalid", "schema-reference", "check-unfinished"}


def codes(schema: Any, value: object) -> set[str]:
    return {finding.code for finding in check_against(schema, value)}


@given(schemas(patterns=True), VALUES)
def test_it_finds_fault_exactly_where_jsonschema_does(schema: Any, value: object) -> None:
    assert bool(codes(schema, value)) is not jsonschema.Draft202012Validator(schema).is_valid(value)


@given(schemas(patterns=True, references=True), VALUES)
def test_references_change_nothing_about_that(schema: Any, value: object) -> None:
    found = codes(schema, value)
    if not found & GIVEN_UP:
        assert bool(found) is not jsonschema.Draft202012Validator(schema).is_valid(value)


@given(schemas(patterns=True), VALUES, st.sampled_from(sorted(DRAFTS)))
def test_other_drafts_change_nothing_about_that(schema: Any, value: object, draft: str) -> None:
    said = {"$schema": draft, **schema} if isinstance(schema, dict) else schema
    found = codes(said, value)
    if not found & GIVEN_UP and isinstance(schema, dict):
        assert bool(found) is not DRAFTS[draft](said).is_valid(value)


ODD = st.sampled_from(
    ["$ref", "$id", "id", "$anchor", "$dynamicRef", "$recursiveRef", "$schema", "items", "definitions"]
)
ODDITIES = VALUES | st.dictionaries(ODD, VALUES | st.sampled_from(["http://[", "#/a/b", "#/enum/0", "#a"]), max_size=3)


def spoiled(draw: st.DrawFn, schema: Any) -> Any:
    """The schema with something odd somewhere in it."""
    if isinstance(schema, dict) and schema and draw(st.integers(0, 3)):
        key = draw(st.sampled_from(sorted(schema)))
        return {**schema, key: spoiled(draw, schema[key])}
    if isinstance(schema, list) and schema and draw(st.integers(0, 3)):
        place = draw(st.integers(0, len(schema) - 1))
        return [spoiled(draw, part) if at == place else part for at, part in enumerate(schema)]
    return draw(ODDITIES)


@st.composite
def spoiled_schemas(draw: st.DrawFn) -> Any:
    schema = spoiled(draw, draw(schemas(patterns=True, references=True)))
    draft = draw(st.sampled_from([None, *sorted(DRAFTS), "http://json-schema.org/draft-06/schema"]))
    return {"$schema": draft, **schema} if draft and isinstance(schema, dict) else schema


@given(spoiled_schemas(), VALUES)
def test_nothing_is_ever_raised(schema: Any, value: object) -> None:
    found = check_against(schema, value)
    assert bool(prepare_schema(schema).problems) is any(str(one.location).startswith("schema of") for one in found)
    assert has_errors(found) is bool(found)


@given(st.text() | st.lists(st.sampled_from(["```", "~~~", "json", "\n", "{", '"a":1', "}", " ", "`"])).map("".join))
def test_any_text_is_read_as_json_or_said_to_be_none(text: str) -> None:
    read = read_answer(text)
    assert read.is_json or read.problems
