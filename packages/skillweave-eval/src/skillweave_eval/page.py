"""A report as one page of HTML that needs nothing else: no network, no script, every text of a skill escaped."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch

from skillweave.errors import MissingExtra
from skillweave_eval.fit import FitReport
from skillweave_eval.graph import GraphReport
from skillweave_eval.live.report import LiveReport
from skillweave_eval.metrics import Difference, Figure, bounds, shown
from skillweave_eval.plots import Plot, bars_plot, confusion_plot, figures_plot, histogram_plot, reliability_plot
from skillweave_eval.ranking import Configuration, Confusion, RankingReport, Subject
from skillweave_eval.tokens import TokensReport
from skillweave_eval.triggers import SkillScore, TriggerReport


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a head; with `words` every column is text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page."""

    title: str
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows; `verdict` is its result in one line, where it has one, and `good` whether that is well."""

    title: str
    about: Sequence[tuple[str, str]]
    sections: Sequence[Section] = field(default_factory=tuple)
    verdict: str = ""
    good: bool = True


@singledispatch
def page_of(report: object) -> str:
    """The report as HTML.

    Raises:
        MissingExtra: the packages of the extra `eval` are not installed.
        TypeError: there is no page for such a report.
    """
    raise TypeError(f"there is no page for a {type(report).__name__}")


def render(page: Page) -> str:
    """The page as HTML; raises MissingExtra without jinja2."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtra("a page of HTML", "jinja2", "eval") from None
    loader = PackageLoader("skillweave_eval")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    shown = replace_unprintable(environment.get_template("report.html.j2").render(page=page))
    return f"{shown}\n"


def replace_unprintable(text: str) -> str:
    """The text without lone surrogates, which no file takes."""
    return text.encode("utf-8", "replace").decode()


@page_of.register
def _(report: RankingReport) -> str:
    sections = [Section("Figures", [figures_table(report.figures)], [figures_plot(report.figures)])]
    if report.against is not None:
        table = differences_table(report.differences)
        note = f"Against {configuration_shown(report.against)}; both over the same queries."
        sections.append(Section("The second configuration", [table], note=note))
    if report.groups:
        sections.append(Section("Groups", [_groups(report)]))
    if report.reliability:
        rows = [
            (f"{one.low:.1f} to {one.high:.1f}", f"{one.count:,}", f"{one.probability:.3f}", f"{one.right:.3f}")
            for one in report.reliability
        ]
        table = Table(("probability", "skills", "stated", "right"), rows)
        sections.append(Section("Reliability of the probability", [table], [reliability_plot(report.reliability)]))
    if report.histograms:
        sections.append(Section("Distributions", plots=[histogram_plot(one) for one in report.histograms]))
    sections += confusion_sections(report.confusions)
    return render(Page("Ranking and selection", about(report.subject, report.configuration), sections))


@page_of.register
def _(report: TriggerReport) -> str:
    sections = []
    failed = [(one.id, one.query, "; ".join(one.problems)) for one in report.results if not one.passed]
    if failed:
        sections.append(Section("Tests that fail", [Table(("test", "query", "problem"), failed, words=True)]))
    if report.skills:
        rows = [_score(one) for one in (*report.skills, report.overall)]
        head = ("skill", "tests", "given", "offered", "missed", "wrong", "precision", "recall", "reach", "F1")
        sections.append(Section("Skills", [Table(head, rows)]))
    sections += confusion_sections(report.confusions)
    if report.competing:
        rows = [(f"{one.first} and {one.second}", str(len(one.queries))) for one in report.competing]
        sections.append(Section("Skills that compete", [Table(("skills", "queries"), rows)]))
    if report.findings:
        found = [(one.severity.value, one.code, one.message, one.fix) for one in report.findings]
        table = Table(("level", "code", "what is wrong", "what to do"), found, words=True)
        sections.append(Section("Triggers and descriptions", [table]))
    verdict = f"{report.passed:,} of {len(report.results):,} tests hold"
    reached = "; ".join(
        f"{one.name} {'reaches' if one.held else 'does not reach'} {one.wanted:g}" for one in report.thresholds
    )
    page = Page("Trigger tests", about(report.subject, report.configuration), sections,
                f"{verdict}{'; ' if reached else ''}{reached}", report.ok)  # fmt: skip
    return render(page)


