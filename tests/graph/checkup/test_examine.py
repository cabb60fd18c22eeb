import re
from cProfile import Profile
from dataclasses import replace
from pstats import Stats
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidGraph
from skillweave.graph import Declared, Entry, Level, Route, SkillGraph
from skillweave.graph.checked import CODES
from skillweave.graph.checkup import checkup
from tests.graph import strategies as some
from tests.graph.checkup.graphs import codes, graph, guard, words

ERRORS = {
    *("unknown-skill", "no-entry", "guard-unsatisfiable", "example-misses-own-rule", "example-shadowed-by-earlier"),
    *("never-routes-claimed", "intent-without-scorer", "unknown-tool", "unknown-status", "untyped-comparison"),
}
WARNINGS = {
    *("unreachable-skill", "model-edge-only", "ambiguous-routes", "duplicate-route", "shadowed-route", "self-loop"),
    *("dead-end", "trap", "multi-entry-fanout", "overlapping-rules", "rules-shadowed-by-order", "body-foreign-tool"),
    *("body-unknown-tool", "example-unclaimed", "duplicate-intent-example", "dead-entry-step", "no-negative-evidence"),
}


def test_every_code_of_the_specification_exists_at_its_level() -> None:
    assert {code for code, kind in CODES.items() if kind.level is Level.ERROR} == ERRORS
    assert {code for code, kind in CODES.items() if kind.level is Level.WARNING} == WARNINGS


def test_every_code_says_what_it_means_in_a_sentence() -> None:
    assert all(kind.says[0].isupper() and kind.says.endswith(".") and "\n" not in kind.says for kind in CODES.values())


def test_a_checkup_is_ok_exactly_where_there_is_no_error() -> None:
    assert not checkup(graph(Route("a", "b"))).ok
    warned = checkup(graph(Entry("a"), skills=("a", "b")))
    assert warned.ok
    assert warned.problems
    assert checkup(graph(Entry("a"))) == checkup(graph(Entry("a")))
    assert str(checkup(graph(Entry("a")))) == "nothing is wrong with the graph"


def test_a_problem_has_its_code_level_message_skill_ends_and_fix() -> None:
    (first, *_) = checkup(graph(Entry("a"), Route("a", "zzz", on_tool="t"), skills=("a",))).problems
    assert (first.code, first.level) == ("unknown-skill", "error")
    assert (first.skill, first.from_, first.to) == ("zzz", "a", "zzz")
    assert list(first.to_dict()) == ["code", "level", "message", "skill", "from", "to", "fix"]
    assert first.message
    assert first.fix


def test_a_checkup_has_ok_problems_and_notes() -> None:
    declared = graph(Route("a", "b"), suppress={"unreachable-skill": "later"})
    assert list(checkup(declared).to_dict()) == ["ok", "problems", "notes"]


def test_findings_stand_in_the_order_of_the_checks_and_in_each_of_the_declaration() -> None:
    declared = graph(
        Entry("a"),
        Route("a", "b", on_tool="x", on_status=("sucess",)),
        Route("b", "b", on_tool="x"),
        Route("a", "zzz", guard=guard(size={"gt": "m"})),
        skills=("a", "b", "c"),
    )
    assert codes(declared) == [
        *("unknown-skill", "unknown-status", "untyped-comparison", "unreachable-skill", "dead-end", "self-loop"),
    ]


def test_suppressed_problems_are_left_out_and_a_note_says_how_many_and_why() -> None:
    declared = graph(Entry("a"), skills=("a", "b", "c"), suppress={"unreachable-skill": "they come later"})
    report = checkup(declared)
    assert report.problems == ()
    assert report.notes == ("2 warnings of `unreachable-skill` suppressed: they come later",)


def test_a_suppressed_error_leaves_the_graph_ok_and_the_note_calls_it_an_error() -> None:
    report = checkup(graph(Route("a", "b"), suppress={"no-entry": "made by hand"}))
    assert report.ok
    assert "1 error of `no-entry` suppressed: made by hand" in report.notes


