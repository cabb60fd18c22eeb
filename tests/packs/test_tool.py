"""A tool checks what comes in and what goes out; its refusals name place, rule and fix."""

from collections.abc import Awaitable, Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from skillweave.errors import InvalidValue
from skillweave.packs.tool import BrokenTool, JsonObject, Tool, ToolRefused

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"pages": {"type": "integer", "minimum": 1}, "title": {"type": "string", "maxLength": 40}},
    "required": ["pages"],
    "additionalProperties": False,
}
RETURNS: dict[str, Any] = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}


def days(arguments: JsonObject) -> JsonObject:
    pages = arguments["pages"]
    assert isinstance(pages, int)
    if pages > 900:
        raise ToolRefused("arguments#/pages", "nobody lends a book of that size", "ask for one of its volumes")
    return {"days": 7 + pages // 50}


def untouched(arguments: JsonObject) -> JsonObject:
    raise AssertionError(f"called with {arguments}")


def lending(run: Callable[[JsonObject], JsonObject | Awaitable[JsonObject]] = days) -> Tool:
    return Tool("lending_days", "For how many days a book is lent.", PARAMETERS, RETURNS, run)


async def test_a_tool_answers_arguments_that_fit() -> None:
    assert await lending().call({"pages": 300}) == {"days": 13}


async def test_a_tool_may_wait_for_its_answer() -> None:
    async def slowly(arguments: JsonObject) -> JsonObject:
        return days(arguments)

    assert await lending(slowly).call({"pages": 50}) == {"days": 8}


async def test_each_argument_that_breaks_a_rule_is_named_with_its_place_and_fix() -> None:
    with pytest.raises(ToolRefused) as raised:
        await lending().call({"pages": "many", "title": 7})
    both = [raised.value, *raised.value.others]
    assert {one.place for one in both} == {"arguments#/pages", "arguments#/title"}
    assert all(one.fix and one.why for one in both)
    assert str(raised.value).splitlines()[0] == (
        'arguments#/pages: "many" is not of type integer; give a value of type integer'
    )
    assert len(str(raised.value).splitlines()) == 2


async def test_an_argument_that_is_missing_or_unknown_is_refused() -> None:
    with pytest.raises(ToolRefused, match='"pages"; add it'):
        await lending().call({})
    with pytest.raises(ToolRefused, match='"isbn"'):
        await lending().call({"pages": 3, "isbn": "x"})


async def test_what_is_not_json_is_refused_before_it_runs() -> None:
    with pytest.raises(ToolRefused, match="not JSON data"):
        await lending(untouched).call({"pages": object()})
    with pytest.raises(ToolRefused, match="not a JSON number"):
        await lending(untouched).call({"pages": float("nan")})


async def test_arguments_without_end_are_refused_before_they_run() -> None:
    with pytest.raises(ToolRefused, match="more than 50,000 values"):
        await lending(untouched).call({"pages": [0] * 60_000})


async def test_a_refusal_of_the_computation_reaches_the_caller_as_it_is() -> None:
    with pytest.raises(ToolRefused) as raised:
        await lending().call({"pages": 1000})
    assert (raised.value.place, raised.value.fix) == ("arguments#/pages", "ask for one of its volumes")
    assert str(raised.value) == ("arguments#/pages: nobody lends a book of that size; ask for one of its volumes")


async def test_an_answer_that_the_tool_did_not_promise_is_its_own_mistake() -> None:
    with pytest.raises(BrokenTool, match=r"lending_days.*answer#/days") as raised:
        await lending(lambda _: {"days": "a week"}).call({"pages": 1})
    assert raised.value.tool == "lending_days"
    assert [one.path for one in raised.value.diagnostics] == ["answer#/days"]


async def test_a_schema_that_is_none_is_the_tools_own_mistake() -> None:
    broken = Tool("lending_days", "Days.", {"type": "object", "properties": {"pages": {"type": "page"}}}, RETURNS, days)
    with pytest.raises(BrokenTool, match="schema of arguments#/properties/pages"):
        await broken.call({"pages": 1})


async def test_the_function_may_change_its_arguments_without_touching_the_callers() -> None:
    def emptied(arguments: JsonObject) -> JsonObject:
        arguments.clear()
        return {"days": 1}

    given = {"pages": 1}
    await lending(emptied).call(given)
    assert given == {"pages": 1}


def test_a_declaration_is_the_function_that_a_model_is_told_of() -> None:
    assert lending().declaration() == {
        "name": "lending_days",
        "description": "For how many days a book is lent.",
        "parameters": PARAMETERS,
    }


def test_a_tool_cannot_be_changed() -> None:
    tool = lending()
    with pytest.raises(FrozenInstanceError):
        tool.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        tool.parameters["type"] = "array"  # type: ignore[index]


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "naïve"])
def test_a_name_that_models_do_not_take_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"Tool\(name=\.\.\.\)"):
        Tool(name, "Days.", PARAMETERS, RETURNS, days)


def test_a_tool_says_what_it_is_for() -> None:
    with pytest.raises(InvalidValue, match=r"Tool\(description=\.\.\.\)"):
        Tool("lending_days", " ", PARAMETERS, RETURNS, days)


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": "string"}])
def test_schemas_are_about_objects(schema: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=r"Tool\(parameters=\.\.\.\)"):
        Tool("lending_days", "Days.", schema, RETURNS, days)
    with pytest.raises(InvalidValue, match=r"Tool\(returns=\.\.\.\)"):
        Tool("lending_days", "Days.", PARAMETERS, schema, days)
