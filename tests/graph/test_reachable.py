"""Which skills the model may open (spec 3.3)."""

import pytest

from skillweave.graph import ANY, Decide, Declared, Entry, EntryPick, Predicate, Route, SkillGraph
from skillweave.graph.moving import MOST_NAMED, refusal
from tests.graph.moments import graph, raises, said

ENTRIES = (Entry("triage"), Entry("order", said("order")), Entry("triage", said("again")))
ROUTES = (
    Route("triage", "refund", on_tool="t"),
    Route("triage", "order"),
    Route("triage", "refund"),
    Route("triage", "triage", on_tool="u"),
    Route("refund", "voucher"),
    Route(ANY, "help", on_status=("denied",)),
    Route(ANY, "voucher"),
)
SHOP = graph(ENTRIES, ROUTES)
TREE = SkillGraph.of(Declared(tree=Decide(said("x"), Decide(said("y"), "a", "b"), "c"), listed=False), check="off")


def test_at_a_cold_start_the_entries_are_reachable_in_order_once_each() -> None:
    assert SHOP.reachable_skills() == ("triage", "order")


@pytest.mark.parametrize(
    ("current", "reachable"),
    [
        ("triage", ("refund", "order", "help", "voucher")),
        ("order", ("help", "voucher", "triage")),
        ("refund", ("voucher", "help", "triage", "order")),
        ("help", ("voucher", "triage", "order")),
        ("voucher", ("help", "triage", "order")),
    ],
)
def test_from_a_skill_the_direct_successors_then_those_of_any_then_the_entries_are_reachable_without_it(
    current: str, reachable: tuple[str, ...]
) -> None:
    assert SHOP.reachable_skills(current) == reachable


def test_model_edges_lead_to_successors_like_any_other() -> None:
    assert "order" in graph(routes=(Route("a", "order"),)).reachable_skills("a")


def test_a_route_reaches_its_target_whether_or_not_it_could_fire() -> None:
    assert graph(routes=(Route("a", "b", Predicate(raises)),)).reachable_skills("a") == ("b",)


def test_only_direct_successors_are_reachable() -> None:
    one = graph(routes=(Route("a", "b"), Route("b", "c")))
    assert one.reachable_skills("a") == ("b",)


def test_from_an_unknown_skill_the_entries_are_reachable() -> None:
    assert SHOP.reachable_skills("zzz") == SHOP.reachable_skills()


def test_the_conditions_of_entries_do_not_matter() -> None:
    assert graph((Entry("a", said("never")), Entry("b", Predicate(raises)))).reachable_skills() == ("a", "b")


@pytest.mark.parametrize("pick", list(EntryPick))
def test_however_the_entry_is_picked_the_entries_are_reachable(pick: EntryPick) -> None:
    assert graph(ENTRIES, ROUTES, pick=pick).reachable_skills() == ("triage", "order")


@pytest.mark.parametrize("current", [None, "a", "c", "zzz"])
def test_of_a_tree_all_leaves_are_reachable_in_depth_first_order(current: str | None) -> None:
    assert TREE.reachable_skills(current) == ("a", "b", "c")


def test_the_default_leaf_of_a_tree_is_reachable() -> None:
    one = SkillGraph.of(Declared(tree=Decide(said("x"), "a", "b"), default="d", listed=False), check="off")
    assert one.reachable_skills() == ("a", "b", "d")


def test_a_graph_with_nothing_in_it_reaches_nothing() -> None:
    assert graph().reachable_skills() == ()


def test_a_refusal_names_the_skill_the_place_and_what_can_be_reached() -> None:
    assert refusal("a", "b", ("c", "d")) == "'a' cannot be reached from 'b'; what can be is: c, d"
    assert refusal("a", None, ("c",)) == "'a' cannot be reached at the start of the skill graph; what can be is: c"


def test_a_refusal_where_nothing_can_be_reached_says_so() -> None:
    assert refusal("a", "b", ()).endswith("what can be is: nothing")


def test_a_refusal_names_no_more_than_twenty_skills_and_counts_the_rest() -> None:
    told = refusal("a", None, [f"s{number}" for number in range(MOST_NAMED + 5)])
    assert told.endswith("s19 and 5 more")
