"""The report on labelled queries: figures, groups, what a probability is worth, and a second configuration."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skillweave.values import Portable
from skillweave_eval.answers import Answer
from skillweave_eval.cases import CaseSet, unknown_labels
from skillweave_eval.metrics import (
    BRIEFLY,
    MEASURES,
    Difference,
    Figure,
    Resampling,
    differences_of,
    figures_of,
    groups_of,
    judged_probabilities,
)

BINS = 10


@dataclass(frozen=True, slots=True)
class Subject(Portable):
    """What the figures of a report are about: which queries, over how many skills, and how intervals were made."""

    data: str
    split: str
    queries: int
    right: int
    none: int
    skills: int
    seed: int
    resamples: int
    confidence: float

    @classmethod
    def of(cls, cases: CaseSet, skills: int, resampling: Resampling) -> "Subject":
        """What is to be said beside every figure."""
        return cls(
            cases.name,
            cases.split,
            len(cases.cases),
            cases.right,
            cases.none,
            skills,
            resampling.seed,
            resampling.resamples,
            resampling.confidence,
        )


@dataclass(frozen=True, slots=True)
class Configuration(Portable):
    """How skills were selected: the matchers, strongest first, and the options that were given."""

    matchers: tuple[str, ...]
    options: Mapping[str, object] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Group(Portable):
    """The main figures over one kind of query."""

    name: str
    queries: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Bin(Portable):
    """Skills whose probability lies from `low` to below `high`: how many, their mean probability, the share right."""

    low: float
    high: float
    count: int
    probability: float
    right: float


@dataclass(frozen=True, slots=True)
class Pair(Portable):
    """Two skills that stand in each other's way, and the ids of the queries in which they do."""

    first: str
    second: str
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankingReport(Portable):
    """What a configuration is worth on labelled queries; with `against` also how a second one differs from it.

    `hindered` counts the answers for which a matcher could not take part, so that they say little about it.
    """

    subject: Subject
    configuration: Configuration
    figures: tuple[Figure, ...]
    groups: tuple[Group, ...] = ()
    reliability: tuple[Bin, ...] = ()
    competing: tuple[Pair, ...] = ()
    unknown_labels: tuple[str, ...] = ()
    hindered: int = 0
    against: Configuration | None = None
    differences: tuple[Difference, ...] = ()

    def figure(self, name: str) -> Figure | None:
        """The figure of that name, None where the queries say nothing of it."""
        return next((figure for figure in self.figures if figure.name == name), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """One configuration and its answers to the queries, in their order."""

    configuration: Configuration
    answers: Sequence[Answer]


def report_on(
    cases: CaseSet,
    known: Iterable[str],
    first: Asked,
    second: Asked | None = None,
    resampling: Resampling | None = None,
) -> RankingReport:
    """The report on the answers of one configuration, and on how a second one differs; `known` are the skills' ids."""
    resampling = resampling or Resampling()
    ids = frozenset(known)
    return RankingReport(
        subject=Subject.of(cases, len(ids), resampling),
        configuration=first.configuration,
        figures=figures_of(first.answers, resampling),
        groups=tuple(_groups(first.answers)),
        reliability=reliability_of(first.answers),
        competing=competing(first.answers),
        unknown_labels=unknown_labels(cases.cases, ids),
        hindered=sum(one.hindered is not None for one in (*first.answers, *(second.answers if second else ()))),
        against=None if second is None else second.configuration,
        differences=() if second is None else differences_of(first.answers, second.answers, resampling),
    )


def _groups(answers: Sequence[Answer]) -> Iterable[Group]:
    plain = Resampling(resamples=0)
    brief = [measure for measure in MEASURES if measure.name in BRIEFLY]
    for name, members in groups_of(answers).items():
        yield Group(name, len(members), figures_of(members, plain, brief))


def reliability_of(answers: Iterable[Answer]) -> tuple[Bin, ...]:
    """How often skills are right, by how likely they were said to be; empty bins are left out."""
    return bins_of(pair for answer in answers for pair in judged_probabilities(answer))


def bins_of(pairs: Iterable[tuple[float, float]]) -> tuple[Bin, ...]:
    """Bins of pairs of a probability, and 1 or 0 for right or not."""
    bins: list[list[tuple[float, float]]] = [[] for _ in range(BINS)]
    for probability, right in pairs:
        bins[min(BINS - 1, int(probability * BINS))].append((probability, right))
    return tuple(_bin(number, members) for number, members in enumerate(bins) if members)


def _bin(number: int, members: Sequence[tuple[float, float]]) -> Bin:
    mean = sum(probability for probability, _ in members) / len(members)
    share = sum(right for _, right in members) / len(members)
    return Bin(number / BINS, (number + 1) / BINS, len(members), round(mean, 6), round(share, 6))


def rivals_in(answer: Answer) -> tuple[str, ...]:
    """The skills that are not right and are given, and the one ranked first where no right one is given."""
    wanted = answer.case.expect or ()
    harmless = {*wanted, *answer.case.fine}
    rivals = [one for one in answer.given if one not in harmless]
    first = answer.ranked[0].skill_id if answer.ranked else None
    if first is not None and first not in harmless and not set(wanted).intersection(answer.given):
        rivals.append(first)
    return tuple(dict.fromkeys(rivals))


def competing(answers: Sequence[Answer], least: int = 1) -> tuple[Pair, ...]:
    """Which skills stand in each other's way, with the queries in which they do, most queries first."""
    pairs: dict[tuple[str, str], list[str]] = defaultdict(list)
    for answer in answers:
        for pair in _rivalries(answer):
            pairs[pair].append(answer.case.id)
    ranked = sorted(pairs.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return tuple(Pair(first, second, tuple(ids)) for (first, second), ids in ranked if len(ids) >= least)


def _rivalries(answer: Answer) -> set[tuple[str, str]]:
    rivals = rivals_in(answer)
    return {(min(one, other), max(one, other)) for one in answer.case.expect or () for other in rivals}
