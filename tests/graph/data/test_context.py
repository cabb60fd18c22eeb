import json
from typing import Any

import pytest

from skillweave import Message, Role, ToolResult
from skillweave.errors import InvalidGraph
from skillweave.frontmatter.documents import read_yaml
from skillweave.graph import MoveContext
from skillweave.graph.data.context import read_context


def test_nothing_is_the_first_moment_of_a_conversation() -> None:
    assert read_context({}) == MoveContext()


def test_every_key_of_a_moment_is_read() -> None:
    data = {
        "user": "I was charged twice",
        "iteration": 2,
        "history": [
            "hello",
            {"role": "assistant", "content": "hi"},
            {"role": "developer", "content": None, "id": "m3"},
        ],
        "current": "triage",
        "tools": [
            {"tool": "lookup_order", "result": {"risk": "high"}, "call": "c1", "status": "partial"},
            {"tool": "note", "result": "written"},
        ],
        "pick": "refund",
        "visits": {"triage": 2},
        "trail": ["intake", "triage"],
    }
    assert read_context(data) == MoveContext(
        user="I was charged twice",
        iteration=2,
        history=(
            Message(Role.USER, "hello"),
            Message(Role.ASSISTANT, "hi"),
            Message(Role.SYSTEM, None, "m3"),
        ),
        current="triage",
        tools=(
            ToolResult("lookup_order", '{"risk": "high"}', "partial", "c1"),
            ToolResult("note", "written"),
        ),
        picks=("refund",),
        visits={"triage": 2},
        trail=("intake", "triage"),
    )


def test_last_tool_counts_where_there_is_no_tools() -> None:
    last = {"tool": "t", "result": "x"}
    assert read_context({"last_tool": last}).tools == (ToolResult("t", "x"),)
    assert read_context({"last_tool": last, "tools": None}).tools == (ToolResult("t", "x"),)
    assert read_context({"last_tool": last, "tools": []}).tools == ()
    assert read_context({"last_tool": last, "tools": [{"tool": "u"}]}).tools == (ToolResult("u", ""),)


@pytest.mark.parametrize("result", [{"n": [1, None, True]}, [1, 2], 3, 2.5, False, None, {}])
def test_a_result_that_is_no_text_is_written_back_as_json(result: object) -> None:
    (read,) = read_context({"last_tool": {"tool": "t", "result": result}}).tools
    assert json.loads(read.content) == result


def test_a_result_that_is_text_stays_as_it_stands() -> None:
    (read,) = read_context({"last_tool": {"tool": "t", "result": '{"n": 1}'}}).tools
    assert read.content == '{"n": 1}'


def test_results_in_yaml_are_typed_where_they_are_not_quoted() -> None:
    text = 'tools: [{tool: t, result: {n: 3, code: "3", ok: true}}, {tool: u, result: "3"}, {tool: v, result: 3}]'
    data = read_yaml(text, path="ctx.yaml").data
    assert data is not None
    contents = [result.content for result in read_context(data).tools]
    assert contents == ['{"n": 3, "code": "3", "ok": true}', "3", "3"]


def test_null_is_like_an_absent_key() -> None:
    keys = ("user", "iteration", "history", "current", "last_tool", "tools", "pick", "visits", "trail")
    assert read_context(dict.fromkeys(keys)) == MoveContext()


def test_a_pick_is_one_or_several() -> None:
    assert read_context({"pick": ["a", "b"]}).picks == ("a", "b")
    assert read_context({"pick": []}).picks == ()


def test_an_unknown_skill_is_for_the_move_to_refuse() -> None:
    assert read_context({"current": "no such\nskill", "pick": "*"}).picks == ("*",)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ({"usr": "x"}, "the context: the key 'usr' means nothing here; did you mean 'user'?"),
        ({"user": 3}, "user: it is the number 3, and text is expected"),
        ({"iteration": 0}, "iteration: it is the number 0; write a number from 1"),
        ({"iteration": "x"}, "iteration: it is the text 'x', and a number is expected"),
        ({"history": "x"}, "history: it is the text 'x', and a list is expected"),
        ({"history": [3]}, "history[0]: it is the number 3, and a mapping is expected"),
        ({"history": [{"role": "usr"}]}, "history[0].role: it is the text 'usr'; write one of system, user"),
        ({"history": [{"role": "user", "content": 3}]}, "history[0].content: it is the number 3"),
        ({"history": [{"role": "user", "text": "x"}]}, "history[0]: the key 'text' means nothing here"),
        ({"current": ["a"]}, "current: it is a list, and text is expected"),
        ({"current": ""}, "current: the text is empty"),
        ({"last_tool": "t"}, "last_tool: it is the text 't', and a mapping is expected; write {tool: NAME"),
        ({"last_tool": {"result": 1}}, "last_tool: the result has no `tool`"),
        ({"tools": {"tool": "t"}}, "tools: it is a mapping, and a list is expected"),
        ({"tools": [{"tool": "t", "name": "x"}]}, "tools[0]: the key 'name' means nothing here"),
        ({"tools": [{"tool": "t", "status": 3}]}, "tools[0].status: it is the number 3"),
        ({"tools": [{"tool": "t", "result": float("nan")}]}, "tools[0].result: it holds nan, which JSON does not"),
        ({"tools": [{"tool": "t", "result": {1: 2}}]}, "tools[0].result: it holds a key of type int"),
        ({"pick": 3}, "pick: it is the number 3, and a list is expected"),
        ({"pick": ["a", None]}, "pick[1]: it is empty, and text is expected"),
        ({"visits": ["a"]}, "visits: it is a list, and a mapping is expected"),
        ({"visits": {"a": -1}}, "visits.a: it is the number -1"),
        ({"trail": "a"}, "trail: it is the text 'a', and a list is expected"),
    ],
    ids=lambda value: json.dumps(value)[:50] if isinstance(value, dict) else "",
)
def test_a_moment_of_a_wrong_shape_is_refused_with_its_place(data: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidGraph) as raised:
        read_context(data)
    assert str(raised.value).startswith(error)


def test_a_result_without_end_does_not_overflow_the_stack() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidGraph, match=r"last_tool\.result: it holds data nested deeper than 64"):
        read_context({"last_tool": {"tool": "t", "result": deep}})


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_a_context_that_is_no_mapping_is_refused(data: Any) -> None:
    with pytest.raises(InvalidGraph, match=r"^the context: it is .*, and a mapping is expected"):
        read_context(data)


def test_a_status_that_is_none_of_the_seven_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidGraph, match=r"tools\[0\]\.status: .*sucess.* write one of success, failure"):
        read_context({"tools": [{"tool": "look", "result": "", "status": "sucess"}]})


def test_a_result_without_a_status_or_with_null_is_a_success() -> None:
    found = read_context({"tools": [{"tool": "look"}, {"tool": "look", "status": None}]})
    assert [result.status for result in found.tools] == ["success", "success"]
