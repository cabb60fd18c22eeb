import pytest

from skillweave.graph import AllOf, Decide, Declared, Entry, EntryPick, GraphSkill, Intent, Route
from tests.graph.checkup.graphs import codes, graph, only, problems, words
from tests.graph.strategies import LongestWins

REFUND = Intent("a refund", ("give me my money back",))
ORDER = Intent("an order", ("where is my parcel",))


@pytest.mark.parametrize(
    ("declared", "spot"),
    [
        (graph(Entry("a", REFUND)), ("a", None, None)),
        (graph(Entry("a", AllOf((words("x"), AllOf((REFUND,)))))), ("a", None, None)),
        (graph(Entry("a"), Route("a", "b", REFUND)), (None, "a", "b")),
        (Declared(skills=(GraphSkill("a"),), tree=Decide(REFUND, "a", "a")), ("a", None, None)),
    ],
    ids=["entry", "inside all", "route", "tree"],
)
def test_an_intent_in_a_graph_without_scorer_is_intent_without_scorer(
    declared: Declared, spot: tuple[str | None, str | None, str | None]
) -> None:
    problem = only(declared, "intent-without-scorer")
    assert (problem.skill, problem.from_, problem.to) == spot


def test_a_model_that_picks_judges_no_intents() -> None:
    assert "intent-without-scorer" in codes(graph(Entry("a", REFUND), pick=EntryPick.READ))


def test_an_intent_in_a_graph_with_scorer_is_judged() -> None:
    assert "intent-without-scorer" not in codes(graph(Entry("a", REFUND), pick=LongestWins()))


def test_the_same_phrase_under_two_intents_is_duplicate_intent_example() -> None:
    twin = Intent("complaint", ("Give  me my MONEY back",))
    problem = only(graph(Entry("a", REFUND), Entry("b", twin), pick=LongestWins()), "duplicate-intent-example")
    assert (problem.skill, problem.from_, problem.to) == ("b", "a", "b")
    assert "`a refund`" in problem.message
    assert "`complaint`" in problem.message


def test_examples_of_an_entry_count_for_its_intent() -> None:
    declared = graph(
        Entry("a", REFUND), Entry("b", Intent("complaint"), ("give me my money back",)), pick=LongestWins()
    )
    assert only(declared, "duplicate-intent-example").skill == "b"


def test_a_phrase_under_three_intents_is_two_findings() -> None:
    declared = graph(
        *(Entry(name, Intent(name, ("same",))) for name in ("a", "b", "c")), Route("a", "d", Intent("b", ("same",)))
    )
    assert [problem.skill for problem in problems(declared, "duplicate-intent-example")] == ["b", "c"]


def test_one_intent_in_two_places_and_different_phrases_are_no_duplicates() -> None:
    declared = graph(Entry("a", REFUND), Entry("b", ORDER), Route("a", "b", REFUND), pick=LongestWins())
    assert "duplicate-intent-example" not in codes(declared)
