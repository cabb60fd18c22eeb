"""What a set of answers is worth: ranking, giving, offering and staying silent, each with an interval (spec 9).

Every figure is a sum over queries by another sum over the same queries (a mean where the lower one counts queries), so
that one way of resampling serves them all, and two configurations are compared over the same resampled queries.

The ranking figures are a few lines each: packages for them want whole runs in their own file forms, and bring compiled
code or a just-in-time compiler; the tests hold ours against scikit-learn's.
"""

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING

from skillweave.values import Portable
from skillweave_eval.answers import Answer
from skillweave_eval.cases import Case

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Drawn = NDArray[np.intp]

RESAMPLES = 2_000
CONFIDENCE = 0.95
DEPTHS = (1, 3, 5, 10)
DISCOUNTED_DEPTH = 10

Part = tuple[float, float]
"""What one query adds to the upper and to the lower sum of a figure."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure: what an answer adds to it, None where the query says nothing about it; `unit` is `share` or `tokens`.

    With `needs_none` it is told only where there are queries that no skill is right for.
    """

    name: str
    title: str
    part: Callable[[Answer], Part | None]
    unit: str = "share"
    lower_is_better: bool = False
    needs_none: bool = False


@dataclass(frozen=True, slots=True)
class Interval(Portable):
    """A value and the bounds within which it lies with 95% confidence; None without resampling."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Figure(Portable):
    """A measured figure over `queries` of them; `macro` is the mean over sources, None with fewer than two sources."""

    name: str
    title: str
    unit: str
    queries: int
    overall: Interval
    macro: Interval | None = None


@dataclass(frozen=True, slots=True)
class Difference(Portable):
    """A figure of two configurations over the same queries; `change` is the second minus the first."""

    name: str
    title: str
    unit: str
    queries: int
    first: float
    second: float
    change: Interval
    macro_change: Interval | None = None


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: a percentile bootstrap over queries; none with 0 `resamples`."""

    seed: int = 0
    resamples: int = RESAMPLES
    confidence: float = CONFIDENCE


def ranking_of(answer: Answer) -> list[str]:
    """The ids in the order of the ranking, each once."""
    return list(dict.fromkeys(place.skill_id for place in answer.ranked))


def recall_at(depth: int) -> Callable[[Answer], Part | None]:
    """How many of the right skills stand among the first so many; where any one will do, whether one does."""

    def part(answer: Answer) -> Part | None:
        return _share_of_right(answer.case, ranking_of(answer)[:depth])

    return part


def _share_of_right(case: Case, ids: Iterable[str]) -> Part | None:
    if not case.expect:
        return None
    found = len(set(case.expect).intersection(ids))
    return (float(found > 0), 1.0) if case.any_of else (found / len(set(case.expect)), 1.0)


def discounted_gain(answer: Answer) -> Part | None:
    """nDCG@10: where any one will do, that of the first right one, the others counting as if they were not there."""
    right = set(answer.case.expect or ())
    if not right:
        return None
    ranks = [rank for rank, one in enumerate(ranking_of(answer)[:DISCOUNTED_DEPTH], start=1) if one in right]
    wanted = 1 if answer.case.any_of else min(len(right), DISCOUNTED_DEPTH)
    gained = sum(1 / log2(rank + 1) for rank in ranks[:wanted])
    return gained / sum(1 / log2(rank + 1) for rank in range(1, wanted + 1)), 1.0


def reciprocal_rank(answer: Answer) -> Part | None:
    """One by the rank of the first right skill, 0 where it is nowhere."""
    right = set(answer.case.expect or ())
    if not right:
        return None
    rank = next((rank for rank, one in enumerate(ranking_of(answer), start=1) if one in right), None)
    return (0.0 if rank is None else 1 / rank), 1.0


def right_given(answer: Answer) -> Part | None:
    """How many of the right skills are given."""
    return _share_of_right(answer.case, answer.given)


def right_reached(answer: Answer) -> Part | None:
    """How many of the right skills are given or offered."""
    return _share_of_right(answer.case, (*answer.given, *answer.offered))


def _precision(answer: Answer, ids: Sequence[str]) -> Part | None:
    if answer.case.expect is None:
        return None
    judged = [one for one in ids if one not in answer.case.fine]
    return float(sum(one in answer.case.expect for one in judged)), float(len(judged))


def wrong_given(answer: Answer) -> Part | None:
    """Whether a skill is given that is neither right nor harmless."""
    if answer.case.expect is None:
        return None
    return float(any(one not in answer.case.expect and one not in answer.case.fine for one in answer.given)), 1.0


def _none_found(answer: Answer, ids: Sequence[str]) -> Part | None:
    return (float(not set(ids).difference(answer.case.fine)), 1.0) if answer.case.expect == () else None


