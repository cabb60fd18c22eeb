from dataclasses import replace
from types import MappingProxyType

import pytest

from skillweave import Evidence, Message, Outcome, Role, Status
from skillweave.select.candidates import within_places
from skillweave.select.selection import DEFAULT, select
from skillweave.select.task import check_task_rules
from skillweave.skills import RiskLevel, Task, TaskRule, When
from tests.asking import candidate, chosen, index_of, refusal, skill, turn

CODING = Task("Add a login form", coding=True)


def rule(*skills: str, when: When | None = None) -> TaskRule:
    return TaskRule(when or When(coding=True), skills)


def test_a_rule_that_holds_chooses_its_skills_with_the_rule_as_evidence() -> None:
    selection = select(index_of(skill("b"), skill("a"), task_rules=[rule("a", "b")]), turn("hi", task=CODING))
    assert chosen(selection) == ["a", "b"]
    found = candidate(selection, "a")
    assert (found.matcher, found.score, found.together) == ("task", 1.0, ("a", "b"))
    assert found.evidence == (Evidence("task", "coding: true (the host)"),)


def test_a_turn_without_a_task_and_a_task_of_another_kind_choose_nothing() -> None:
    searched = index_of(skill("a"), task_rules=[rule("a")])
    assert chosen(select(searched, turn("hi"))) == []
    assert chosen(select(searched, turn("hi", task=Task("Write a letter")))) == []


def test_the_matcher_is_a_default_one_after_explicit_and_before_triggers() -> None:
    assert DEFAULT.index("explicit") < DEFAULT.index("task") < DEFAULT.index("triggers")


def test_what_was_named_goes_first_then_the_task_then_the_message() -> None:
    searched = index_of(skill("word", "login"), skill("work"), skill("named"), task_rules=[rule("work")])
    assert chosen(select(searched, turn("login", named=["named"], task=CODING))) == ["named", "work", "word"]


@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT, Role.TOOL])
def test_the_task_counts_whoever_spoke_last(role: Role) -> None:
    assert chosen(select(index_of(skill("a"), task_rules=[rule("a")]), turn("hi", role=role, task=CODING))) == ["a"]


def test_a_task_does_not_stop_triggers_nor_the_search_by_words() -> None:
    searched = index_of(
        skill("work"),
        skill("word", "deploy"),
        skill("invoices", description="Checks an invoice of a supplier before it is paid"),
        task_rules=[rule("work")],
    )
    assert chosen(select(searched, turn("deploy it", task=CODING))) == ["work", "word"]
    by_words = select(searched, turn("check the invoice of the supplier", task=CODING))
    assert chosen(by_words) == ["work", "invoices"]
    assert candidate(by_words, "invoices").matcher == "lexical"


def test_a_never_phrase_does_not_veto_what_the_task_calls_for() -> None:
    searched = index_of(skill("a", never=["login"]), task_rules=[rule("a")])
    assert chosen(select(searched, turn("login", task=CODING))) == ["a"]


def test_a_skill_of_several_rules_stands_once_with_all_of_them() -> None:
    risky = rule("a", "b", when=When(risk_levels=(RiskLevel.HIGH,)))
    searched = index_of(skill("a"), skill("b"), task_rules=[rule("a"), risky])
    selection = select(searched, turn("hi", task=Task("", RiskLevel.HIGH, coding=True)))
    assert [piece.text for piece in candidate(selection, "a").evidence] == [
        "coding: true (the host)",
        "risk_level: high (the host)",
    ]
    assert candidate(selection, "a").together == ("a",)


def test_a_rule_of_which_one_skill_cannot_be_had_gives_none_and_says_why() -> None:
    searched = index_of(
        skill("a"), skill("off", status=Status.DISABLED), task_rules=[rule("a", "off"), rule("a", "nobody", "a")]
    )
    selection = select(searched, turn("hi", task=CODING))
    assert chosen(selection) == []
    assert refusal(selection, "a").outcome is Outcome.UNMET
    assert refusal(selection, "a").reason == "the task rule gives it with 'off' or not at all"
    assert refusal(selection, "off").outcome is Outcome.INACTIVE
    assert refusal(selection, "nobody").outcome is Outcome.UNKNOWN


def test_another_rule_or_matcher_still_gives_a_skill_of_a_broken_rule() -> None:
    searched = index_of(
        skill("a", "login"), skill("b"), task_rules=[rule("a", "nobody"), rule("b", "nobody"), rule("b")]
    )
    selection = select(searched, turn("login", task=CODING))
    assert chosen(selection) == ["b", "a"]
    assert candidate(selection, "a").matcher == "triggers"


def test_whoever_speaks_for_a_skill_alone_frees_it_from_the_set() -> None:
    searched = index_of(skill("a", "login"), skill("b"), task_rules=[rule("a", "b")])
    assert candidate(select(searched, turn("login", task=CODING)), "a").together == ()


def test_a_rule_gives_a_skill_that_is_closed_to_the_model_as_the_host_states_the_task() -> None:
    closed = replace(skill("a"), extra=MappingProxyType({"disable-model-invocation": True}))
    searched = index_of(closed, task_rules=[rule("a")])
    assert "a" not in searched.positions
    assert chosen(select(searched, turn("hi", task=CODING))) == ["a"]


def test_what_is_out_of_reach_takes_its_set_with_it() -> None:
    searched = index_of(skill("a"), skill("b"), task_rules=[rule("a", "b")])
    selection = select(searched, turn("hi", task=CODING), within=frozenset({"a"}))
    assert chosen(selection) == []
    assert refusal(selection, "b").outcome is Outcome.UNREACHABLE


def test_a_marker_in_the_transcript_and_a_rule_make_one_candidate() -> None:
    searched = index_of(skill("a"), task_rules=[rule("a")])
    asked = turn("hi", transcript=[Message(Role.ASSISTANT, "SKILL_SELECT:a")], task=CODING)
    assert candidate(select(searched, asked), "a").matcher == "explicit"


def test_evidence_of_many_rules_is_bounded() -> None:
    many = [TaskRule(When(coding=True), ("a",), f"pack {n}") for n in range(1000)]
    assert len(candidate(select(index_of(skill("a"), task_rules=many), turn("hi", task=CODING)), "a").evidence) == 8


def test_an_unknown_skill_of_a_rule_is_a_finding_of_the_kit() -> None:
    searched = index_of(skill("deploy-app"), task_rules=[rule("deploy-ap", "deploy-app")])
    (finding,) = searched.diagnostics
    assert finding.code == "task-rule-unknown-skill"
    assert finding.message.startswith(
        "task rule coding: true (the host) gives 'deploy-ap', which is not in the registry"
    )
    assert finding.fix.startswith("write 'deploy-app' if that is meant")


def test_many_unknown_skills_are_all_told_but_few_are_looked_up() -> None:
    searched = index_of(*(skill(f"skill-{n}") for n in range(50)))
    found = check_task_rules([rule(*(f"skil-{n}" for n in range(500)))], searched.snapshot)
    assert len(found) == 500
    assert sum("if that is meant" in finding.fix for finding in found) == 10


def test_what_a_rule_gives_together_takes_one_place() -> None:
    searched = index_of(*(skill(name) for name in "abcde"), task_rules=[rule("a", "b", "c"), rule("d"), rule("e")])
    selection = within_places(select(searched, turn("hi", task=CODING)), 2)
    assert chosen(selection) == ["a", "b", "c", "d"]
    assert refusal(selection, "e").outcome is Outcome.OVER_LIMIT
    assert chosen(within_places(selection, 0)) == []
