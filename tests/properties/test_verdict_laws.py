"""Laws of what is given and offered, over random libraries and messages."""

from hypothesis import given
from hypothesis import strategies as st

from skillweave.select.lexical_index import build_lexical_index
from skillweave.select.matchers import Thresholds
from skillweave.select.own_fit import fitted
from skillweave.select.query import read_query
from skillweave.select.ranking import rank
from skillweave.select.selection import select
from skillweave.text.search import fold_message
from tests.asking import index_of, skill, turn

WORDS = ("invoice", "supplier", "boat", "bread", "oven", "meeting", "pricing", "docker", "chart", "table", "letter")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
LIBRARIES = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8)
PROBABILITIES = st.none() | st.floats(0, 1)
THRESHOLDS = st.builds(Thresholds, PROBABILITIES, PROBABILITIES, st.integers(0, 6))


def library(told: list[tuple[str, str]]) -> object:
    return index_of(*(skill(f"s{n}", description=brief, body=body) for n, (brief, body) in enumerate(told)))


@given(LIBRARIES, TEXTS, THRESHOLDS)
def test_a_skill_stands_in_one_place_and_the_same_asked_twice_is_the_same(
    told: list[tuple[str, str]], message: str, thresholds: Thresholds
) -> None:
    searched = library(told)
    selection = select(searched, turn(message), thresholds=thresholds)  # type: ignore[arg-type]
    ids = [each.skill_id for each in (*selection.chosen, *selection.offered)]
    ids += [each.candidate.skill_id for each in selection.rejected]
    assert len(ids) == len(set(ids))
    assert len(selection.offered) <= thresholds.offer_most
    assert selection == select(library(told), turn(message), thresholds=thresholds)  # type: ignore[arg-type]


@given(LIBRARIES, TEXTS, THRESHOLDS)
def test_nothing_is_given_below_the_threshold_nor_offered_below_its_own(
    told: list[tuple[str, str]], message: str, thresholds: Thresholds
) -> None:
    selection = select(library(told), turn(message), thresholds=thresholds)  # type: ignore[arg-type]
    give_at = fitted()[None, False].give_at if thresholds.give_at is None else thresholds.give_at
    offer_at = fitted()[None, False].offer_at if thresholds.offer_at is None else thresholds.offer_at
    assert all(give_at <= (each.probability or 0) <= 1 for each in selection.chosen)
    assert all(offer_at <= (each.probability or 0) <= 1 for each in selection.offered)


@given(LIBRARIES, TEXTS, st.integers(1, 30))
def test_unrelated_skills_hardly_change_how_likely_the_others_are(
    told: list[tuple[str, str]], message: str, more: int
) -> None:
    query = read_query(fold_message(message))
    skills = [skill(f"s{n}", description=brief, body=body) for n, (brief, body) in enumerate(told)]
    others = [skill(f"other{n}", description="walrus glacier", body="parsnip") for n in range(more)]
    few, many = build_lexical_index(skills), build_lexical_index([*skills, *others])
    before, after = rank(few, query, 8).best, rank(many, query, 8).best
    assert {each.position for each in before} == {each.position for each in after}
    likely = {each.position: fitted()[None, False].probability(each.features) for each in before}
    assert all(abs(likely[each.position] - fitted()[None, False].probability(each.features)) < 0.05 for each in after)
