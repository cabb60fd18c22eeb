import pytest

from skillweave import Evidence, Message, Role
from skillweave.errors import UnknownMatcher
from skillweave.select.selection import MATCHERS, select
from skillweave.skills import Task, TaskRule, When
from tests.asking import ask, chosen, index_of, skill, turn

LIBRARY = index_of(
    skill("deploy-app", "deploy", description="Deploy the application to production servers"),
    skill("rollback-app", description="Roll the application back to an earlier release on production servers"),
    task_rules=[TaskRule(When(coding=True), ("deploy-app",))],
)


def test_an_unknown_matcher_is_refused_by_name() -> None:
    with pytest.raises(UnknownMatcher, match=f"no matcher 'magic'; choose from {', '.join(MATCHERS)}"):
        ask(LIBRARY, "hi", matchers=["triggers", "magic"])


@pytest.mark.parametrize("name", list(MATCHERS))
def test_only_the_named_matcher_speaks(name: str) -> None:
    asked = turn(
        "/deploy-app: roll the application back to an earlier release",
        transcript=[Message(Role.ASSISTANT, "SKILL_SELECT:rollback-app")],
        task=Task(coding=True),
    )
    selection = select(LIBRARY, asked, matchers=[name])
    assert {each.matcher for each in selection.chosen} == {name}


def test_matchers_are_asked_in_their_own_order_whatever_order_they_are_named_in() -> None:
    message = "deploy it"
    assert ask(LIBRARY, message, matchers=["lexical", "triggers", "explicit"]) == ask(LIBRARY, message)


def test_no_matcher_selects_nothing() -> None:
    assert chosen(ask(LIBRARY, "deploy", matchers=[])) == []


def test_a_skill_that_two_matchers_choose_stands_once_with_the_evidence_of_both() -> None:
    selection = select(LIBRARY, turn("deploy now", named=["deploy-app"]))
    (only,) = selection.chosen
    assert (only.matcher, only.score) == ("explicit", 1.0)
    assert only.evidence == (Evidence("host", "deploy-app"), Evidence("keyword", "deploy", 0, 6))


def test_what_the_model_marked_goes_before_what_the_user_said() -> None:
    asked = turn("deploy", transcript=[Message(Role.ASSISTANT, "SKILL_SELECT:rollback-app")])
    assert chosen(select(LIBRARY, asked)) == ["rollback-app", "deploy-app"]


def test_the_lexical_index_is_built_at_its_first_use_and_kept() -> None:
    searched = index_of(skill("deploy-app", "deploy"))
    assert searched.lexical() is searched.lexical()
