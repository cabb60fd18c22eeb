import pytest
import typer

from skillweave import ToolResult
from skillweave.cli.arguments.turn import results_of


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ('lookup={"paid":true}', ToolResult("lookup", '{"paid":true}')),
        ("lookup:failure={}", ToolResult("lookup", "{}", "failure")),
        ("lookup=", ToolResult("lookup", "")),
        ("lookup=a=b", ToolResult("lookup", "a=b")),
        ("lookup=nothing was found", ToolResult("lookup", "nothing was found")),
        ("lookup=[1, 2]", ToolResult("lookup", "[1, 2]")),
        ("server:lookup:denied={}", ToolResult("server:lookup", "{}", "denied")),
        ('lookup={"when": "12:30"}', ToolResult("lookup", '{"when": "12:30"}')),
    ],
)
def test_a_result_is_a_tool_perhaps_its_status_and_what_it_answered(given: str, result: ToolResult) -> None:
    assert results_of([given]) == (result,)


def test_results_keep_their_order() -> None:
    assert [one.tool for one in results_of(["b=", "a=", "b=x"])] == ["b", "a", "b"]
    assert results_of(None) == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("lookup", "'lookup' is no TOOL=JSON"),
        ("={}", "'={}' is no TOOL=JSON"),
        (":success={}", "':success={}' is no TOOL=JSON"),
        ("lookup:sucess={}", "'sucess' is no status of a result, which is one of success, failure"),
        ("lookup={found: true}", "what 'lookup' answered is no JSON"),
        ('lookup={"found": NaN}', "what 'lookup' answered is no JSON"),
        ("lookup=[1, 2", "what 'lookup' answered is no JSON"),
        ("lookup=" + "[" * 100_000, "what 'lookup' answered is no JSON"),
    ],
)
def test_what_is_no_result_is_refused_with_what_it_should_be(given: str, words: str) -> None:
    with pytest.raises(typer.BadParameter) as refused:
        results_of([given])
    assert words in str(refused.value)
