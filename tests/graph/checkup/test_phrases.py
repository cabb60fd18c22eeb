import pytest

from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    Declared,
    Entry,
    EntryPick,
    Guarded,
    HistoryMin,
    Intent,
    Predicate,
    Regex,
    Route,
)
from skillweave.graph.checkup import checkup
from tests.graph.checkup.graphs import codes, graph, guard, id_of, only, problems, words
from tests.graph.strategies import LongestWins

CHARGED = "I was charged twice"
REFUND = Entry("refund", words("charged"), (CHARGED,))


def _raises(_: object) -> bool:
    raise ValueError("no look")


def phrase_codes(declared: Declared) -> list[str]:
    return [code for code in codes(declared) if "example" in code or "never" in code]


@pytest.mark.parametrize(
    ("condition", "example"),
    [
        (words("charge"), CHARGED),
        (Regex("^charged"), CHARGED),
        (AllOf((words("charged"), words("thrice"))), CHARGED),
        (HistoryMin(1), CHARGED),
        (AtIteration(2), CHARGED),
        (Guarded(guard(status={"eq": "success"})), CHARGED),
        (Predicate(lambda _: False), CHARGED),
        (Predicate(_raises), CHARGED),
    ],
    ids=id_of,
)
def test_an_example_for_which_its_own_condition_does_not_hold_is_example_misses_own_rule(
    condition: Condition, example: str
) -> None:
    problem = only(graph(Entry("refund", condition, (example,))), "example-misses-own-rule")
    assert problem.skill == "refund"
    assert "`I was charged twice`" in problem.message


def test_a_condition_that_raises_is_no_match_and_the_message_says_so() -> None:
    declared = graph(Entry("refund", Predicate(_raises), (CHARGED,)))
    assert "_raises: ValueError" in only(declared, "example-misses-own-rule").message


@pytest.mark.parametrize(
    "condition",
    [words("charged"), Regex("charge"), Predicate(lambda _: True), None, AllOf((words("twice"), AtIteration(1)))],
    ids=id_of,
)
def test_an_example_for_which_its_own_condition_holds_is_fine(condition: Condition | None) -> None:
    assert phrase_codes(graph(Entry("refund", condition, (CHARGED,)))) == []


def test_the_condition_of_an_intent_is_not_tried_on_examples() -> None:
    condition = AllOf((words("never said"), Intent("a refund")))
    assert phrase_codes(graph(Entry("refund", condition, (CHARGED,)), pick=LongestWins())) == []
    assert phrase_codes(graph(Entry("refund", condition, (CHARGED,)))) == []


def test_an_example_that_an_earlier_entry_takes_is_example_shadowed_by_earlier() -> None:
    problem = only(graph(Entry("billing", words("twice")), REFUND), "example-shadowed-by-earlier")
    assert (problem.skill, problem.from_, problem.to) == ("refund", "billing", "refund")


def test_an_earlier_entry_without_a_condition_takes_every_example() -> None:
    assert only(graph(Entry("triage"), REFUND), "example-shadowed-by-earlier").from_ == "triage"


@pytest.mark.parametrize(
    "declared",
    [
        graph(REFUND, Entry("billing", words("twice"))),
        graph(Entry("billing", words("thrice")), REFUND),
        graph(Entry("refund", words("twice")), REFUND),
        graph(Entry("billing", Predicate(_raises)), REFUND),
    ],
    ids=["later", "another word", "the same skill", "raises"],
)
def test_an_example_that_begins_its_own_skill_is_not_shadowed(declared: Declared) -> None:
    assert phrase_codes(declared) == []


def test_an_example_that_misses_its_rule_is_not_said_to_be_shadowed_too() -> None:
    declared = graph(Entry("billing", words("twice")), Entry("refund", words("thrice"), (CHARGED,)))
    assert phrase_codes(declared) == ["example-misses-own-rule"]


def test_an_example_on_which_nothing_begins_is_example_unclaimed() -> None:
    declared = graph(Entry("refund", words("thrice"), (CHARGED,)), Entry("billing", words("invoice")))
    assert phrase_codes(declared) == ["example-misses-own-rule", "example-unclaimed"]
    assert only(declared, "example-unclaimed").skill == "refund"