def _none_right(answer: Answer, ids: Sequence[str]) -> Part | None:
    if answer.case.expect is None:
        return None
    silent = not ids
    return float(silent and not answer.case.expect), float(silent)


def _forbidden(answer: Answer, ids: Sequence[str]) -> Part | None:
    return (float(bool(set(answer.case.not_).intersection(ids))), 1.0) if answer.case.not_ else None


def _squared_error(answer: Answer) -> Part | None:
    pairs = judged_probabilities(answer)
    return (sum((sure - right) ** 2 for sure, right in pairs), float(len(pairs))) if pairs else None


def judged_probabilities(answer: Answer) -> list[tuple[float, float]]:
    """The probability of each ranked skill that has one, and 1 where it is right, else 0; harmless ones left out."""
    case = answer.case
    if case.expect is None:
        return []
    known = (place for place in answer.ranked if place.probability is not None and place.skill_id not in case.fine)
    return [(place.probability or 0.0, float(place.skill_id in (case.expect or ()))) for place in known]


def _tokens(answer: Answer) -> Part | None:
    return None if answer.case.expect is None else (float(answer.tokens), 1.0)


def _reached(answer: Answer) -> Sequence[str]:
    return (*answer.given, *answer.offered)


MEASURES: tuple[Measure, ...] = (
    *(Measure(f"recall_at_{depth}", f"recall@{depth}", recall_at(depth)) for depth in DEPTHS),
    Measure("ndcg_at_10", "nDCG@10", discounted_gain),
    Measure("mrr", "mean reciprocal rank", reciprocal_rank),
    Measure("right_given", "right skill given", right_given),
    Measure("right_reached", "right skill given or offered", right_reached),
    Measure("precision_given", "precision of what is given", lambda answer: _precision(answer, answer.given)),
    Measure("precision_reached", "precision of given or offered", lambda answer: _precision(answer, _reached(answer))),
    Measure("wrong_given", "a wrong skill given", wrong_given, lower_is_better=True),
    Measure("none_recall", "no right skill: nothing given", lambda answer: _none_found(answer, answer.given)),
    Measure("none_silent", "no right skill: nothing offered either", lambda a: _none_found(a, _reached(a))),
    Measure("none_precision", "nothing given: rightly so", lambda answer: _none_right(answer, answer.given),
            needs_none=True),
    Measure("forbidden_given", "forbidden skill given", lambda a: _forbidden(a, a.given), lower_is_better=True),
    Measure("forbidden_reached", "forbidden skill given or offered", lambda a: _forbidden(a, _reached(a)),
            lower_is_better=True),
    Measure("brier", "Brier score of the probability", _squared_error, lower_is_better=True),
    Measure("tokens", "tokens a turn", _tokens, unit="tokens", lower_is_better=True),
)  # fmt: skip
"""All figures, in the order of the report."""
BRIEFLY = ("recall_at_1", "recall_at_5", "right_given", "right_reached", "wrong_given", "none_recall", "tokens")
"""The names of those that are told for each group."""


def figures_of(
    answers: Sequence[Answer], resampling: Resampling, measures: Iterable[Measure] = MEASURES
) -> tuple[Figure, ...]:
    """Every figure that the queries say something about."""
    found = (_figure(measure, answers, resampling) for measure in measures)
    return tuple(figure for figure in found if figure is not None)


def _figure(measure: Measure, answers: Sequence[Answer], resampling: Resampling) -> Figure | None:
    told = _Told.of(measure, answers)
    if told is None:
        return None
    macro = _interval(told.macro, told.members, resampling) if told.sources > 1 else None
    overall = _interval(told.overall, (told.everything(),), resampling)
    return Figure(measure.name, measure.title, measure.unit, told.size, overall, macro)


def differences_of(first: Sequence[Answer], second: Sequence[Answer], resampling: Resampling) -> tuple[Difference, ...]:
    """Every figure of two configurations over the same queries, and how far apart they are."""
    found = (_difference(measure, first, second, resampling) for measure in MEASURES)
    return tuple(difference for difference in found if difference is not None)


def _difference(
    measure: Measure, first: Sequence[Answer], second: Sequence[Answer], resampling: Resampling
) -> Difference | None:
    # A query that says something of one configuration only (a probability) has no pair.
    both = [
        (one, other)
        for one, other in zip(first, second, strict=True)
        if measure.part(one) is not None and measure.part(other) is not None
    ]
    before, after = _Told.of(measure, [one for one, _ in both]), _Told.of(measure, [other for _, other in both])
    if before is None or after is None:
        return None
    everything = before.everything()
    change = _interval(lambda drawn: after.overall(drawn) - before.overall(drawn), (everything,), resampling)
    macro = None
    if before.sources > 1:
        macro = _interval(lambda *drawn: after.macro(*drawn) - before.macro(*drawn), before.members, resampling)
    return Difference(
        measure.name,
        measure.title,
        measure.unit,
        before.size,
        float(before.overall(everything)),
        float(after.overall(everything)),
        change,
        macro,
    )


