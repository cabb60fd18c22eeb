from concurrent.futures import ThreadPoolExecutor

import pytest

from skillweave import Status
from skillweave.text.search import MatchMode
from tests.asking import ask, chosen, index_of, skill


def test_only_skills_that_may_be_selected_are_compiled_and_all_are_known() -> None:
    searched = index_of(skill("a"), skill("b", status=Status.DRAFT), skill("c", status=Status.DEPRECATED))
    assert [each.id for each in searched.active] == ["a", "c"]
    assert dict(searched.positions) == {"a": 0, "c": 1}
    assert "b" in searched.snapshot


def test_what_is_wrong_with_triggers_is_told_once_per_kit() -> None:
    searched = index_of(skill("a", ""), skill("b", patterns=["("]))
    assert [(each.skill, each.code) for each in searched.diagnostics] == [
        ("a", "empty-keyword"),
        ("b", "broken-pattern"),
    ]


def test_triggers_of_an_inactive_skill_are_not_checked() -> None:
    assert index_of(skill("b", patterns=["("], status=Status.DISABLED)).diagnostics == ()


def test_the_match_mode_is_chosen_when_the_kit_is_compiled() -> None:
    assert chosen(ask(index_of(skill("a", "greet")), "he regreeted")) == []
    assert chosen(ask(index_of(skill("a", "greet"), mode=MatchMode.SUBSTRING), "he regreeted")) == ["a"]


@pytest.mark.parametrize("said", ["Send greetings to Bob", "He greeted me", "She greets them", "Set it up by greeting"])
def test_a_verb_matches_its_english_inflections_and_a_keyword_only_itself(said: str) -> None:
    by_verb = skill("a", verbs=["greet"])
    assert chosen(ask(index_of(by_verb), said, matchers=["triggers"])) == ["a"]
    assert chosen(ask(index_of(skill("a", "greet")), said, matchers=["triggers"])) == []


@pytest.mark.parametrize("said", ["the greeter stood there", "regreeted", "ungreeted"])
def test_what_is_no_inflection_of_a_verb_does_not_match(said: str) -> None:
    assert chosen(ask(index_of(skill("a", verbs=["greet"])), said, matchers=["triggers"])) == []


def test_threads_that_ask_at_once_share_one_lexical_index() -> None:
    searched = index_of(*(skill(f"skill-{number}", description=f"about topic{number}") for number in range(50)))
    with ThreadPoolExecutor(8) as pool:
        built = list(pool.map(lambda _: searched.lexical(), range(16)))
    assert all(index is built[0] for index in built)
