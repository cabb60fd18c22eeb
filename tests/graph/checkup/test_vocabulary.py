import pytest

from skillweave.graph import ANY, Decide, Declared, Entry, GraphSkill, Guarded, Regex, Route
from skillweave.graph.declared import STATUSES
from tests.graph.checkup.graphs import codes, graph, guard, only, problems

TRIAGE = GraphSkill("triage", tools=("lookup_order", "Bash(git add:*)"))
REFUND = GraphSkill("refund", tools=("refund_order",))


def of(route: Route, *skills: GraphSkill) -> Declared:
    return graph(Entry("triage"), route, skills=skills or (TRIAGE, REFUND))


@pytest.mark.parametrize(
    "route",
    [
        Route("triage", "refund", on_tool="lokup_order"),
        Route("triage", "refund", guard=guard(tool_name={"eq": "lokup_order"})),
        Route("triage", "refund", guard=guard(tool_name={"in": ["lookup_order", "lokup_order"]})),
        Route("triage", "refund", Guarded(guard(tool_name={"eq": "lokup_order"}))),
    ],
    ids=["on_tool", "eq", "in", "condition"],
)
def test_a_tool_that_neither_the_skill_nor_the_host_has_is_unknown_tool(route: Route) -> None:
    problem = only(of(route), "unknown-tool")
    assert (problem.from_, problem.to, problem.fix) == ("triage", "refund", "Write `lookup_order`.")
    assert "`triage` does not have" in problem.message
    assert "neither `triage` nor the host has" in only(of(route), "unknown-tool", known_tools=["search"]).message


def test_a_tool_of_another_skill_is_unknown_at_this_one() -> None:
    assert "unknown-tool" in codes(of(Route("triage", "refund", on_tool="refund_order")))


def test_a_tool_of_the_skill_or_of_the_host_is_known() -> None:
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool="lookup_order")))
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool="search")), ["search"])


def test_a_pattern_of_arguments_is_no_part_of_a_tools_name() -> None:
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool="Bash")))


def test_a_tool_that_ends_in_a_star_stands_for_all_that_begin_so() -> None:
    skill = GraphSkill("triage", tools=("mcp__shop__*",))
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool="mcp__shop__find"), skill, REFUND))
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool=Regex("find")), skill, REFUND))
    assert "unknown-tool" in codes(of(Route("triage", "refund", on_tool="mcp__bank__find"), skill, REFUND))


def test_nothing_is_said_of_tools_where_neither_skill_nor_host_states_them() -> None:
    declared = of(Route("triage", "refund", on_tool="lokup_order"), GraphSkill("triage"), REFUND)
    assert "unknown-tool" not in codes(declared)
    assert "unknown-tool" in codes(declared, known_tools=[])


def test_a_comparison_that_only_excludes_a_tool_waits_for_none() -> None:
    route = Route("triage", "refund", guard=guard(tool_name={"ne": "zzz", "not_in": ["yyy"]}))
    assert "unknown-tool" not in codes(of(route))


def test_an_expression_that_no_tool_matches_is_unknown_tool() -> None:
    problem = only(of(Route("triage", "refund", on_tool=Regex("^lokup"))), "unknown-tool")
    assert "`^lokup`" in problem.message
    assert "unknown-tool" not in codes(of(Route("triage", "refund", on_tool=Regex("^LOOK", "i"))))


def test_a_route_from_any_may_wait_for_the_tools_of_all_skills() -> None:
    assert "unknown-tool" not in codes(of(Route(ANY, "refund", on_tool="lookup_order")))
    assert "which no skill has" in only(of(Route(ANY, "refund", on_tool="zzz")), "unknown-tool").message


def test_a_route_from_any_is_judged_only_where_all_tools_are_stated() -> None:
    declared = of(Route(ANY, "refund", on_tool="zzz"), TRIAGE, GraphSkill("refund"))
    assert "unknown-tool" not in codes(declared)
    assert "unknown-tool" in codes(declared, known_tools=["search"])


def test_a_status_that_no_result_has_is_unknown_status() -> None:
    problem = only(of(Route("triage", "refund", on_status=("sucess",))), "unknown-status")
    assert (problem.from_, problem.to, problem.fix) == ("triage", "refund", "Write `success`.")


def test_each_unknown_status_is_one_finding() -> None:
    declared = of(Route("triage", "refund", on_status=("success", "qqq", "sucess", "qqq")))
    found = problems(declared, "unknown-status")
    assert [problem.fix[:5] for problem in found] == ["Write", "Write"]
    assert "partial" in found[0].fix


def test_the_seven_statuses_are_known() -> None:
    assert not problems(of(Route("triage", "refund", on_status=STATUSES)), "unknown-status")


def test_an_unknown_status_is_not_called_unsatisfiable_too() -> None:
    assert "guard-unsatisfiable" not in codes(of(Route("triage", "refund", on_status=("sucess",))))


def test_a_misspelled_status_beside_a_right_one_is_unknown_status_in_a_guard_too() -> None:
    for found in (guard(status={"in": ["success", "sucess"]}), guard(status={"ne": "sucess"})):
        problem = only(of(Route("triage", "refund", guard=found)), "unknown-status")
        assert problem.fix == "Write `success`."


def test_a_status_is_looked_at_in_entries_and_trees_too() -> None:
    condition = Guarded(guard(status={"not_in": ["sucess"]}))
    assert only(graph(Entry("a", condition)), "unknown-status").skill == "a"
    tree = Declared(skills=(GraphSkill("a"),), tree=Decide(condition, "a", "a"))
    assert only(tree, "unknown-status").skill == "a"


def test_a_misspelled_tool_is_corrected_to_one_that_its_own_skill_has() -> None:
    other = GraphSkill("other", tools=("lookup_orders",))
    routes = (Route("triage", "refund", on_tool="lokup_order"), Route("other", "refund", on_tool="lokup_order"))
    found = problems(graph(Entry("triage"), *routes, skills=(TRIAGE, REFUND, other)), "unknown-tool")
    assert [problem.fix for problem in found] == ["Write `lookup_order`.", "Write `lookup_orders`."]


def test_a_comparison_with_unknown_statuses_alone_is_unknown_status_and_not_unsatisfiable_too() -> None:
    for found in (guard(status={"eq": "sucess"}), guard(status={"in": ["sucess", "ok"]})):
        declared = of(Route("triage", "refund", guard=found))
        assert "unknown-status" in codes(declared)
        assert "guard-unsatisfiable" not in codes(declared)
