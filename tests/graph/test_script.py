from typing import Any

import pytest

from skillweave import ToolResult
from skillweave.errors import InvalidGraph
from skillweave.frontmatter.documents import read_yaml
from skillweave.graph import By, Expect, Step
from skillweave.graph.simulate import read_script


def test_a_script_is_a_list_of_what_the_user_says_what_tools_answer_and_what_the_model_picks() -> None:
    script = [
        {"user": "I was charged twice"},
        {"tool": "lookup_order", "result": {"found": True}, "status": "partial", "call": "c1"},
        {"tools": [{"tool": "a"}, {"tool": "b", "result": "x"}]},
        {"pick": "refund"},
        {"user": "hi", "tool": "t", "pick": ["a", "b"]},
        {},
    ]
    assert read_script(script) == (
        Step(user="I was charged twice"),
        Step(tools=(ToolResult("lookup_order", '{"found": true}', "partial", "c1"),)),
        Step(tools=(ToolResult("a", ""), ToolResult("b", "x"))),
        Step(picks=("refund",)),
        Step(user="hi", tools=(ToolResult("t", ""),), picks=("a", "b")),
        Step(),
    )


def test_a_text_is_what_the_user_says_and_values_stay_as_they_are() -> None:
    result, step = ToolResult("t", "x"), Step(picks=("a",))
    assert read_script(["hello", result, step]) == (Step(user="hello"), Step(tools=(result,)), step)


def test_a_script_may_stand_under_steps() -> None:
    assert read_script({"steps": ["hello"]}) == read_script(["hello"])
    assert read_script({"steps": []}) == read_script([]) == ()


def test_a_script_in_yaml_is_typed_where_it_is_not_quoted() -> None:
    document = read_yaml("steps:\n- hello\n- {tool: t, result: {n: 3}, expect: {to: }}\n- {pick: 7}", path="s.yaml")
    assert document.data is not None
    assert read_script(document.data) == (
        Step(user="hello"),
        Step(tools=(ToolResult("t", '{"n": 3}'),), expect=Expect(None)),
        Step(picks=("7",)),
    )


@pytest.mark.parametrize(
    ("data", "expect"),
    [
        ("refund", Expect("refund")),
        (None, Expect(None)),
        ({"to": "refund"}, Expect("refund")),
        ({"to": None}, Expect(None)),
        ({"to": "refund", "by": "route"}, Expect("refund", By.ROUTE)),
        ({"by": "stay"}, Expect(by=By.STAY, any_to=True)),
    ],
)
def test_a_step_may_say_where_it_should_lead(data: object, expect: Expect) -> None:
    (step,) = read_script([{"user": "x", "expect": data}])
    assert step.expect == expect


def test_what_is_not_expected_does_not_matter() -> None:
    assert Expect("a").holds("a", By.ROUTE) and not Expect("a").holds("b", By.ROUTE)
    assert Expect("a", By.PICK).holds("a", By.PICK) and not Expect("a", By.PICK).holds("a", By.ROUTE)
    assert Expect(by=By.STAY, any_to=True).holds("b", By.STAY)
    assert Expect(None).holds(None, By.NONE) and not Expect(None).holds("a", By.ENTRY)


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (3, "steps: it is the number 3, and a list is expected"),
        ({"step": []}, "the script: the key 'step' means nothing here; did you mean 'steps'"),
        ([3], "steps[0]: it is the number 3, and a mapping is expected; write {user: TEXT}"),
        ([{}, {"usr": "x"}], "steps[1]: the key 'usr' means nothing here; did you mean 'user'"),
        ([{"user": 3}], "steps[0].user: it is the number 3, and text is expected"),
        ([{"user": None}], "steps[0].user: it is empty"),
        ([{"result": 3}], "steps[0]: the result has no `tool`"),
        ([{"tool": "a", "tools": []}], "steps[0]: `tools` and `tool` stand beside each other"),
        ([{"tools": {"tool": "a"}}], "steps[0].tools: it is a mapping, and a list is expected"),
        ([{"tools": [{"tool": 3}]}], "steps[0].tools[0].tool: it is the number 3"),
        ([{"pick": {}}], "steps[0].pick: it is a mapping, and a list is expected"),
        ([{"expect": {}}], "steps[0].expect: nothing is expected"),
        ([{"expect": 3}], "steps[0].expect: it is the number 3, and a mapping is expected"),
        ([{"expect": {"skill": "a"}}], "steps[0].expect: the key 'skill' means nothing here"),
        ([{"expect": {"by": "rout"}}], "steps[0].expect.by: nothing moves by the text 'rout'; did you mean 'route'"),
        (["x"] * 10_001, "steps: it has 10,001 items, and 10,000 are allowed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_script_of_a_wrong_shape_is_refused_with_its_place(script: Any, error: str) -> None:
    with pytest.raises(InvalidGraph) as raised:
        read_script(script)
    assert str(raised.value).startswith(error)
