"""Evaluations for people: tables with what every figure is about above them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page, counted, listed, printable
from skillweave.cli.output.turn import way_text
from skillweave.diagnostics import Diagnostic, Severity
from skillweave_eval import codes
from skillweave_eval.findings import Pair
from skillweave_eval.fit import FitReport
from skillweave_eval.graph import GraphReport
from skillweave_eval.live.report import LiveReport
from skillweave_eval.metrics import Difference, Figure, Interval, bounds, shown
from skillweave_eval.ranking import Bin, Configuration, Group, RankingReport, Subject
from skillweave_eval.tokens import TokensReport
from skillweave_eval.triggers import SkillScore, TestResult, Threshold, TriggerReport

if TYPE_CHECKING:
    from collections.abc import Mapping

LISTED = 10
"""So many names stand in a line."""
_INKS = {Severity.ERROR: Ink.BAD, Severity.WARNING: Ink.WARN, Severity.INFO: Ink.FAINT}


def finding_line(found: Diagnostic, page: Page) -> str:
    """One line without breaks, so that it can be searched and counted."""
    level = page.paint(found.severity.value, _INKS[found.severity])
    text = " ".join(f"{found.message} [{found.code}]; {found.fix}".split())
    return f"{level}: {printable(text)}"


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


def triggers_text(report: TriggerReport, page: Page) -> str:
    """The tests that fail, the score of each skill, who competes, what is wrong, and one line that sums it up."""
    head = [
        page.entry("data", f"{report.subject.data}: {_tests(report)}; over {counted(report.subject.skills, 'skill')}"),
        configuration_text("configuration", report.configuration, page),
    ]
    failed = [line for result in report.results if not result.passed for line in _failed(result, page)]
    parts = [head, failed, list(_scores(report, page)), [_competing(one, page) for one in report.competing[:LISTED]]]
    parts.append([finding_line(found, page) for found in report.findings if _is_shown(found)])
    parts.append([_reached(one, page) for one in report.thresholds])
    parts.append([_sum(report, page)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _is_shown(found: Diagnostic) -> bool:
    """Competing skills stand above already, and notes are for those who ask for all with `--json` or `--html`."""
    return found.code != codes.COMPETING.name and found.severity is not Severity.INFO


def _tests(report: TriggerReport) -> str:
    return f"{counted(len(report.results), 'test')}, {report.passed:,} held, {report.failed:,} failed"


def _failed(result: TestResult, page: Page) -> Iterator[str]:
    place = f"{result.path}:{result.line}" if result.path and result.line else result.id
    yield page.entry("failed", f"{place}: {result.query[:200]}", Ink.BAD)
    for problem in result.problems:
        yield page.entry("", problem)


def _scores(report: TriggerReport, page: Page) -> Iterator[str]:
    if not report.skills:
        return
    rows = [_score(one) for one in (*report.skills, report.overall)]
    head = ("", "tests", "given", "offered", "missed", "wrong", "precision", "recall", "reach", "F1")
    yield from table(rows, page, head)


def _score(one: SkillScore) -> tuple[str, ...]:
    counts = (one.tests, one.given, one.offered, one.missed, one.wrong)
    shares = (one.precision, one.recall, one.reach, one.f1)
    return (one.skill_id, *map(str, counts), *("-" if share is None else f"{share:.2f}" for share in shares))


def _competing(pair: Pair, page: Page) -> str:
    queries = f"{queries_shown(len(pair.queries))} ({listed(pair.queries[:3])}"
    more = f" and {len(pair.queries) - 3} more)" if len(pair.queries) > 3 else ")"
    return page.entry("competing", f"{pair.first} and {pair.second}: {queries}{more}", Ink.WARN)


def _reached(one: Threshold, page: Page) -> str:
    value = "nothing is known of it" if one.reached is None else f"{one.reached:.3f}"
    ink = Ink.GOOD if one.held else Ink.BAD
    return page.entry("reached" if one.held else "not reached", f"{one.name} of {one.wanted:g}: {value}", ink)


def _sum(report: TriggerReport, page: Page) -> str:
    levels = [found.severity for found in report.findings]
    nouns = (("error", Severity.ERROR), ("warning", Severity.WARNING), ("note", Severity.INFO))
    found = ", ".join(counted(levels.count(level), noun) for noun, level in nouns)
    label, ink = ("good", Ink.GOOD) if report.ok else ("not good", Ink.BAD)
    return page.entry(label, f"{_tests(report)}; {found}", ink)


def queries_shown(count: int) -> str:
    """`1 query`, `260 queries`."""
    return f"{count:,} {'query' if count == 1 else 'queries'}"


def subject_text(subject: Subject, page: Page) -> Iterator[str]:
    """What every figure below is about."""
    about = f"{queries_shown(subject.queries)}, {subject.right:,} with a right skill"
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


def differences_text(
    differences: Sequence[Difference], page: Page, head: tuple[str, str, str] = ("", "first", "against")
) -> Iterator[str]:
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
    yield from table(rows, page, (*head, "change", "95% interval", "queries"))


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


def tokens_text(report: TokensReport, page: Page) -> str:
    """What every method sends, then what skillweave gave, by tier."""
    calls = f"{counted(report.calls, 'call')} of the model"
    about = f"{report.data}: {counted(report.conversations, 'conversation')}, {calls}"
    head = [
        page.entry("data", f"{about}; over {counted(report.skills, 'skill')}; tokens of {report.encoding}"),
        configuration_text("configuration", report.configuration, page),
    ]
    rows = [
        (one.name, f"{one.tokens:,}", f"{one.tokens / max(1, one.calls):,.0f}", f"{one.cached_share:.1%}",
         f"{one.saved_percent:.2f}%")
        for one in report.methods
    ]  # fmt: skip
    methods = list(table(rows, page, ("tokens of skills", "all calls", "a call", "cached", "saved")))
    tiers = [(f"tier {tier}", f"{tokens:,}") for tier, tokens in report.by_tier.items()]
    given = list(table(tiers, page, ("given by skillweave", "tokens")))
    return "\n\n".join("\n".join(lines) for lines in (head, methods, given))


def graph_text(report: GraphReport, page: Page) -> str:
    """The scripts, the edges that none takes, and the coverage."""
    head = [page.entry("data", f"{report.data}, graph {report.graph}")]
    scripts = []
    for one in report.scripts:
        expectations = f"{counted(one.steps, 'step')}, {counted(one.expectations, 'expectation')}"
        label, ink = ("held", Ink.GOOD) if one.ok else ("failed", Ink.BAD)
        scripts.append(page.entry(label, f"{one.name}: {expectations}", ink))
        scripts += [page.entry("", problem) for problem in one.problems]
    missed = [edge for edge in report.edges if not edge.taken]
    edges = [
        page.entry("never taken", f"{way_text(edge.from_, edge.to)}{f': {edge.label}' if edge.label else ''}", Ink.WARN)
        for edge in missed
    ]
    coverage = "the graph has no edges" if report.coverage is None else f"{report.coverage:.1%}"
    wanted = "" if report.wanted is None else f", and {report.wanted:.1%} are wanted"
    taken = f"{len(report.edges) - len(missed)} of {counted(len(report.edges), 'edge')} are taken: {coverage}{wanted}"
    end = [page.entry("coverage", taken, Ink.GOOD if report.ok else Ink.BAD)]
    return "\n\n".join("\n".join(lines) for lines in (head, scripts, edges, end) if lines)


def fit_text(report: FitReport, page: Page) -> str:
    """What was fitted, what it changes on held-out queries, and how far the fitted probability can be believed."""
    fitted = report.fitted
    aims = f"precision {report.precision:g} of what is given, silent for {report.silent:.0%} without a right skill"
    head = [
        *subject_text(report.subject, page),
        configuration_text("configuration", report.configuration, page),
        page.entry("fitted", f"in {report.folds} folds of queries; {aims}"),
        page.entry("embedder", fitted.embedder or "none, words alone"),
        page.entry("give at", f"{fitted.give_at:.4f}", Ink.STRONG),
        page.entry("offer at", f"{fitted.offer_at:.4f}", Ink.STRONG),
        page.entry("log-odds", f"times {fitted.slope:.3f}, plus {fitted.offset:.3f}"),
    ]
    changed = list(differences_text(report.differences, page, ("on held-out queries", "before", "fitted")))
    where = "nowhere; add --output FILE" if report.output is None else f"{report.output}, which --fitted reads"
    parts = (head, changed, list(reliability_text(report.reliability, page)), [page.entry("written", where)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def live_text(report: LiveReport, page: Page) -> str:
    """The difference that each skill makes, who judged, what it took, and why it may be incomplete."""
    judged = f"{report.by_program:,} verdicts by program, {report.by_model:,} by the model {report.judge} as the judge"
    head = [
        page.entry("data", f"{report.data}: {counted(len(report.prompts), 'prompt')}, {counted(report.runs, 'run')}"),
        page.entry(
            "model", f"{report.model}; each prompt {counted(report.samples, 'time')}, with the skill and without"
        ),
        page.entry("judged", judged),
    ]
    if report.resamples:
        how = f"95%, paired bootstrap over prompts, {report.resamples:,} resamples, seed {report.seed}"
        head.append(page.entry("intervals", how))
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
    effects = list(
        table(rows, page, ("assertions that hold", "prompts", "with", "without", "difference", "95% interval"))
    )
    spent = [
        (one.what, f"{one.usage.calls:,}", f"{one.usage.input:,}", f"{one.usage.cached:,}", f"{one.usage.output:,}",
         "-" if one.cost is None else f"{one.cost:.4f}")
        for one in report.spent
    ]  # fmt: skip
    cost = list(table(spent, page, ("spent", "calls", "tokens in", "cached", "tokens out", "cost")))
    end = [] if report.stopped is None else [page.entry("stopped", report.stopped, Ink.WARN)]
    if report.failed:
        end.append(page.entry("failed", f"{counted(report.failed, 'run')} without an answer or a verdict", Ink.BAD))
    return "\n\n".join("\n".join(lines) for lines in (head, effects, cost, end) if lines)


def _value(interval: Interval | None, unit: str) -> str:
    return "-" if interval is None else shown(interval.value, unit)