def test_an_example_that_another_entry_takes_is_not_unclaimed() -> None:
    declared = graph(Entry("refund", words("thrice"), (CHARGED,)), Entry("triage"))
    assert phrase_codes(declared) == ["example-misses-own-rule"]


@pytest.mark.parametrize("pick", [EntryPick.READ, LongestWins()], ids=["read", "scorer"])
def test_where_a_scorer_or_the_model_chooses_only_the_own_condition_is_tried(pick: EntryPick | LongestWins) -> None:
    declared = graph(Entry("triage"), REFUND, Entry("order", words("order"), ("my parcel",)), pick=pick)
    assert phrase_codes(declared) == ["example-misses-own-rule"]


def test_the_same_example_twice_is_one_finding() -> None:
    declared = graph(Entry("refund", words("x"), ("y", "y")), Entry("triage"))
    assert len(problems(declared, "example-misses-own-rule")) == 1


def test_a_phrase_of_never_routes_for_which_a_condition_holds_is_never_routes_claimed() -> None:
    declared = graph(REFUND, Entry("billing", words("twice")), never_routes=("My battery is charged", "hello"))
    problem = only(declared, "never-routes-claimed")
    assert problem.skill == "refund"
    assert "`My battery is charged`" in problem.message


def test_each_phrase_is_told_once_with_the_first_entry_that_claims_it() -> None:
    declared = graph(REFUND, Entry("billing", words("twice")), never_routes=("charged twice", "it failed twice"))
    assert [problem.skill for problem in problems(declared, "never-routes-claimed")] == ["refund", "billing"]


def test_a_scorer_does_not_excuse_a_condition_that_claims_a_negative_phrase() -> None:
    assert "never-routes-claimed" in codes(graph(REFUND, never_routes=("a charged battery",), pick=LongestWins()))


def test_an_entry_without_a_condition_claims_no_negative_phrase() -> None:
    assert phrase_codes(graph(REFUND, Entry("triage"), never_routes=("hello",))) == []


def test_a_phrase_that_is_an_example_and_must_begin_nothing_is_never_routes_claimed_alone() -> None:
    declared = graph(Entry("billing", words("charged")), REFUND, never_routes=("i was  CHARGED twice",))
    problem = only(declared, "never-routes-claimed")
    assert problem.skill == "refund"
    assert phrase_codes(declared) == ["never-routes-claimed"]


def test_an_example_of_several_entries_that_must_begin_nothing_is_told_of_the_first() -> None:
    declared = graph(REFUND, Entry("billing", words("twice"), (CHARGED,)), never_routes=(CHARGED,))
    assert only(declared, "never-routes-claimed").skill == "refund"


THREE = tuple(Entry(name, words(name)) for name in "abc")


def test_three_conditional_entries_without_any_phrase_are_no_negative_evidence() -> None:
    problem = only(graph(*THREE, Entry("d")), "no-negative-evidence")
    assert (problem.skill, problem.from_, problem.to) == (None, None, None)


@pytest.mark.parametrize(
    "declared",
    [
        graph(*THREE[:2], Entry("d")),
        graph(*THREE, never_routes=("hello",)),
        graph(*THREE, Entry("d", words("x"), ("x",))),
        graph(*THREE, Entry("d", Intent("x", ("y",))), pick=LongestWins()),
        graph(*THREE[:1], Route("a", "b", words("x")), Route("a", "c", words("y"))),
    ],
    ids=["two", "never_routes", "examples", "examples of an intent", "routes"],
)
def test_few_entries_or_any_phrase_are_evidence_enough(declared: Declared) -> None:
    assert "no-negative-evidence" not in codes(declared)


def test_a_condition_that_cannot_be_compiled_leaves_phrases_untried_and_a_note_says_so() -> None:
    declared = graph(Entry("a", Regex("(")), REFUND, never_routes=("charged",))
    assert phrase_codes(declared) == []
    assert any("not tried" in note for note in checkup(declared).notes)


def test_a_broken_expression_of_a_route_does_not_keep_phrases_from_being_tried() -> None:
    declared = graph(REFUND, Route("refund", "a", Regex("(")), never_routes=("charged",))
    assert "never-routes-claimed" in codes(declared)