def groups_of(answers: Iterable[Answer]) -> Mapping[str, Sequence[Answer]]:
    """The answers by kind, language and source, and by whether the query names its skill; only where there are two."""
    groups: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        case = answer.case
        if case.expect is None:
            continue
        for label, value in (("kind", case.kind), ("language", case.language), ("source", case.source)):
            if value:
                groups[label][value].append(answer)
        if case.expect:
            groups["skill named"]["yes" if case.names_skill else "no"].append(answer)
    return {
        f"{label} {value}": found
        for label, values in groups.items()
        if len(values) > 1
        for value, found in sorted(values.items())
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Told:
    """The parts of a figure by query, and the numbers of each source's queries; drawn ones come as their numbers."""

    upper: "Numbers"
    lower: "Numbers"
    members: "tuple[Drawn, ...]"

    @classmethod
    def of(cls, measure: Measure, answers: Sequence[Answer]) -> "_Told | None":
        import numpy as np

        if measure.needs_none and not any(answer.case.expect == () for answer in answers):
            return None
        parts = [(part, answer.case.source) for answer in answers if (part := measure.part(answer)) is not None]
        if not sum(lower for (_, lower), _ in parts):
            return None
        names = sorted({source for _, source in parts})
        members = tuple(np.flatnonzero([source == name for _, source in parts]) for name in names)
        return cls(np.array([upper for (upper, _), _ in parts]), np.array([lower for (_, lower), _ in parts]), members)

    @property
    def size(self) -> int:
        return len(self.upper)

    @property
    def sources(self) -> int:
        return len(self.members)

    def everything(self) -> "Drawn":
        import numpy as np

        return np.arange(self.size)

    def overall(self, drawn: "Drawn") -> "Numbers":
        return _ratio(self.upper[drawn], self.lower[drawn])

    def macro(self, *drawn: "Drawn") -> "Numbers":
        """The mean over sources, of each of which so many queries are drawn; those that say nothing are left out."""
        import numpy as np

        each = np.stack([_ratio(self.upper[inside], self.lower[inside]) for inside in drawn])
        mean: Numbers = np.nansum(each, axis=0) / np.maximum((~np.isnan(each)).sum(axis=0), 1)
        return mean


def _ratio(upper: "Numbers", lower: "Numbers") -> "Numbers":
    import numpy as np

    below = lower.sum(axis=-1)
    return np.where(below > 0, upper.sum(axis=-1) / np.where(below > 0, below, 1.0), np.nan)


def _interval(figure: "Callable[..., Numbers]", samples: "Sequence[Drawn]", resampling: Resampling) -> Interval:
    """The figure over the queries of the samples, and over such as are drawn from each sample by itself."""
    import numpy as np

    value = round(float(figure(*samples)), 6)
    # Of a single query nothing else can be drawn, and the library asks for two.
    several = [np.repeat(sample, 2) if len(sample) == 1 else sample for sample in samples]
    if not resampling.resamples or all(len(sample) < 2 for sample in samples):
        return Interval(value)
    from scipy.stats import bootstrap

    def statistic(*drawn: "Drawn", axis: int = -1) -> "Numbers":
        return figure(*drawn)

    with warnings.catch_warnings():
        # Where all draws are alike there is nothing to warn of: the interval is a point.
        warnings.simplefilter("ignore")
        drawn = bootstrap(
            several,
            statistic,
            n_resamples=resampling.resamples,
            method="percentile",
            rng=np.random.default_rng(resampling.seed),
        ).bootstrap_distribution
    # A draw in which nothing was given has no precision: it is left out, and many such leave no interval.
    known = drawn[~np.isnan(drawn)]
    if len(known) * 2 < len(drawn):
        return Interval(value)
    beside = (1 - resampling.confidence) / 2
    low, high = np.quantile(known, [beside, 1 - beside]).tolist()
    return Interval(value, round(low, 6), round(high, 6))


def mean_interval(values: Sequence[float], resampling: Resampling) -> Interval:
    """The mean of some values and its interval."""
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    return _interval(lambda drawn: numbers[drawn].mean(axis=-1), (np.arange(len(numbers)),), resampling)


def shown(value: float, unit: str, *, signed: bool = False) -> str:
    """A share with three places, tokens as a whole number."""
    sign = "+" if signed else ""
    return f"{value:{sign},.0f}" if unit == "tokens" else f"{value:{sign}.3f}"


def bounds(interval: Interval | None, unit: str, *, signed: bool = False) -> str:
    """`0.469 to 0.613`; a dash where there is no interval."""
    if interval is None or interval.low is None or interval.high is None:
        return "-"
    return f"{shown(interval.low, unit, signed=signed)} to {shown(interval.high, unit, signed=signed)}"
