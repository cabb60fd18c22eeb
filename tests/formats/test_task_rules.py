import pytest

from skillweave import Diagnostic, Severity
from skillweave.formats.task_rules import MOST_RULES, RulesRead, read_task_rules
from skillweave.frontmatter.documents import read_json, read_yaml
from skillweave.skills import RiskLevel, TaskRule, When
from skillweave.values import Location


def read(text: str) -> RulesRead:
    document = read_yaml(text, path="p.yaml")
    assert document.data is not None
    return read_task_rules(document.data, document.lines, path="p.yaml", source="pack p")


def errors(found: RulesRead) -> list[Diagnostic]:
    return [finding for finding in found.diagnostics if finding.severity is Severity.ERROR]


def test_a_rule_is_read_with_its_place() -> None:
    found = read("pack: {}\ntask_rules:\n  - when: {coding: true}\n    skills: [a, b]\n")
    assert found.rules == (TaskRule(When(coding=True), ("a", "b"), "pack p", Location("p.yaml", 3)),)
    assert found.diagnostics == ()


def test_a_risk_level_is_one_or_a_list() -> None:
    found = read(
        "task_rules:\n- {when: {risk_level: high}, skills: [a]}\n- {when: {risk_level: [low, high]}, skills: [a]}"
    )
    assert [rule.when.risk_levels for rule in found.rules] == [(RiskLevel.HIGH,), (RiskLevel.LOW, RiskLevel.HIGH)]


def test_json_types_are_read_too() -> None:
    document = read_json('{"task_rules": [{"when": {"coding": false}, "skills": ["a"]}]}', path="p.json")
    assert document.data is not None
    (rule,) = read_task_rules(document.data, document.lines, path="p.json", source="pack p").rules
    assert rule.when == When(coding=False)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("{skills: [a]}", "is missing, and a rule without it would fire for every task"),
        ("{when: {}, skills: [a]}", "asks nothing of a task"),
        ("{when: , skills: [a]}", "is missing"),
        ("{when: {coding: }, skills: [a]}", "is empty"),
        ("{when: {coding: yes}, skills: [a]}", "is 'yes', not true or false"),
        ('{when: {coding: "true"}, skills: [a]}', "is 'true', not true or false"),
        ("{when: {risk_level: huge}, skills: [a]}", "is 'huge', not one of low, medium, high"),
        ("{when: {risk_level: [low, huge]}, skills: [a]}", "names 'huge', which is not a risk level"),
        ("{when: {risk_level: []}, skills: [a]}", "names no level"),
        ("{when: {codign: true}, skills: [a]}", "`task_rules[0].when.codign` is nothing that can be asked of a task"),
        ("{when: {coding: true, mood: good}, skills: [a]}", "`task_rules[0].when.mood` is nothing that can be asked"),
        ("{when: {description: x}, skills: [a]}", "is nothing that can be asked of a task"),
        ("{when: [coding], skills: [a]}", "is a list, not a mapping"),
        ("{when: {coding: true}}", "names no skill to give"),
        ("{when: {coding: true}, skills: []}", "names no skill to give"),
        ('{when: {coding: true}, skills: [a, ""]}', "`task_rules[0].skills[1]` is empty"),
        ("{when: {coding: true}, skills: [a, {b: [c]}]}", "`task_rules[0].skills[1]` is a mapping, not text"),
        (f"{{when: {{coding: true}}, skills: [{'a' * 101}]}}", "which can be no skill's id"),
        ("just text", "is 'just text', not a mapping"),
    ],
)
def test_a_rule_with_a_mistake_is_left_out_as_a_whole_and_the_place_is_told(rule: str, words: str) -> None:
    found = read(f"pack: {{}}\ntask_rules:\n  - {rule}\n  - {{when: {{coding: true}}, skills: [good]}}\n")
    assert [known.skills for known in found.rules] == [("good",)]
    assert any(words in error.message for error in errors(found)), errors(found)
    assert {(error.code, error.location and error.location.line) for error in errors(found)} == {("task-rule", 3)}
    assert all(error.message.endswith("; the rule is left out") and error.fix for error in errors(found))


def test_an_unknown_key_beside_the_conditions_is_told_and_costs_nothing() -> None:
    found = read("task_rules:\n  - {when: {coding: true}, skills: [a], note: x}\n")
    assert len(found.rules) == 1
    assert [finding.code for finding in found.diagnostics] == ["unknown-key"]


def test_a_name_that_is_no_id_is_read_as_its_skill_would_be() -> None:
    found = read("task_rules:\n  - {when: {coding: true}, skills: [My Skill]}\n")
    assert found.rules[0].skills == ("My-Skill",)
    assert [finding.code for finding in found.diagnostics] == ["id-repaired"]


@pytest.mark.parametrize("text", ["pack: {}", "task_rules:", "task_rules: []"])
def test_no_rules_are_no_finding(text: str) -> None:
    assert read(text) == RulesRead()


def test_what_is_no_list_of_rules_is_told() -> None:
    found = read("task_rules: coding")
    assert (found.rules, len(errors(found))) == ((), 1)


def test_more_rules_than_a_turn_can_look_at_are_left_out_with_one_finding() -> None:
    found = read("task_rules:\n" + "  - {when: {coding: true}, skills: [a]}\n" * (MOST_RULES + 5))
    assert len(found.rules) == MOST_RULES
    (error,) = errors(found)
    assert "has 1,005 rules; those after the first 1,000 are left out" in error.message
