"""From scores to a choice: relevance, the best of the candidates, and when nothing is chosen (spec 3.4)."""

from collections.abc import Mapping, Sequence
from math import exp, fsum, inf, isclose, isfinite
from numbers import Real

from skillweave.errors import InvalidScores
from skillweave.graph.scoring import RankedEntry, ScorePolicy


def scores_in_order(scorer: str, answer: object, asked: Sequence[str]) -> tuple[float, ...]:
    """The scores of a scorer's answer in the order in which it was asked; what is no finite number is minus infinity.

    Raises InvalidScores unless the answer has a number for each of the ids and for no other; a boolean is no number.
    """
    if not isinstance(answer, Mapping):
        raise InvalidScores(scorer, "scores by id", f"a value of type {type(answer).__name__}")
    given = dict(answer)
    missing = [id_ for id_ in asked if id_ not in given]
    if missing:
        found = f"none for {_named(missing)}" if given else "none at all"
        raise InvalidScores(scorer, f"{len(asked)} scores", found)
    known = set(asked)
    strange = [id_ for id_ in given if id_ not in known]
    if strange:
        raise InvalidScores(scorer, f"scores of {_named(asked)} alone", f"one for {_named(strange)}")
    return tuple(_number(scorer, id_, given[id_]) for id_ in asked)


def relevances(scores: Sequence[float], temperature: float) -> tuple[float, ...]:
    """The softmax of the scores: shares that add up to 1, equal ones where no score is finite; none of no scores."""
    highest = max(scores, default=-inf)
    if not isfinite(highest):
        return tuple(1 / len(scores) for _ in scores)
    weights = [exp((score - highest) / temperature) for score in scores]
    total = fsum(weights)
    return tuple(weight / total for weight in weights)


def best_of(scores: Sequence[float], policy: ScorePolicy) -> int | None:
    """The position of the highest score, of equal ones the first; None where no score is finite or the policy abstains.

    A lead that differs from the margin by rounding alone keeps it.
    """
    position = max(range(len(scores)), key=scores.__getitem__, default=None)
    if position is None or not isfinite(scores[position]):
        return None
    best = scores[position]
    if policy.min_score is not None and best < policy.min_score:
        return None
    if policy.margin is not None:
        lead = best - max((score for place, score in enumerate(scores) if place != position), default=-inf)
        if lead < policy.margin and not isclose(lead, policy.margin, rel_tol=1e-9):
            return None
    return position


def heard_of(scores: Sequence[float], policy: ScorePolicy) -> int | None:
    """The position of the intent that is heard: the best one, if its score is above `min_score`, or else above 0."""
    position = best_of(scores, policy)
    if position is None or scores[position] <= (policy.min_score or 0.0):
        return None
    return position


def ranked_entries(skills: Sequence[str], scores: Sequence[float], policy: ScorePolicy) -> tuple[RankedEntry, ...]:
    """The skills with their scores and relevances, in the order in which they are given."""
    shares = relevances(scores, policy.temperature)
    return tuple(map(RankedEntry, skills, scores, shares))


def _number(scorer: str, id_: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidScores(scorer, f"a number for {_named([id_])}", f"a value of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return -inf
    return number if isfinite(number) else -inf


def _named(ids: Sequence[object]) -> str:
    shown = ", ".join(repr(id_)[:60] for id_ in ids[:3])
    return f"{shown} and {len(ids) - 3} more" if len(ids) > 3 else shown
