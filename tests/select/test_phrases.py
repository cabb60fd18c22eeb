"""Phrases that people would type, as a field of their own in the ranking (spec 2.7)."""

from dataclasses import replace

import numpy as np
import pytest

from skillweave import Skill, Turn
from skillweave.dialogue import Message, Role
from skillweave.select.hybrid import HybridMatcher
from skillweave.select.lexical_index import build_lexical_index
from skillweave.select.query import read_query
from skillweave.select.ranking import rank
from skillweave.select.selection import select
from skillweave.select.terms import MOST_REQUESTS
from skillweave.skill import Triggers
from skillweave.text.search import fold_message
from tests.asking import index_of
from tests.skills import make_skill

OTHERS = tuple(make_skill(f"other-{n}", description=f"Handles subject number {n} of the list.") for n in range(9))
INVOICES = make_skill("invoice-checking", description="Checks that bills add up.")
SLEEP = ("my baby wakes up every hour", "how do I get the little one to stay in bed", "no rest since the birth")


def first(message: str, *skills: Skill) -> str | None:
    best = rank(build_lexical_index(skills), read_query(fold_message(message)), 3).best
    return skills[best[0].position].id if best else None


def test_a_skill_is_found_by_words_that_only_its_phrases_have() -> None:
    plain = make_skill("infant-routines", description="Plans the day of infants.")
    message = "she wakes up all the time and nobody gets any rest"
    assert first(message, plain, *OTHERS) != plain.id
    assert first(message, replace(plain, phrases=SLEEP), *OTHERS) == plain.id


def test_an_authors_own_examples_and_the_phrases_both_find_their_skill() -> None:
    own = replace(INVOICES, phrases=("zebra crossing",), triggers=Triggers(examples=("the sums look odd",)))
    assert first("zebra crossing", own, *OTHERS) == own.id
    assert first("do these sums look odd to you", own, *OTHERS) == own.id


def test_an_authors_own_examples_go_before_the_phrases() -> None:
    examples = tuple(f"the sums of week {number} look odd" for number in range(MOST_REQUESTS))
    own = replace(INVOICES, phrases=("zebra crossing",), triggers=Triggers(examples=examples))
    assert first("zebra crossing", own, *OTHERS) is None


def test_the_same_phrase_counts_less_where_many_skills_have_it() -> None:
    def found(*skills: Skill) -> float:
        best = rank(build_lexical_index(skills), read_query(fold_message("the turbine howls")), 1).best[0]
        return best.score

    claimed = ("the turbine howls",)
    alone = found(replace(INVOICES, phrases=claimed), *OTHERS)
    shared = found(replace(INVOICES, phrases=claimed), *(replace(one, phrases=claimed) for one in OTHERS))
    assert shared < alone


def test_phrases_about_everything_gain_nothing_beyond_the_first_twelve() -> None:
    many = replace(INVOICES, phrases=(*(f"topic{n} please" for n in range(12)), "the turbine howls"))
    assert first("the turbine howls", many, *OTHERS) is None


def test_a_declared_trigger_of_another_skill_goes_before_any_phrase() -> None:
    hostile = replace(INVOICES, phrases=("brew me some tea", "tea", "make tea now"))
    tea = make_skill("tea-making", description="Brews.", keywords=("brew me some tea",))
    turn = Turn("t", "c", Message(Role.USER, "brew me some tea"))
    selection = select(index_of(hostile, tea, *OTHERS), turn)
    assert [one.skill_id for one in selection.chosen] == ["tea-making"]


def test_a_library_of_which_most_skills_have_phrases_has_a_calibration_of_its_own() -> None:
    assert not build_lexical_index((replace(INVOICES, phrases=("a",)), *OTHERS)).phrased
    assert build_lexical_index(replace(one, phrases=("a phrase",)) for one in OTHERS).phrased


class Directions:
    """An embedder of two directions: texts about beds, and all others."""

    id = "directions"

    async def embed(self, texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "bed" in text else [0.0, 1.0] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_the_nearest_phrase_of_a_skill_says_how_near_it_is(place: int) -> None:
    phrases = tuple("to bed" if n == place else "to work" for n in range(3))
    skills = (INVOICES, replace(OTHERS[0], phrases=phrases), OTHERS[1])
    matcher, index = HybridMatcher(Directions()), index_of(*skills)
    dense = await matcher.prepare(index, Turn("t", "c", Message(Role.USER, "off to bed")), 5.0)
    assert dense.cosines.tolist() == [0.0, 1.0, 0.0]
