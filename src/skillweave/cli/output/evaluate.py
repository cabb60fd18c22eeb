"""Evaluations for people: tables with what every figure is about above them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page, counted, listed, printable
from skillweave.evaluate.metrics import Difference, Figure, Interval
from skillweave.evaluate.ranking import Bin, Configuration, Group, RankingReport, Subject

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTED = 10
"""So many names stand in a line."""


def table(rows: Sequence[Sequence[str]], page: Page, head: Sequence[str]) -> Iterator[str]:
    """Rows under a head; the first column is text, the others stand at the right of theirs."""
    shown = [[printable(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(head))]
    for number, row in enumerate(shown):
        first, *others = [
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = "  ".join((first, *others)).rstrip()
        yield page.paint(line, Ink.STRONG) if number == 0 else line


def subject_text(subject: Subject, page: Page) -> Iterator[str]:
    """What every figure below is about."""
    about = f"{counted(subject.queries, 'query').replace('querys', 'queries')}, {subject.right:,} with a right skill"
    none = f", {subject.none:,} that no skill is right for" if subject.none else ""
    yield page.entry("data", f"{subject.data}, {subject.split}: {about}{none}; over {counted(subject.skills, 'skill')}")
    if subject.resamples:
        how = f"{subject.confidence:.0%}, bootstrap over queries, {subject.resamples:,} resamples, seed {subject.seed}"
        yield page.entry("intervals", how)


def configuration_text(label: str, configuration: Configuration, page: Page) -> str:
    """The matchers and the options that are not at their defaults."""
    options = "".join(f"; {name} {_option(value)}" for name, value in configuration.options.items())
    return page.entry(label, f"matchers {', '.join(configuration.matchers)}{options}")


def _option(value: object) -> str:
    return listed(map(str, value)) if isinstance(value, list | tuple) else str(value)


def ranking_text(report: RankingReport, page: Page) -> str:
    """The figures, then what differs, the groups, and the reliability table."""
    parts = [
        [*subject_text(report.subject, page), configuration_text("configuration", report.configuration, page)],
        list(figures_text(report.figures, page)),
    ]
    if report.against is not None:
        against = configuration_text("against", report.against, page)
        parts.append([against, "", *differences_text(report.differences, page)])
    parts += [list(groups_text(report.groups, page)), list(reliability_text(report.reliability, page))]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def figures_text(figures: Sequence[Figure], page: Page) -> Iterator[str]:
    """A line for each figure, with its interval and the mean over sources."""
    macro = any(figure.macro for figure in figures)
    head = ("", "value", "95% interval", *(("over sources", "95% interval") if macro else ()), "queries")
    rows = [
        (
            figure.title,
            shown(figure.overall.value, figure.unit),
            bounds(figure.overall, figure.unit),
            *((_value(figure.macro, figure.unit), bounds(figure.macro, figure.unit)) if macro else ()),
            f"{figure.queries:,}",
        )
        for figure in figures
    ]
    yield from table(rows, page, head)


def differences_text(differences: Sequence[Difference], page: Page) -> Iterator[str]:
    """A line for each figure of both configurations."""
    rows = [
        (
            one.title,
            shown(one.first, one.unit),
            shown(one.second, one.unit),
            shown(one.change.value, one.unit, signed=True),
            bounds(one.change, one.unit, signed=True),
            f"{one.queries:,}",
        )
        for one in differences
    ]
    yield from table(rows, page, ("", "first", "against", "change", "95% interval", "queries"))


def groups_text(groups: Sequence[Group], page: Page) -> Iterator[str]:
    """A line for each group, with the figures that some group has."""
    titles: Mapping[str, str] = {
        figure.name: _SHORT.get(figure.name, figure.title) for one in groups for figure in one.figures
    }
    names = [name for name in _SHORT if name in titles]
    rows = []
    for group in groups:
        known = {figure.name: shown(figure.overall.value, figure.unit) for figure in group.figures}
        rows.append((group.name, f"{group.queries:,}", *(known.get(name, "-") for name in names)))
    if rows:
        yield from table(rows, page, ("", "queries", *(titles[name] for name in names)))


_SHORT = {
    "recall_at_1": "R@1",
    "recall_at_5": "R@5",
    "right_given": "given",
    "right_reached": "or offered",
    "wrong_given": "wrong",
    "none_recall": "silent",
    "tokens": "tokens",
}
"""Short heads of columns, in their order."""


def reliability_text(bins: Sequence[Bin], page: Page) -> Iterator[str]:
    """How often skills of a stated probability are right."""
    rows = [
        (f"{one.low:.1f} to {one.high:.1f}", f"{one.count:,}", f"{one.probability:.3f}", f"{one.right:.3f}")
        for one in bins
    ]
    if rows:
        yield from table(rows, page, ("probability", "skills", "stated", "right"))


def shown(value: float, unit: str, *, signed: bool = False) -> str:
    """A share with three places, tokens as a whole number."""
    sign = "+" if signed else ""
    return f"{value:{sign},.0f}" if unit == "tokens" else f"{value:{sign}.3f}"


def bounds(interval: Interval | None, unit: str, *, signed: bool = False) -> str:
    """`0.469 to 0.613`; a dash where there is no interval."""
    if interval is None or interval.low is None or interval.high is None:
        return "-"
    return f"{shown(interval.low, unit, signed=signed)} to {shown(interval.high, unit, signed=signed)}"


def _value(interval: Interval | None, unit: str) -> str:
    return "-" if interval is None else shown(interval.value, unit)
