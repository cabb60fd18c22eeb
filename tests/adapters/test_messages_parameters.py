"""Calls know the parameters of their tools, so that no rule is judged on an argument that the tool does not have."""

from typing import Any

import pytest

from skillweave import Ruling, ToolPolicy
from skillweave.adapters.chat import parameters_in
from skillweave.adapters.messages import responses_style
from tests.chatting import ALL_SHAPES, Says, Shapes

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"cmd": {"type": "string"}, "cwd": {"type": "string"}}}


@pytest.fixture(params=ALL_SHAPES)
def shapes(request: pytest.FixtureRequest) -> Shapes:
    """The shapes of each style in turn."""
    return ALL_SHAPES[request.param]()


def declared(shapes: Shapes, name: str) -> dict[str, Any]:
    """A declaration of the style, with the schema."""
    tool = shapes.tool(name)
    inner = tool.get("function", tool)
    inner["input_schema" if "input_schema" in inner else "parameters"] = SCHEMA
    return tool


def test_a_call_knows_the_parameters_that_its_tool_declares(shapes: Shapes) -> None:
    style: Any = shapes.style
    reply = shapes.reply(Says(calls=(("shell", {"cmd": "ls"}), ("other", {}))), ["x", "y"])
    tools = [declared(shapes, "shell"), shapes.tool("other")]
    assert [call.parameters for call in style.calls(reply, tools)] == [("cmd", "cwd"), None]
    assert [call.parameters for call in style.calls(reply)] == [None, None]
    chat = shapes.heard([shapes.user("List.")], reply)
    assert [call.parameters for call in style.unanswered(chat, tools)] == [("cmd", "cwd"), None]


def test_an_argument_that_the_tool_does_not_have_is_refused_by_its_name(shapes: Shapes) -> None:
    style: Any = shapes.style
    reply = shapes.reply(Says(calls=(("shell", {"cmd": "rm -rf /", "command": "ls"}),)), ["x"])
    (call,) = style.calls(reply, [declared(shapes, "shell")])
    policy = ToolPolicy(forbidden_tools=("shell(rm:*)",))
    verdict = policy.authorize(call.name, call.arguments, parameters=call.parameters)
    assert verdict.ruling is Ruling.DENY


def test_a_custom_tool_has_its_input_alone() -> None:
    asked = {"type": "custom_tool_call", "call_id": "x", "name": "sql", "input": "drop table"}
    (call,) = responses_style.calls([asked], [{"type": "custom", "name": "sql"}])
    assert call.parameters == ("input",)


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (SCHEMA, ("cmd", "cwd")),
        ({**SCHEMA, "additionalProperties": False}, ("cmd", "cwd")),
        ({"type": "object", "properties": {}}, ()),
        ({**SCHEMA, "additionalProperties": True}, None),
        ({**SCHEMA, "additionalProperties": {"type": "string"}}, None),
        ({"type": "object"}, None),
        ({"type": "object", "additionalProperties": False}, ()),
        ({"$ref": "#/$defs/Shell"}, None),
        (None, None),
        ("object", None),
    ],
)
def test_a_schema_that_takes_more_than_it_names_says_no_parameters(schema: object, names: object) -> None:
    assert parameters_in(schema) == names
