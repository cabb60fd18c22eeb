import pytest

from skillweave.errors import InvalidSkill, InvalidTurn
from skillweave.skills import RiskLevel, Task, TaskRule, When


def test_a_risk_level_is_taken_as_its_text_too() -> None:
    assert Task(risk_level="high").risk_level is RiskLevel.HIGH  # type: ignore[arg-type]


@pytest.mark.parametrize("fields", [{"risk_level": "huge"}, {"coding": "no"}, {"description": None}])
def test_a_task_of_wrong_values_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidTurn, match=r"choose from low|True or False|give a text"):
        Task(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("when", "task", "holds"),
    [
        (When(coding=True), Task(coding=True), True),
        (When(coding=True), Task(), False),
        (When(coding=False), Task(), True),
        (When(coding=False), Task(coding=True), False),
        (When(risk_levels=(RiskLevel.HIGH,)), Task(risk_level=RiskLevel.HIGH), True),
        (When(risk_levels=(RiskLevel.LOW, RiskLevel.HIGH)), Task(risk_level=RiskLevel.LOW), True),
        (When(risk_levels=(RiskLevel.LOW,)), Task(), False),
        (When(True, (RiskLevel.LOW,)), Task("", RiskLevel.LOW, True), True),
        (When(True, (RiskLevel.LOW,)), Task("", RiskLevel.HIGH, True), False),
        (When(True, (RiskLevel.LOW,)), Task("", RiskLevel.LOW), False),
    ],
)
def test_all_conditions_of_a_rule_must_hold(when: When, task: Task, holds: bool) -> None:
    assert when.holds(task) is holds


def test_a_rule_is_named_by_its_conditions_and_who_brings_it() -> None:
    rule = TaskRule(When(True, (RiskLevel.LOW, RiskLevel.HIGH)), ("a",))
    assert rule.name == "coding: true, risk_level: low or high (the host)"


def test_a_rule_that_asks_nothing_is_refused_as_it_would_fire_for_every_task() -> None:
    with pytest.raises(InvalidSkill, match="a task rule for a, b asks nothing of a task; say when it fires"):
        TaskRule(When(), ("a", "b"))


@pytest.mark.parametrize("skills", [(), "a", [1], None])
def test_a_rule_names_skills_in_a_list(skills: object) -> None:
    with pytest.raises(InvalidSkill, match=r"names no skill|write a list of ids"):
        TaskRule(When(coding=True), skills)  # type: ignore[arg-type]


def test_a_rule_names_each_skill_once() -> None:
    assert TaskRule(When(coding=True), ["a", "b", "a"]).skills == ("a", "b")  # type: ignore[arg-type]