@page_of.register
def _(report: TokensReport) -> str:
    rows = [
        (one.name, f"{one.tokens:,}", f"{one.tokens / max(1, one.calls):,.0f}", f"{one.cached_share:.1%}",
         f"{one.saved_percent:.2f}%")
        for one in report.methods
    ]  # fmt: skip
    parts = [(one.name, [("cached", one.cached), ("new", one.tokens - one.cached)]) for one in report.methods]
    tiers = [(f"tier {tier}", tokens) for tier, tokens in report.by_tier.items() if tokens]
    sections = [
        Section(
            "All calls",
            [Table(("", "all calls", "a call", "cached", "saved"), rows)],
            [bars_plot("Tokens of skills in all calls", "tokens", parts)],
        ),
        Section(
            "What skillweave gave",
            [Table(("", "tokens"), [(name, f"{tokens:,}") for name, tokens in tiers])],
            [bars_plot("By tier", "tokens", [("skillweave", tiers)])],
        ),
    ]
    about_it = [
        ("data", report.data),
        ("conversations", f"{report.conversations:,}, {report.calls:,} calls of the model"),
        ("skills", f"{report.skills:,}"),
        ("tokens", f"of {report.encoding}; the words of the conversations are not counted"),
        ("configuration", configuration_shown(report.configuration)),
    ]
    return render(Page("Tokens", about_it, sections))


@page_of.register
def _(report: GraphReport) -> str:
    scripts = [
        (one.name, f"{one.steps}", f"{one.expectations}", "; ".join(one.problems) or "held") for one in report.scripts
    ]
    edges = [(f"{one.from_ or 'start'} to {one.to}", one.kind.value, one.label, f"{one.taken}") for one in report.edges]
    sections = [
        Section("Scripts", [Table(("script", "steps", "expectations", "result"), scripts, words=True)]),
        Section("Edges", [Table(("edge", "kind", "condition", "taken"), edges, words=True)]),
    ]
    coverage = "no edges" if report.coverage is None else f"{report.coverage:.1%} of the edges are taken"
    about_it = [("data", report.data), ("graph", report.graph)]
    return render(Page("Skill graph", about_it, sections, coverage, report.ok))


