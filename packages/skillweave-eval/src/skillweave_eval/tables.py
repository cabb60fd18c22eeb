"""The tables of reports, as rows of texts: the terminal and the page show the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillweave_eval.live.report import LiveReport
from skillweave_eval.metrics import Difference, Figure, bounds, shown
from skillweave_eval.ranking import Bin, Configuration, Group, Subject
from skillweave_eval.tokens import TokensReport
from skillweave_eval.triggers import TriggerReport

NONE = "-"
SHORT = {
    "recall_at_1": "R@1",
    "recall_at_5": "R@5",
    "right_given": "given",
    "right_reached": "or offered",
    "wrong_given": "wrong",
    "none_recall": "silent",
    "tokens": "tokens",
}
"""Short heads of columns, in their order, by the figures that groups are compared by."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def scores(report: TriggerReport) -> Table:
    """A row for each skill, and one for all."""
    rows = [
        (
            one.skill_id,
            *map(str, (one.tests, one.given, one.offered, one.missed, one.wrong)),
            *(NONE if part is None else f"{part:.2f}" for part in (one.precision, one.recall, one.reach, one.f1)),
        )
        for one in (*report.skills, report.overall)
    ]
    return Table(("", "tests", "given", "offered", "missed", "wrong", "precision", "recall", "reach", "F1"), rows)


def figures(found: Sequence[Figure]) -> Table:
    """A row for each figure, with its interval and, where some figure has it, the mean over sources."""
    macro = any(figure.macro for figure in found)
    rows = []
    for one in found:
        mean = NONE if one.macro is None else shown(one.macro.value, one.unit)
        over_sources = (mean, bounds(one.macro, one.unit)) if macro else ()
        value = shown(one.overall.value, one.unit)
        rows.append((one.title, value, bounds(one.overall, one.unit), *over_sources, f"{one.queries:,}"))
    return Table(("", "value", "95% interval", *(("over sources", "95% interval") if macro else ()), "queries"), rows)


def differences(found: Sequence[Difference], *head: str) -> Table:
    """A row for each figure of two configurations; `head` names the figures and both of them."""
    rows = [
        (
            one.title,
            shown(one.first, one.unit),
            shown(one.second, one.unit),
            shown(one.change.value, one.unit, signed=True),
            bounds(one.change, one.unit, signed=True),
            f"{one.queries:,}",
        )
        for one in found
    ]
    return Table((*head, "change", "95% interval", "queries"), rows)


def groups(found: Sequence[Group], heads: Mapping[str, str] = SHORT) -> Table:
    """A row for each group, with the figures of `heads` that some group has."""
    there = {figure.name for group in found for figure in group.figures}
    names = [name for name in heads if name in there]
    rows = []
    for group in found:
        known = {figure.name: shown(figure.overall.value, figure.unit) for figure in group.figures}
        rows.append((group.name, f"{group.queries:,}", *(known.get(name, NONE) for name in names)))
    return Table(("", "queries", *(heads[name] for name in names)), rows)


def reliability(bins: Sequence[Bin]) -> Table:
    """How often skills of a stated probability are right."""
    rows = [
        (f"{one.low:.1f} to {one.high:.1f}", f"{one.count:,}", f"{one.probability:.3f}", f"{one.right:.3f}")
        for one in bins
    ]
    return Table(("probability", "skills", "stated", "right"), rows)


def methods(report: TokensReport) -> Table:
    """What every method sends."""
    rows = [
        (one.name, f"{one.tokens:,}", f"{one.tokens / max(1, one.calls):,.0f}", f"{one.cached_share:.1%}",
         f"{one.saved_percent:.2f}%")
        for one in report.methods
    ]  # fmt: skip
    return Table(("tokens of skills", "all calls", "a call", "cached", "saved"), rows)


def tiers(report: TokensReport) -> Table:
    """What skillweave gave, by tier."""
    rows = [(f"tier {tier}", f"{tokens:,}") for tier, tokens in report.by_tier.items()]
    return Table(("given by skillweave", "tokens"), rows)


def effects(report: LiveReport) -> Table:
    """The difference that each skill makes."""
    rows = [
        (
            one.skill_id,
            f"{one.prompts:,}",
            f"{one.with_skill:.3f}",
            f"{one.without_skill:.3f}",
            f"{one.difference.value:+.3f}",
            bounds(one.difference, "share", signed=True),
        )
        for one in report.effects
    ]
    return Table(("assertions that hold", "prompts", "with", "without", "difference", "95% interval"), rows)


def spent(report: LiveReport) -> Table:
    """What the calls of a model took."""
    rows = [
        (one.what, f"{one.usage.calls:,}", f"{one.usage.input:,}", f"{one.usage.cached:,}", f"{one.usage.output:,}",
         NONE if one.cost is None else f"{one.cost:.4f}")
        for one in report.spent
    ]  # fmt: skip
    return Table(("spent", "calls", "tokens in", "cached", "tokens out", "cost"), rows)


def intervals(subject: Subject) -> str:
    """How the intervals of the figures are made."""
    return f"{subject.confidence:.0%}, bootstrap over queries, {subject.resamples:,} resamples, seed {subject.seed}"


def judged(report: LiveReport) -> str:
    """Who judged how many assertions."""
    return f"{report.by_program:,} verdicts by program, {report.by_model:,} by the model {report.judge} as the judge"


def live_intervals(report: LiveReport) -> str:
    """How the intervals of differences are made."""
    return f"95%, paired bootstrap over prompts, {report.resamples:,} resamples, seed {report.seed}"


def configuration(asked: Configuration) -> str:
    """The matchers and the options that are not at their defaults."""
    options = "".join(f"; {name} {_option(value)}" for name, value in asked.options.items())
    return f"matchers {', '.join(asked.matchers)}{options}"


def _option(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)
