from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Condition,
    Declared,
    Entry,
    EntryPick,
    HistoryMin,
    MoveContext,
    Predicate,
    Regex,
    Route,
    SkillGraph,
    UserContains,
)
from skillweave.graph.checkup import checkup
from tests.graph import strategies as some
from tests.graph.checkup.graphs import codes, graph, id_of, only, problems, valid_moments, words
from tests.graph.strategies import LongestWins

REFUND = Entry("refund", words("refund", "charge"))


def rule_codes(declared: Declared) -> list[str]:
    return [code for code in codes(declared) if "rules" in code or "entry" in code]


def test_entries_after_one_without_a_condition_are_multi_entry_fanout() -> None:
    problem = only(graph(REFUND, Entry("triage"), Entry("order", words("order")), Entry("faq")), "multi-entry-fanout")
    assert problem.skill == "triage"
    assert "`order` and `faq`" in problem.message


def test_fanout_is_told_once_at_the_first_such_entry() -> None:
    assert codes(graph(Entry("a"), Entry("b"), Entry("c"))).count("multi-entry-fanout") == 1


def test_a_base_entry_without_a_condition_begins_before_the_others_too() -> None:
    assert "multi-entry-fanout" in codes(graph(Entry("style", base=True), REFUND))


@pytest.mark.parametrize(
    "declared",
    [
        graph(Entry("a")),
        graph(REFUND, Entry("triage")),
        graph(REFUND, Entry("triage"), Entry("triage", words("x"))),
        graph(Entry("a"), Entry("b"), pick=EntryPick.READ),
        graph(Entry("a"), Entry("b"), pick=LongestWins()),
    ],
    ids=["alone", "the last one", "the same skill", "read", "scorer"],
)
def test_a_last_resort_and_entries_that_are_chosen_otherwise_are_no_fanout(declared: Declared) -> None:
    assert "multi-entry-fanout" not in codes(declared)


def test_routes_out_of_an_entry_at_which_nothing_begins_are_dead_entry_step() -> None:
    declared = graph(Entry("triage"), Entry("order", words("order")), Route("order", "triage", on_tool="x"))
    problem = only(declared, "dead-entry-step")
    assert (problem.skill, problem.from_) == ("order", "triage")


@pytest.mark.parametrize(
    "declared",
    [
        graph(Entry("order", words("order")), Entry("triage"), Route("order", "triage", on_tool="x")),
        graph(Entry("triage"), Entry("order"), Route("order", "triage")),
        graph(
            Entry("triage"),
            Entry("order"),
            Route("order", "triage", on_tool="x"),
            Route("triage", "order", on_tool="y"),
        ),
        graph(Entry("triage"), Entry("order"), Route("order", "triage", on_tool="x"), Route(ANY, "order", on_tool="y")),
        graph(Entry("a"), Entry("b"), Route("b", "a", on_tool="x"), pick=LongestWins()),
    ],
    ids=["before", "model edge out", "route in", "any in", "scorer"],
)
def test_entries_that_something_leads_to_have_no_dead_steps(declared: Declared) -> None:
    assert "dead-entry-step" not in codes(declared)


def test_a_loop_leads_to_no_entry() -> None:
    declared = graph(Entry("triage"), Entry("order"), Route("order", "order", on_tool="x"))
    assert "dead-entry-step" in codes(declared)


def test_a_keyword_in_two_entries_is_overlapping_rules() -> None:
    declared = graph(REFUND, Entry("billing", words("invoice", "Charge ")))
    problem = only(declared, "overlapping-rules")
    assert (problem.skill, problem.from_, problem.to) == ("billing", "refund", "billing")
    assert "`charge`" in problem.message


def test_an_overlap_is_told_with_the_first_other_skill_that_has_the_word() -> None:
    declared = graph(
        Entry("a", words("x", "p")),
        Entry("b", words("x", "q")),
        Entry("a", words("x", "r")),
        Entry("c", words("r", "s")),
    )
    found = [(problem.from_, problem.to) for problem in problems(declared, "overlapping-rules")]
    assert found == [("a", "b"), ("b", "a"), ("a", "c")]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (words("refund"), words("refunds")),
        (words("refund", "charge"), AllOf((words("charge", "invoice"), HistoryMin(1)))),
        (words("refund", "charge"), Regex("charge")),
        (words("charge back"), words("charge", "invoice")),
    ],
    ids=["another word", "more than keywords", "expression", "part of a phrase"],
)
def test_entries_without_a_common_keyword_do_not_overlap(earlier: Condition, later: Condition) -> None:
    assert rule_codes(graph(Entry("a", earlier), Entry("b", later))) == []


