"""What is learned from labelled messages."""

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.skillweave_eval.learning.conversations import NOON, heard
from tests.skillweave_eval.libraries import answer

from skillweave.selection import OwnFit
from skillweave_eval import Answer, Level
from skillweave_eval.learning.learned import (
    CONVERSATIONS,
    COST_OF_WRONG,
    FADING,
    MOST,
    USERS,
    Learned,
    given_from,
    learned_border,
    learned_phrases,
)

NOTHING = Learned.nothing(OwnFit(1.0, 0.0, 0.5, 0.01), "")
TODAY = datetime.fromtimestamp(NOON, UTC).date()
USERS_NAMED = ("ann", "ben", "")
MESSAGES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(["chair", "lamp", "friday", "quiet", "corner", "lift"]), max_size=5).map(" ".join),
        st.integers(0, 6),
        st.sampled_from(USERS_NAMED),
    ),
    max_size=25,
)


def said(*texts: str, users: tuple[str, ...] = ("ann", "ben", "cleo")) -> list:  # type: ignore[type-arg]
    return [heard(text, number=n, user=users[n % len(users)]) for n, text in enumerate(texts)]


def test_words_that_led_several_people_to_a_skill_become_its_phrases() -> None:
    told = said("balcony terrace please", "is there a balcony terrace", "balcony terrace for Zebulon")
    assert learned_phrases(told, NOTHING, TODAY) == {"desk-booking": {"balcony terrace": TODAY.isoformat()}}


def test_what_one_person_alone_says_is_not_learned() -> None:
    told = said("balcony terrace", "balcony terrace", "balcony terrace", users=("ann",))
    assert learned_phrases(told, NOTHING, TODAY) == {}


def test_where_nobody_says_who_speaks_nothing_is_learned() -> None:
    told = said("balcony terrace", "balcony terrace", "balcony terrace", users=("",))
    assert learned_phrases(told, NOTHING, TODAY) == {}


def test_a_phrase_that_nobody_says_any_more_is_forgotten() -> None:
    days = {"old corner": TODAY - FADING - timedelta(days=1), "new corner": TODAY - FADING}
    before = replace(NOTHING, phrases={"desk-booking": {text: day.isoformat() for text, day in days.items()}})
    assert set(learned_phrases([], before, TODAY)["desk-booking"]) == {"new corner"}


@given(MESSAGES)
def test_every_learned_word_was_said_in_several_conversations_by_several_users(
    messages: list[tuple[str, int, str]],
) -> None:
    told = [heard(text, number=number, user=user) for text, number, user in messages]
    where, who = defaultdict(set), defaultdict(set)
    for text, number, user in messages:
        for word in text.split():
            where[word].add(number)
            who[word].update({user} - {""})
    phrases = learned_phrases(told, NOTHING, TODAY).get("desk-booking", {})
    assert len(phrases) <= MOST
    words = {word for phrase in phrases for word in phrase.split()}
    assert all(len(where[word]) >= CONVERSATIONS and len(who[word]) >= USERS for word in words)


JUDGED = st.lists(st.tuples(st.floats(0.01, 0.99), st.booleans()), max_size=60)


def judged(pairs: list[tuple[float, bool]]) -> list[Answer]:
    return [
        answer(offered=["tea"], probabilities=[sure], expect=("tea",) if right else ("coffee",), id=str(number))
        for number, (sure, right) in enumerate(pairs)
    ]


def counts(pairs: list[tuple[float, bool]], border: float) -> tuple[int, int]:
    given_ones = [right for sure, right in pairs if sure >= border]
    return sum(given_ones), len(given_ones) - sum(given_ones)


@given(JUDGED, st.floats(0.05, 0.95))
def test_a_learned_border_brings_at_least_as_much_as_the_one_before(
    pairs: list[tuple[float, bool]], today: float
) -> None:
    right_before, wrong_before = counts(pairs, today)
    right, wrong = counts(pairs, learned_border(judged(pairs), today))
    assert right - COST_OF_WRONG * wrong >= right_before - COST_OF_WRONG * wrong_before
    assert wrong <= max(wrong_before, 0.01 * len(pairs))


def test_giving_begins_earlier_where_the_unsure_ones_are_right() -> None:
    assert learned_border(judged([(0.2 + n / 100, True) for n in range(30)]), 0.6) < 0.3


def test_giving_begins_later_where_the_sure_ones_are_wrong() -> None:
    pairs = [(0.6 + n / 1000, False) for n in range(20)] + [(0.9, True)] * 5
    assert learned_border(judged(pairs), 0.5) == 0.9


@given(st.floats(0.01, 0.99), st.lists(st.floats(0.01, 0.99), min_size=2, max_size=6))
def test_a_lower_border_never_gives_less(sure: float, borders: list[float]) -> None:
    one = answer(offered=["tea"], probabilities=[sure])
    many = [given_from(border, one).level("tea") is Level.GIVEN for border in sorted(borders)]
    assert all(lower or not higher for lower, higher in pairwise(many))


def test_a_day_is_read_as_a_day() -> None:
    phrases = learned_phrases(said("balcony terrace", "balcony terrace", "balcony terrace"), NOTHING, TODAY)
    assert date.fromisoformat(phrases["desk-booking"]["balcony terrace"]) == TODAY
