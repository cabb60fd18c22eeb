from skillweave.relations.rules import all_requirements, exclusions, requirements
from tests.related import forbids, incompatible, requires, skill, snapshot


def _needed(*names: str, **skills: tuple[str, ...]) -> list[tuple[str, str]]:
    registry = snapshot(*(skill(name, *map(requires, companions)) for name, companions in skills.items()))
    return [(found.owner, found.rule.skill) for found in all_requirements(names, registry)]


def test_two_rules_about_one_companion_count_once_with_the_first_reason() -> None:
    rules = list(requirements(skill("a", requires("b", "first"), requires("b", "second"))))
    assert [rule.reason for rule in rules] == ["first"]


def test_both_kinds_of_exclusion_are_found_and_requirements_are_not() -> None:
    rules = exclusions(skill("a", requires("b"), forbids("c"), incompatible("d")))
    assert [rule.skill for rule in rules] == ["c", "d"]


def test_a_rule_about_the_skill_itself_means_nothing() -> None:
    itself = skill("a", requires("a"), forbids("a"))
    assert (list(requirements(itself)), list(exclusions(itself))) == ([], [])


def test_requirements_come_breadth_first() -> None:
    assert _needed("a", a=("b", "c"), b=("d",), c=(), d=()) == [("a", "b"), ("a", "c"), ("b", "d")]


def test_a_circle_of_requirements_ends() -> None:
    assert _needed("a", a=("b",), b=("a",)) == [("a", "b")]


def test_a_companion_that_the_registry_lacks_is_still_named() -> None:
    assert _needed("a", a=("lost",)) == [("a", "lost")]