def test_one_skill_does_not_overlap_with_itself() -> None:
    assert rule_codes(graph(REFUND, Entry("refund", words("charge", "invoice")))) == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (words("refund", "charge"), words("Charge")),
        (words("charge"), words("charge back", "the charge")),
        (Regex("refund", "i"), Regex("refund", "iu")),
        (UserContains("charg"), words("charge")),
        (words("refund", "charge"), AllOf((words("charge"), Regex("twice")))),
        (AllOf((words("charge"), Regex("twice"))), AllOf((Regex("twice"), AtIteration(1), words("charge")))),
        (HistoryMin(1), HistoryMin(2)),
    ],
    ids=id_of,
)
def test_an_entry_that_never_begins_is_rules_shadowed_by_order(earlier: Condition, later: Condition) -> None:
    problem = only(graph(Entry("a", earlier), Entry("b", later)), "rules-shadowed-by-order")
    assert (problem.skill, problem.from_, problem.to) == ("b", "a", "b")
    assert rule_codes(graph(Entry("a", earlier), Entry("b", later))) == ["rules-shadowed-by-order"]
    if not isinstance(later, Regex):
        assert "rules-shadowed-by-order" not in codes(graph(Entry("b", later), Entry("a", earlier)))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (words("refund"), Regex("refund")),
        (Regex("refund"), words("refund")),
        (Regex("refund"), Regex("refund", "i")),
        (words("charge"), words("charge", "refund")),
        (AllOf((words("charge"), Regex("twice"))), words("charge")),
        (Predicate(lambda _: True), words("charge")),
    ],
    ids=id_of,
)
def test_what_is_not_proved_to_be_covered_is_not_shadowed(earlier: Condition, later: Condition) -> None:
    assert "rules-shadowed-by-order" not in codes(graph(Entry("a", earlier), Entry("b", later)))


@pytest.mark.parametrize("pick", [EntryPick.READ, LongestWins()], ids=["read", "scorer"])
def test_where_a_scorer_or_the_model_chooses_the_order_is_not_looked_at(pick: EntryPick | LongestWins) -> None:
    declared = graph(REFUND, Entry("b", words("charge")), Entry("c", words("refund", "x")), pick=pick)
    assert rule_codes(declared) == []


def test_a_word_in_a_thousand_entries_is_one_finding_for_each_but_the_first() -> None:
    declared = graph(*(Entry(f"s{number}", words("help", f"w{number}")) for number in range(1_000)))
    assert len(problems(declared, "overlapping-rules")) == 999
    assert not any("compared" in note for note in checkup(declared).notes)


SMALL = st.lists(st.builds(Entry, some.plain_ids, some.conditions), min_size=1, max_size=3)


@given(SMALL, st.lists(some.simple_conditions, max_size=2), valid_moments, some.scales)
def test_taking_out_an_entry_that_is_called_shadowed_changes_no_beginning(
    entries: list[Entry], more: list[Condition], moment: MoveContext, scales: object
) -> None:
    narrower = [replace(entry, condition=AllOf((entry.condition or AtIteration(1), *more))) for entry in entries]
    named = [replace(entry, skill=f"s{at}") for at, entry in enumerate([*entries, *narrower])]
    declared = graph(*named, scales=scales)
    idle = {problem.skill for problem in problems(declared, "rules-shadowed-by-order")}
    impossible = {one.skill for one in checkup(declared).problems if one.code in _IMPOSSIBLE}
    assert {entry.skill for entry in named[len(entries) :]} <= idle | impossible
    slim = replace(declared, entries=tuple(entry for entry in declared.entries if entry.skill not in idle))
    before, after = (
        SkillGraph.of(one, check="off").next_skill(replace(moment, current=None)) for one in (declared, slim)
    )
    assert before == after


_IMPOSSIBLE = ("guard-unsatisfiable", "untyped-comparison")
