"""Fitting probabilities and thresholds to labelled queries."""

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skillweave_eval.libraries import answer, case, skill, weaver_of

from skillweave import Settings
from skillweave.errors import InvalidData
from skillweave.select.own_fit import OwnFit
from skillweave_eval import Answer, Level
from skillweave_eval.answers import ask
from skillweave_eval.fit import Aims, FitReport, FittedFile, applied, fit_answers
from skillweave_eval.ranking import Configuration, Subject

SUBJECT = Subject("drinks", "dev", 200, 150, 50, 2, 0, 0, 0.95)


def made_answers(seed: int, count: int = 200, boldness: float = 2.0) -> list[Answer]:
    """Answers whose probabilities are bolder than they should be: the share right is nearer to a half."""
    draw = random.Random(seed)
    answers = []
    for number in range(count):
        stated = draw.random()
        odds = stated / (1 - stated)
        true = odds ** (1 / boldness) / (1 + odds ** (1 / boldness))
        right = draw.random() < true
        expect = () if number % 4 == 0 and not right else (("tea",) if right else ("coffee",))
        answers.append(answer(silent=["tea"], probabilities=[stated], expect=expect, id=str(number)))
    return answers


ANSWERS = made_answers(1)
CONFIGURATION = Configuration(("lexical",))


def test_what_is_stated_too_boldly_is_flattened() -> None:
    fitted = fit_answers(made_answers(2, 2_000), SUBJECT, CONFIGURATION).fitted
    assert fitted.slope == pytest.approx(0.5, abs=0.1)
    assert fitted.offset == pytest.approx(0, abs=0.2)


def test_the_brier_score_falls_on_held_out_queries() -> None:
    told = {one.name: one for one in fit_answers(made_answers(2, 1_000), SUBJECT, CONFIGURATION).differences}
    assert told["brier"].change.value < 0


def test_giving_begins_where_the_precision_is_reached() -> None:
    bold = fit_answers(ANSWERS, SUBJECT, CONFIGURATION, aims=Aims(precision=0.6)).fitted
    careful = fit_answers(ANSWERS, SUBJECT, CONFIGURATION, aims=Aims(precision=0.9)).fitted
    assert bold.give_at < careful.give_at


def test_offering_begins_above_most_queries_without_a_right_skill() -> None:
    quiet = fit_answers(ANSWERS, SUBJECT, CONFIGURATION, aims=Aims(silent=0.95)).fitted
    eager = fit_answers(ANSWERS, SUBJECT, CONFIGURATION, aims=Aims(silent=0.5)).fitted
    assert eager.offer_at < quiet.offer_at <= quiet.give_at


def test_a_fit_is_the_same_for_the_same_queries() -> None:
    assert fit_answers(ANSWERS, SUBJECT, CONFIGURATION) == fit_answers(ANSWERS, SUBJECT, CONFIGURATION)


def test_a_report_travels() -> None:
    report = fit_answers(ANSWERS, SUBJECT, CONFIGURATION)
    assert FitReport.from_dict(report.to_dict()) == report


@pytest.mark.parametrize(
    ("answers", "told"),
    [
        (ANSWERS[:10], "only 10 queries"),
        ([answer(silent=["tea"], probabilities=[0.5], id=str(number)) for number in range(30)], "0 are not"),
        ([answer(silent=["tea"], id=str(number)) for number in range(30)], "0 ranked skills are right"),
    ],
)
def test_too_little_to_fit_to_is_said(answers: list[Answer], told: str) -> None:
    with pytest.raises(InvalidData, match=told):
        fit_answers(answers, SUBJECT, CONFIGURATION)


def test_what_is_fitted_is_applied_to_an_answer() -> None:
    fitted = OwnFit(1.0, 0.0, give_at=0.8, offer_at=0.3)
    before = answer(silent=["a", "b", "c", "d"], probabilities=[0.4, 0.9, 0.85, 0.1])
    after = applied(fitted, before, most_offered=1)
    assert [place.level for place in after.ranked] == [Level.SILENT, Level.GIVEN, Level.OFFERED, Level.SILENT]


def test_what_a_trigger_decided_stays_as_it_is() -> None:
    assert applied(OwnFit(1.0, 0.0, 0.8, 0.3), answer(given=["tea"])) == answer(given=["tea"])


def test_the_file_is_read_as_what_was_fitted(tmp_path: Path) -> None:
    report = fit_answers(ANSWERS, SUBJECT, CONFIGURATION, embedder="static-1")
    path = tmp_path / "fitted.json"
    path.write_text(FittedFile.of(report).text())
    data = json.loads(path.read_text())
    assert OwnFit.from_dict(data) == report.fitted
    assert (data["embedder"], data["fitted_on"], data["seed"]) == ("static-1", "drinks, dev", 0)


@given(st.floats(0.05, 20), st.floats(-10, 10), st.floats(0, 1, allow_nan=False), st.floats(0, 1, allow_nan=False))
def test_what_is_fitted_keeps_the_order_of_skills(slope: float, offset: float, one: float, other: float) -> None:
    fitted = OwnFit(slope, offset, 0.9, 0.1)
    low, high = sorted((one, other))
    assert 0 <= fitted.probability(low) <= fitted.probability(high) <= 1


BREWING = skill("brewing", "Brews fine leaves in a porcelain pot for afternoon guests.")
QUERY = case("How do I brew fine leaves in a pot for guests?", ["brewing"])


async def test_a_weaver_gives_from_the_fitted_probability_on() -> None:
    for give_at, level in ((0.0, Level.GIVEN), (1.0, Level.OFFERED)):
        settings = Settings(fitted=OwnFit(1.0, 0.0, give_at, 0.0))
        assert (await ask(weaver_of(BREWING, settings=settings), QUERY)).level("brewing") is level


async def test_the_fitted_probability_stands_in_the_candidate() -> None:
    plain = await ask(weaver_of(BREWING), QUERY)
    settings = Settings(fitted=OwnFit(2.0, 0.5, 0.9, 0.0))
    fitted = await ask(weaver_of(BREWING, settings=settings), QUERY)
    stated, put_right = plain.ranked[0].probability, fitted.ranked[0].probability
    assert stated is not None and put_right == pytest.approx(settings.fitted.probability(stated), abs=1e-3)  # type: ignore[union-attr]


async def test_what_was_fitted_for_an_embedder_does_not_count_for_words_alone() -> None:
    settings = Settings(fitted=OwnFit(1.0, 30.0, 0.0, 0.0, embedder="static-1"))
    assert await ask(weaver_of(BREWING, settings=settings), QUERY) == await ask(weaver_of(BREWING), QUERY)


async def test_settings_say_how_many_ranked_skills_are_told() -> None:
    many = [skill(f"brewing-{number}", "Brews fine leaves in a pot.") for number in range(20)]
    for ranked in (15, 18):
        found = await ask(weaver_of(*many, settings=Settings(ranked=ranked, offer_most=2)), QUERY)
        assert len(found.ranked) == ranked
