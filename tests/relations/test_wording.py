import pytest

from skillweave import Status
from skillweave.relations.rules import name_shown, rule_shown, standing_shown
from skillweave.skills import Relation
from tests.related import forbids, incompatible, requires, skill


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (requires("b"), "`a` requires `b`"),
        (forbids("b", "they clash"), "`a` forbids `b`: they clash"),
        (incompatible("b"), "`a` is incompatible with `b`"),
    ],
)
def test_a_rule_reads_as_a_sentence(rule: Relation, sentence: str) -> None:
    assert rule_shown("a", rule) == sentence


def test_a_reason_over_several_lines_is_told_in_one() -> None:
    assert rule_shown("a", requires("b", "one\n  two")) == "`a` requires `b`: one two"


def test_a_reason_without_end_is_cut_and_says_so() -> None:
    assert rule_shown("a", requires("b", "x" * 5000)).endswith("x…")


def test_a_name_with_control_characters_stays_on_its_line() -> None:
    assert name_shown("a\nb\x1b") == "`a�b�`"


def test_a_name_over_a_hundred_characters_is_cut() -> None:
    assert name_shown("x" * 101) == f"`{'x' * 100}…`"


@pytest.mark.parametrize(
    ("status", "words"), [(Status.DRAFT, "a draft"), (Status.DISABLED, "disabled"), (Status.DEPRECATED, "deprecated")]
)
def test_a_status_is_told_in_words(status: Status, words: str) -> None:
    assert standing_shown(skill("a", status=status)) == words


def test_a_skill_that_is_not_there_is_told_in_words() -> None:
    assert standing_shown(None) == "not in the registry"
