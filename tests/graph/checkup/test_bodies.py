import pytest

from skillweave.graph import Decide, Declared, Entry, GraphSkill
from tests.graph.checkup.graphs import codes, graph, only, words

ORDERS = GraphSkill("orders", tools=("lookup_order", "search", "Read", "mcp__shop__*"))


def with_body(body: str, tools: tuple[str, ...] | None = ("refund_order",), *others: GraphSkill) -> Declared:
    skills = (GraphSkill("refund", tools=tools, body=body), *(others or (ORDERS,)))
    return graph(Entry("refund"), Entry("orders"), skills=skills)


@pytest.mark.parametrize(
    "body",
    ["Call lookup_order first.", "`lookup_order`", "lookup_order(id)", "Then `search` it.", "search(words)", "`Read`"],
)
def test_a_text_that_names_another_skills_tool_is_body_foreign_tool(body: str) -> None:
    problem = only(with_body(body), "body-foreign-tool")
    assert problem.skill == "refund"
    assert "`orders`" in problem.message


@pytest.mark.parametrize(
    "body",
    ["Call refund_order.", "my_lookup_order", "lookup_orders", "LOOKUP_ORDER", "Search the web.", "Read the file.", ""],
)
def test_own_tools_longer_words_and_ordinary_words_are_not_foreign(body: str) -> None:
    assert "body-foreign-tool" not in codes(with_body(body))


def test_a_tool_of_the_host_is_nobodys_own() -> None:
    assert "body-foreign-tool" not in codes(with_body("Call lookup_order."), known_tools=["lookup_order"])
    assert "body-foreign-tool" in codes(with_body("Call lookup_order."), known_tools=["bash"])


def test_a_tool_that_both_may_use_is_not_foreign() -> None:
    assert "body-foreign-tool" not in codes(with_body("Call lookup_order.", ("lookup_order",)))


def test_a_skill_that_states_no_tools_may_name_any() -> None:
    assert "body-foreign-tool" not in codes(with_body("Call lookup_order.", None))


def test_all_foreign_tools_of_a_text_are_one_finding_in_the_order_of_the_text() -> None:
    assert "`search` and `lookup_order`" in only(with_body("search(x), lookup_order"), "body-foreign-tool").message


def test_a_text_that_calls_a_tool_that_nobody_has_is_body_unknown_tool() -> None:
    problem = only(with_body("Use refnd_order(id), lookup_order(id) and find_it(x)."), "body-unknown-tool")
    assert problem.skill == "refund"
    assert "`refnd_order` and `find_it`" in problem.message
    assert problem.fix == "Write `refund_order`."


@pytest.mark.parametrize(
    "body",
    [
        "refund_order(id)",
        "lookup_order(id)",
        "find_it without a call",
        "print(x)",
        "Find_it(x)",
        "_private_name(x)",
        "mcp__shop__find(x)",
        "Xfind_it(x)",
    ],
)
def test_known_calls_and_names_that_are_no_snake_case_calls_are_fine(body: str) -> None:
    assert "body-unknown-tool" not in codes(with_body(body))


def test_a_tool_of_the_host_is_known() -> None:
    assert "body-unknown-tool" not in codes(with_body("find_it(x)"), known_tools=["find_it"])


def test_nothing_is_said_of_calls_where_neither_skill_nor_host_states_tools() -> None:
    assert "body-unknown-tool" not in codes(with_body("find_it(x)", None))
    assert "body-unknown-tool" in codes(with_body("find_it(x)", None), known_tools=[])


def test_texts_of_a_tree_are_read_too() -> None:
    skills = (GraphSkill("a", tools=("x_y",), body="find_it(1) lookup_order"), ORDERS)
    found = codes(Declared(skills=skills, tree=Decide(words("x"), "a", "orders")))
    assert found == ["body-foreign-tool", "body-unknown-tool"]


def test_texts_are_read_in_one_go_however_long_and_odd_they_are() -> None:
    body = "a_" * 200_000 + " \ud800 lookup_order " + "x_y" * 200_000
    assert "body-foreign-tool" in codes(with_body(body))
