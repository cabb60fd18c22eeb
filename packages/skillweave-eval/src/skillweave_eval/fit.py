"""Fitting probabilities and thresholds to one's own labelled queries, told by queries that were held out (spec 2.4)."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import ClassVar

from skillweave.errors import InvalidData
from skillweave.selection import NEVER_SURE, OwnFit
from skillweave.values import Portable
from skillweave_eval.answers import Answer, Level, Place
from skillweave_eval.metrics import Difference, Resampling, differences_of
from skillweave_eval.ranking import Bin, Configuration, Subject, reliability_of

FOLDS = 5
LEAST_QUERIES = 20
LEAST_OF_EACH = 5
"""So many ranked skills that are right, and so many that are not, must have a probability."""
OFFER_AT = 0.1
"""Where offering begins when no query says what would be too much."""
FLATTEST = 0.05
"""A slope below this would make all skills alike, or turn their order round."""
NEVER = 0.999
TOLD = frozenset({"right_given", "right_reached", "precision_given", "wrong_given", "none_silent", "brier"})
"""The figures that a fit changes."""


@dataclass(frozen=True, slots=True)
class Aims:
    """What thresholds are fitted to.

    `precision` is the share of what is given that must be right, `silent` the share of the queries without a right
    skill for which nothing may be offered, `most_offered` how many are offered at most.
    """

    precision: float = 0.95
    silent: float = 0.9
    most_offered: int = 5


@dataclass(frozen=True, slots=True)
class FitReport(Portable):
    """What was fitted, and what it changes on queries that were held out while fitting.

    `differences` go from what the matchers do by themselves to what they do fitted; `reliability` is that of the fitted
    probabilities. `output` is the file that it was written to, None for none.
    """

    subject: Subject
    configuration: Configuration
    folds: int
    precision: float
    silent: float
    fitted: OwnFit
    differences: tuple[Difference, ...]
    reliability: tuple[Bin, ...]
    output: str | None = None


@dataclass(frozen=True, slots=True)
class FittedFile(OwnFit):
    """The file of a fit: what counts, and what it was fitted on."""

    json_keys: ClassVar[tuple[str, ...]] = ("...",)

    fitted_on: str = ""
    queries: int = 0
    folds: int = 0
    seed: int = 0

    @classmethod
    def of(cls, report: FitReport) -> "FittedFile":
        """What is stored of a fit."""
        fitted, subject = report.fitted, report.subject
        stated = fitted.slope, fitted.offset, fitted.give_at, fitted.offer_at, fitted.embedder, fitted.list_at
        return cls(*stated, f"{subject.data}, {subject.split}", subject.queries, report.folds, subject.seed)

    def text(self) -> str:
        """The text of the file, which `--fitted` reads."""
        return f"{json.dumps(self.to_dict(), indent=2)}\n"


def fit_answers(
    answers: Sequence[Answer],
    subject: Subject,
    configuration: Configuration,
    *,
    embedder: str | None = None,
    aims: Aims | None = None,
    folds: int = FOLDS,
) -> FitReport:
    """Fit to all queries, and tell by cross-validation what that is worth: slope, offset and thresholds of each fold
    are fitted to the others.

    The answers must come from matchers without anything fitted.

    Raises:
        InvalidData: there are too few queries, or too few with a probability.
    """
    from sklearn.model_selection import KFold

    aims = aims or Aims()
    known = [answer for answer in answers if answer.case.expect is not None]
    _require_enough(known)
    held_out: dict[int, Answer] = {}
    for training, testing in KFold(n_splits=folds, shuffle=True, random_state=subject.seed).split(known):
        part = _fitted([known[number] for number in training], embedder, aims)
        held_out.update({int(number): applied(part, known[number], aims.most_offered) for number in testing})
    after = [held_out[number] for number in range(len(known))]
    resampling = Resampling(subject.seed, subject.resamples, subject.confidence)
    differences = differences_of(known, after, resampling)
    return FitReport(
        subject,
        configuration,
        folds,
        aims.precision,
        aims.silent,
        _fitted(known, embedder, aims),
        tuple(one for one in differences if one.name in TOLD),
        reliability_of(after),
    )


def _require_enough(answers: Sequence[Answer]) -> None:
    labels = [right for answer in answers for _, right in _labelled(answer)]
    if len(answers) < LEAST_QUERIES:
        raise InvalidData(f"only {len(answers)} queries can be fitted to; label at least {LEAST_QUERIES}")
    if min(labels.count(True), labels.count(False)) < LEAST_OF_EACH:
        raise InvalidData(
            f"{labels.count(True)} ranked skills are right and {labels.count(False)} are not; at least {LEAST_OF_EACH} "
            "of each are needed: label more queries, and check that their skills are loaded"
        )


def _labelled(answer: Answer) -> list[tuple[Place, bool]]:
    """The ranked skills that have a probability, and whether each is right; harmless ones are left out."""
    case = answer.case
    known = (place for place in answer.ranked if place.probability is not None and place.skill_id not in case.fine)
    return [(place, place.skill_id in (case.expect or ())) for place in known]


def _fitted(answers: Sequence[Answer], embedder: str | None, aims: Aims) -> OwnFit:
    slope, offset = _stretch(answers)
    loose = OwnFit(slope, offset, NEVER, NEVER, embedder)
    best: list[tuple[float, bool]] = []
    without: list[float] = []
    for answer in answers:
        likely = [(_put_right(loose, place), right) for place, right in _labelled(answer)]
        if likely:
            best.append(max(likely, key=lambda pair: pair[0]))
        if answer.case.expect == ():
            without.append(max((sure for sure, _ in likely), default=0.0))
    give_at = _give_at(best, aims.precision)
    return replace(loose, give_at=round(give_at, 4), offer_at=round(min(give_at, _offer_at(without, aims.silent)), 4))


def _stretch(answers: Sequence[Answer]) -> tuple[float, float]:
    """Slope and offset of the log-odds by logistic regression; as they are where only one label is there."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    pairs = [pair for answer in answers for pair in _labelled(answer)]
    labels = np.array([right for _, right in pairs])
    if not len(labels) or labels.all() or not labels.any():
        return 1.0, 0.0
    # A little shrinkage: on a few queries that are told apart perfectly the slope would have no bound.
    model = LogisticRegression(C=10.0, max_iter=1000).fit(np.array([[_odds(place)] for place, _ in pairs]), labels)
    return round(max(FLATTEST, float(model.coef_[0, 0])), 6), round(float(model.intercept_[0]), 6)