@page_of.register
def _(report: LiveReport) -> str:
    effects = [
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
    spent = [
        (one.what, f"{one.usage.calls:,}", f"{one.usage.input:,}", f"{one.usage.cached:,}", f"{one.usage.output:,}",
         "" if one.cost is None else f"{one.cost:.4f}")
        for one in report.spent
    ]  # fmt: skip
    asserted = [
        (f"{one.skill_id} {one.id}", said.text, said.by, f"{said.with_met} of {said.with_judged}",
         f"{said.without_met} of {said.without_judged}")
        for one in report.prompts
        for said in one.assertions
    ]  # fmt: skip
    parts = [(one.what, [("in", one.usage.input), ("out", one.usage.output)]) for one in report.spent]
    head = ("skill", "prompts", "with", "without", "difference", "95% interval")
    sections = [
        Section("The share of assertions that hold", [Table(head, effects)]),
        Section(
            "What it took",
            [Table(("", "calls", "tokens in", "cached", "tokens out", "cost"), spent)],
            [bars_plot("Tokens", "tokens", parts)],
        ),
        Section("Assertions", [Table(("prompt", "assertion", "decided by", "with", "without"), asserted, words=True)]),
    ]
    if report.errors:
        sections.append(Section("Errors", [Table(("what went wrong",), [(one,) for one in report.errors], words=True)]))
    judged = f"{report.by_program:,} verdicts by program, {report.by_model:,} by {report.judge} as the judge"
    about_it = [
        ("data", f"{report.data}: {len(report.prompts):,} prompts, {report.runs:,} runs"),
        ("model", f"{report.model}; each prompt {report.samples} times, with the skill and without"),
        ("judged", judged),
        ("intervals", f"95%, paired bootstrap over prompts, {report.resamples:,} resamples, seed {report.seed}"),
    ]
    return render(Page("With the skill and without", about_it, sections, report.stopped or "", report.stopped is None))


@page_of.register
def _(report: FitReport) -> str:
    fitted = report.fitted
    values = [
        ("give at", f"{fitted.give_at:.4f}"),
        ("offer at", f"{fitted.offer_at:.4f}"),
        ("log-odds", f"times {fitted.slope:.3f}, plus {fitted.offset:.3f}"),
        ("embedder", fitted.embedder or "none, words alone"),
    ]
    note = f"Each query is told by what was fitted to the others, in {report.folds} folds."
    sections = [
        Section("What was fitted", [Table(("", ""), values, words=True)]),
        Section("On held-out queries", [differences_table(report.differences)], note=note),
    ]
    if report.reliability:
        sections.append(Section("Reliability of the fitted probability", plots=[reliability_plot(report.reliability)]))
    return render(Page("Fit", about(report.subject, report.configuration), sections))


def about(subject: Subject, configuration: Configuration | None = None) -> Sequence[tuple[str, str]]:
    """What every figure on the page is about: the data, the split, the skills, the seed and the configuration."""
    lines = [
        ("data", f"{subject.data}, {subject.split}"),
        ("queries", f"{subject.queries:,}: {subject.right:,} with a right skill, {subject.none:,} without"),
        ("skills", f"{subject.skills:,}"),
    ]
    if subject.resamples:
        how = f"{subject.confidence:.0%}, bootstrap over queries, {subject.resamples:,} resamples, seed {subject.seed}"
        lines.append(("intervals", how))
    return [*lines, *([("configuration", configuration_shown(configuration))] if configuration else [])]


def configuration_shown(configuration: Configuration) -> str:
    """The matchers and the options in one line."""
    options = "".join(f"; {name} {value}" for name, value in configuration.options.items())
    return f"matchers {', '.join(configuration.matchers)}{options}"


def confusion_sections(confusions: Sequence[Confusion]) -> Iterator[Section]:
    """The table of confusions, where there are any."""
    if confusions:
        note = "Queries in which another skill was given, or ranked first while the expected one was not given."
        yield Section("Confusions", plots=[confusion_plot(confusions)], note=note)


def figures_table(figures: Sequence[Figure]) -> Table:
    """A row for each figure."""
    with_macro = any(figure.macro for figure in figures)
    rows = []
    for figure in figures:
        macro = "" if figure.macro is None else shown(figure.macro.value, figure.unit)
        over_sources = (macro, bounds(figure.macro, figure.unit)) if with_macro else ()
        value = shown(figure.overall.value, figure.unit), bounds(figure.overall, figure.unit)
        rows.append((figure.title, *value, *over_sources, f"{figure.queries:,}"))
    return Table(
        ("", "value", "95% interval", *(("over sources", "95% interval") if with_macro else ()), "queries"), rows
    )


def differences_table(differences: Sequence[Difference]) -> Table:
    """A row for each figure of two configurations."""
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
    return Table(("", "first", "second", "change", "95% interval", "queries"), rows)


def _groups(report: RankingReport) -> Table:
    titles = {figure.name: figure.title for group in report.groups for figure in group.figures}
    rows = []
    for group in report.groups:
        known = {figure.name: shown(figure.overall.value, figure.unit) for figure in group.figures}
        rows.append((group.name, f"{group.queries:,}", *(known.get(name, "") for name in titles)))
    return Table(("", "queries", *titles.values()), rows)


def _score(one: SkillScore) -> Sequence[str]:
    counts = (one.tests, one.given, one.offered, one.missed, one.wrong)
    shares = (one.precision, one.recall, one.reach, one.f1)
    return (one.skill_id, *map(str, counts), *("" if share is None else f"{share:.2f}" for share in shares))