def test_a_suppressed_code_that_does_not_exist_is_noted_with_what_it_may_mean() -> None:
    notes = checkup(graph(Entry("a"), suppress={"dead-ends": "x", "qqqq": "y"})).notes
    assert notes == (
        "`dead-ends` is suppressed, and there is no such code; did you mean `dead-end`?",
        "`qqqq` is suppressed, and there is no such code.",
    )


def test_a_suppressed_code_of_which_nothing_is_found_needs_no_note() -> None:
    assert checkup(graph(Entry("a"), suppress={"trap": "x"})).notes == ()


def test_notes_say_what_examples_and_negative_phrases_do_not_prove_only_where_there_are_some() -> None:
    assert checkup(graph(Entry("a", words("x")))).notes == ()
    (examples,) = checkup(graph(Entry("a", words("x"), ("x",)))).notes
    assert "other words are not tried" in examples
    (never,) = checkup(graph(Entry("a", words("x")), never_routes=("hello",))).notes
    assert "exactly these phrases" in never


@pytest.mark.parametrize(("pick", "who"), [(some.EntryPick.READ, "the model"), (some.LongestWins(), "a scorer")])
def test_notes_say_that_the_order_was_not_tried_where_somebody_chooses(pick: object, who: str) -> None:
    notes = checkup(graph(Entry("a", words("x"), ("x",)), pick=pick)).notes
    assert any("not tried" in note and who in note for note in notes)


@pytest.mark.soak
def test_routes_that_were_too_many_to_compare_are_noted() -> None:
    ranges = (guard(n={"gte": number, "lt": number + 1}) for number in range(250))
    report = checkup(graph(Entry("a"), *(Route("a", f"b{at}", guard=one) for at, one in enumerate(ranges))))
    assert [note for note in report.notes if "`ambiguous-routes`" in note]


def test_a_checkup_can_be_had_of_a_built_graph_at_any_time_and_changes_nothing() -> None:
    declared = graph(Entry("a"), Route("a", "b", on_tool="x"))
    built = SkillGraph.of(declared)
    assert built.checkup() == checkup(declared) == built.checkup()
    assert built.checkup(known_tools=["y"]) == checkup(declared, ["y"])
    assert built.declared is declared


@pytest.mark.parametrize("known", ["search", [print], [("a", "b")]], ids=str)
def test_known_tools_that_are_no_names_are_refused(known: list[str]) -> None:
    with pytest.raises(InvalidGraph, match="give names such as"):
        checkup(graph(Entry("a")), known)


KNOWN = st.none() | st.lists(some.tool_names | some.texts, max_size=3)


@given(some.odd_graphs | some.graphs, KNOWN)
def test_a_checkup_never_raises_finds_the_same_again_and_leaves_out_what_is_suppressed(
    declared: Declared, known: list[str] | None
) -> None:
    left_out = [*CODES][::2]
    loud = replace(declared, suppress=MappingProxyType({}))
    report = checkup(loud, known)
    assert checkup(loud, known) == report
    quiet = checkup(replace(declared, suppress=MappingProxyType(dict.fromkeys(left_out, "x"))), known)
    assert quiet.problems == tuple(one for one in report.problems if one.code not in left_out)
    for one in report.problems:
        assert one.level is CODES[one.code].level
        assert one.fix.endswith(".")
        assert one.message.endswith(".")
        assert one.message.isprintable()
        assert len(one.message) < 600
        unquoted = re.sub("`[^`]*`|“[^”]*”", "x", one.message)
        assert len(re.findall(r"[.!?](?= |$)", unquoted)) in (1, 2), one.message


@pytest.mark.soak
def test_a_thousand_skills_and_five_thousand_routes_are_checked_with_no_more_calls_than_fit_into_a_second() -> None:
    ids = [f"s{number}" for number in range(1_000)]
    entries = (Entry(one, words(f"word{number}")) for number, one in enumerate(ids))
    routes = (
        Route(one, ids[(number + 7 * step + 1) % 1_000], on_tool=f"tool{step % 3}", guard=guard(n={"gt": step}))
        for number, one in enumerate(ids)
        for step in range(5)
    )
    declared = graph(*entries, *routes)
    profile = Profile()
    report = profile.runcall(checkup, declared)
    assert (len(declared.routes), bool(report.problems)) == (5_000, True)
    assert Stats(profile).total_calls < 4_000_000  # type: ignore[attr-defined]
