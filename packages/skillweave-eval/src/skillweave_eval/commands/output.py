"""Evaluations for people: tables with what every figure is about above them."""

from collections.abc import Iterator

from skillweave import Diagnostic, Severity
from skillweave.commands import Ink, Page, counted, listed, printable, way_text
from skillweave_eval import codes, tables
from skillweave_eval.fit import FitReport
from skillweave_eval.graph import GraphReport
from skillweave_eval.live.report import LiveReport
from skillweave_eval.ranking import Pair, RankingReport, Subject
from skillweave_eval.tables import Table
from skillweave_eval.tokens import TokensReport
from skillweave_eval.triggers import TestResult, Threshold, TriggerReport

LISTED = 10
"""So many names stand in a line."""
_INKS = {Severity.ERROR: Ink.BAD, Severity.WARNING: Ink.WARN, Severity.INFO: Ink.FAINT}


def finding_line(found: Diagnostic, page: Page) -> str:
    """One line without breaks, so that it can be searched and counted."""
    level = page.paint(found.severity.value, _INKS[found.severity])
    text = " ".join(f"{found.message} [{found.code}]; {found.fix}".split())
    return f"{level}: {printable(text)}"


def table(found: Table, page: Page) -> list[str]:
    """Rows under a head, nothing without rows; the first column is text, the others stand at the right of theirs."""
    if not found.rows:
        return []
    shown = [[printable(cell) for cell in row] for row in (found.head, *found.rows)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = []
    for row in shown:
        first, *others = zip(row, widths, strict=True)
        cells = (first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others))
        lines.append("  ".join(cells).rstrip())
    return [page.paint(lines[0], Ink.STRONG), *lines[1:]]


def triggers_text(report: TriggerReport, page: Page) -> str:
    """The tests that fail, the score of each skill, who competes, what is wrong, and one line that sums it up."""
    head = [
        page.entry("data", f"{report.subject.data}: {_tests(report)}; over {counted(report.subject.skills, 'skill')}"),
        page.entry("configuration", tables.configuration(report.configuration)),
    ]
    failed = [line for result in report.results if not result.passed for line in _failed(result, page)]
    scores = table(tables.scores(report), page) if report.skills else []
    parts = [head, failed, scores, [_competing(one, page) for one in report.competing[:LISTED]]]
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
        yield page.entry("intervals", tables.intervals(subject))


def ranking_text(report: RankingReport, page: Page) -> str:
    """The figures, then what differs, the groups, and the reliability table."""
    parts = [
        [*subject_text(report.subject, page), page.entry("configuration", tables.configuration(report.configuration))],
        table(tables.figures(report.figures), page),
    ]
    if report.against is not None:
        against = page.entry("against", tables.configuration(report.against))
        parts.append([against, "", *table(tables.differences(report.differences, "", "first", "against"), page)])
    parts += [
        table(tables.groups(report.groups), page),
        table(tables.reliability(report.reliability), page),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def tokens_text(report: TokensReport, page: Page) -> str:
    """What every method sends, then what skillweave gave, by tier."""
    calls = f"{counted(report.calls, 'call')} of the model"
    about = f"{report.data}: {counted(report.conversations, 'conversation')}, {calls}"
    head = [
        page.entry("data", f"{about}; over {counted(report.skills, 'skill')}; tokens of {report.encoding}"),
        page.entry("configuration", tables.configuration(report.configuration)),
    ]
    parts = (head, table(tables.methods(report), page), table(tables.tiers(report), page))
    return "\n\n".join("\n".join(lines) for lines in parts)


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
        page.entry("configuration", tables.configuration(report.configuration)),
        page.entry("fitted", f"in {report.folds} folds of queries; {aims}"),
        page.entry("embedder", fitted.embedder or "none, words alone"),
        page.entry("give at", f"{fitted.give_at:.4f}", Ink.STRONG),
        page.entry("offer at", f"{fitted.offer_at:.4f}", Ink.STRONG),
        page.entry("log-odds", f"times {fitted.slope:.3f}, plus {fitted.offset:.3f}"),
    ]
    changed = table(tables.differences(report.differences, "on held-out queries", "before", "fitted"), page)
    where = "nowhere; add --output FILE" if report.output is None else f"{report.output}, which --fitted reads"
    parts = (head, changed, table(tables.reliability(report.reliability), page), [page.entry("written", where)])
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def live_text(report: LiveReport, page: Page) -> str:
    """The difference that each skill makes, who judged, what it took, and why it may be incomplete."""
    head = [
        page.entry("data", f"{report.data}: {counted(len(report.prompts), 'prompt')}, {counted(report.runs, 'run')}"),
        page.entry(
            "model", f"{report.model}; each prompt {counted(report.samples, 'time')}, with the skill and without"
        ),
        page.entry("judged", tables.judged(report)),
    ]
    if report.resamples:
        head.append(page.entry("intervals", tables.live_intervals(report)))
    effects, cost = table(tables.effects(report), page), table(tables.spent(report), page)
    end = [] if report.stopped is None else [page.entry("stopped", report.stopped, Ink.WARN)]
    if report.failed:
        end.append(page.entry("failed", f"{counted(report.failed, 'run')} without an answer or a verdict", Ink.BAD))
    return "\n\n".join("\n".join(lines) for lines in (head, effects, cost, end) if lines)
