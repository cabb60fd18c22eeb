import pytest

from skillweave.graph import ANY, Decide, Declared, Entry, GraphSkill, Route
from tests.graph.checkup.graphs import codes, graph, only, problems, words


def det(from_: str, to: str) -> Route:
    return Route(from_, to, on_tool="x")


def names(declared: Declared, code: str) -> list[str | None]:
    return [problem.skill for problem in problems(declared, code)]


def test_a_listed_skill_that_nothing_names_is_unreachable_skill() -> None:
    problem = only(graph(Entry("a"), skills=("a", "b")), "unreachable-skill")
    assert problem.skill == "b"
    assert "no entry and no route names it" in problem.message


def test_a_skill_that_only_unreachable_ones_lead_to_is_unreachable_skill() -> None:
    declared = graph(Entry("a"), det("b", "c"), det("c", "b"), det("d", "d"))
    assert names(declared, "unreachable-skill") == ["b", "c", "d"]


@pytest.mark.parametrize(
    "declared",
    [
        graph(Entry("a"), Entry("b", words("x"))),
        graph(Entry("a"), det("a", "b")),
        graph(Entry("a"), Route("a", "b")),
        graph(Entry("a"), det(ANY, "b")),
        graph(Entry("a"), Route(ANY, "c"), det("c", "b")),
    ],
    ids=["entry", "route", "model edge", "any", "after any"],
)
def test_entries_routes_and_any_reach_skills(declared: Declared) -> None:
    assert "unreachable-skill" not in codes(declared)


def test_a_skill_that_is_no_leaf_of_the_tree_is_unreachable_skill() -> None:
    tree = Decide(words("x"), "a", "b")
    declared = Declared(skills=tuple(map(GraphSkill, "abcd")), tree=tree, default="c")
    assert names(declared, "unreachable-skill") == ["d"]


def test_a_graph_without_entries_is_not_said_to_reach_nothing_too() -> None:
    assert codes(graph(det("a", "b"), det("b", "a"))) == ["no-entry"]


def test_a_skill_that_only_the_model_leads_to_is_model_edge_only() -> None:
    declared = graph(Entry("a"), Route("b", "c"), Route("a", "c"), Route("a", "b"), skills=("a", "b", "c", "d"))
    found = [(problem.skill, problem.from_, problem.to) for problem in problems(declared, "model-edge-only")]
    assert found == [("b", "a", "b"), ("c", "b", "c")]


def test_a_model_edge_from_any_counts_too() -> None:
    problem = only(graph(Entry("a"), Route(ANY, "b")), "model-edge-only")
    assert (problem.skill, problem.from_) == ("b", ANY)
    assert "any skill" in problem.message


@pytest.mark.parametrize(
    "declared",
    [
        graph(Entry("a"), Route("a", "b"), det("a", "b")),
        graph(Entry("a"), Entry("b", words("x")), Route("a", "b")),
        graph(Entry("a"), Route("a", "b"), det(ANY, "b")),
        graph(Entry("a"), det("a", "c"), det("c", "b"), Route("a", "b")),
    ],
    ids=["route", "entry", "any", "another way"],
)
def test_a_skill_that_routes_or_entries_lead_to_as_well_is_not_model_edge_only(declared: Declared) -> None:
    assert "model-edge-only" not in codes(declared)


def test_what_routes_lead_to_from_a_skill_that_only_the_model_opens_is_not_model_edge_only() -> None:
    assert names(graph(Entry("a"), Route("a", "b"), det("b", "c")), "model-edge-only") == ["b"]


def test_a_model_edge_of_a_skill_to_itself_leads_nowhere() -> None:
    assert names(graph(Entry("a"), Route("a", "b"), det("b", "c"), Route("c", "c")), "model-edge-only") == ["b"]


def test_a_model_edge_from_a_skill_that_is_never_reached_is_none() -> None:
    declared = graph(Entry("a"), Route("x", "b"))
    assert "model-edge-only" not in codes(declared)
    assert names(declared, "unreachable-skill") == ["x", "b"]


def test_a_skill_that_no_route_leaves_is_dead_end() -> None:
    declared = graph(Entry("a"), det("a", "b"), det("a", "c"), det("c", "c"))
    assert names(declared, "dead-end") == ["b", "c"]