def _odds(place: Place) -> float:
    sure = min(max(place.probability or 0.0, NEVER_SURE), 1 - NEVER_SURE)
    return log(sure / (1 - sure))


def _put_right(fitted: OwnFit, place: Place) -> float:
    return round(fitted.probability(place.probability or 0.0), 4)


def _give_at(best: Sequence[tuple[float, bool]], precision: float) -> float:
    """The lowest probability from which on so much is right, when the best skill of each query is given."""
    least, right = NEVER, 0
    ranked = sorted(best, key=lambda pair: -pair[0])
    for count, (sure, correct) in enumerate(ranked, start=1):
        right += correct
        together = count < len(ranked) and ranked[count][0] == sure
        if right / count >= precision and not together:
            least = sure
    return least


def _offer_at(highest: Sequence[float], silent: float) -> float:
    """The lowest probability above what that share of the queries without a right skill comes to."""
    if not highest:
        return OFFER_AT
    quiet = sorted(highest)[min(len(highest) - 1, max(0, round(silent * len(highest)) - 1))]
    return min(NEVER, quiet + 1e-4)


def applied(fitted: OwnFit, answer: Answer, most_offered: int = 5) -> Answer:
    """What the answer would have been with that fitted: of the skills with a probability the best may be given."""
    probabilities = {
        place.skill_id: _put_right(fitted, place) for place in answer.ranked if place.probability is not None
    }
    order = sorted(probabilities, key=lambda skill_id: -probabilities[skill_id])
    # A second one is given only for what the first leaves of the message, which a matcher alone can say.
    second = [one for one in order[1:] if answer.level(one) is Level.GIVEN]
    given = {skill_id for skill_id in (*order[:1], *second) if probabilities[skill_id] >= fitted.give_at}
    others = [one for one in order if one not in given and probabilities[one] >= fitted.offer_at]
    levels = dict.fromkeys(given, Level.GIVEN) | dict.fromkeys(others[:most_offered], Level.OFFERED)
    places = tuple(
        replace(place, probability=known, level=levels.get(place.skill_id, Level.SILENT))
        if (known := probabilities.get(place.skill_id)) is not None
        else place
        for place in answer.ranked
    )
    return replace(answer, ranked=places)