@pytest.mark.parametrize(
    "declared",
    [
        graph(Entry("a"), det("a", "b"), Route("b", "a")),
        graph(Entry("a"), det("a", "b"), det(ANY, "a")),
        graph(Entry("a"), det("a", "b"), det("b", "a"), Entry("style", base=True)),
        graph(Entry("a"), Entry("b", words("x"))),
        graph(Entry("a"), det("a", "b"), det("b", "a"), skills=("a", "b", "unwired")),
    ],
    ids=["a way back", "any", "base", "no routes at all", "unwired"],
)
def test_a_way_out_for_the_model_any_base_and_graphs_of_entries_alone_are_no_dead_end(declared: Declared) -> None:
    assert "dead-end" not in codes(declared)


def test_a_skill_that_routes_from_any_only_lead_to_is_dead_end_itself() -> None:
    declared = graph(Entry("a"), det(ANY, "b"))
    assert names(declared, "dead-end") == ["b"]


def test_an_intended_last_skill_is_told_how_to_be_suppressed() -> None:
    declared = graph(Entry("a"), det("a", "done"), suppress={"dead-end": "`done` is the last one"})
    assert "suppress `dead-end`" in only(graph(*declared.entries, *declared.routes), "dead-end").fix
    assert "dead-end" not in codes(declared)


def test_a_cycle_that_no_route_leaves_is_trap() -> None:
    declared = graph(Entry("a"), det("a", "b"), det("b", "c"), Route("c", "d"), det("d", "b"))
    problem = only(declared, "trap")
    assert problem.skill == "b"
    assert "`b`, `c` and `d`" in problem.message


@pytest.mark.parametrize(
    "exit_",
    [det("c", "a"), Route("b", "d"), det(ANY, "a"), Route(ANY, "d")],
    ids=["route", "model edge", "any", "model edge from any"],
)
def test_a_cycle_with_an_exit_is_no_trap(exit_: Route) -> None:
    assert "trap" not in codes(graph(Entry("a"), det("a", "b"), det("b", "c"), det("c", "b"), exit_))


def test_a_cycle_inside_which_any_leads_back_is_trap_all_the_same() -> None:
    declared = graph(Entry("a"), det("a", "b"), det("b", "c"), det("c", "b"), det(ANY, "b"))
    assert only(declared, "trap").skill == "b"


def test_what_only_any_leads_to_and_fro_is_trap_too() -> None:
    problem = only(graph(Entry("a"), det(ANY, "b"), det(ANY, "c")), "trap")
    assert "`b` and `c`" in problem.message


def test_a_cycle_of_all_skills_leaves_nothing_behind_and_is_no_trap() -> None:
    assert "trap" not in codes(graph(Entry("a"), det("a", "b"), det("b", "a")))


def test_two_traps_are_told_in_the_order_of_the_skills() -> None:
    declared = graph(
        Entry("a"), det("a", "b"), det("b", "c"), det("c", "b"), det("a", "d"), det("d", "e"), det("e", "d")
    )
    assert names(declared, "trap") == ["b", "d"]


def test_what_cannot_be_reached_is_neither_dead_end_nor_trap() -> None:
    declared = graph(Entry("a"), det("a", "z"), det("b", "c"), det("c", "b"), det("x", "y"))
    assert names(declared, "dead-end") == ["z"]
    assert names(declared, "trap") == []


def test_chains_longer_than_the_interpreters_stack_are_walked() -> None:
    declared = graph(Entry("0"), *(det(str(number), str(number + 1)) for number in range(3_000)))
    assert codes(declared) == ["dead-end"]


def test_base_skills_are_not_left_behind_by_a_cycle_of_all_others() -> None:
    declared = graph(Entry("a"), Entry("style", words("x"), base=True), det("a", "b"), det("b", "a"))
    assert "trap" not in codes(declared)


def test_without_a_list_all_skills_that_are_named_are_looked_at() -> None:
    declared = graph(Entry("a"), det("a", "d"), det("b", "c"), skills=(), listed=False)
    assert names(declared, "unreachable-skill") == ["b", "c"]
    assert names(declared, "dead-end") == ["d"]
