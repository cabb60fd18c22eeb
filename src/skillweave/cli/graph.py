"""`skillweave graph`: what a graph says at a moment, what is wrong with it, and the graph played, told and drawn."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import options
from skillweave.cli.arguments.graph import Opened, context_of, open_graph, script_steps
from skillweave.cli.failure import MISTAKE
from skillweave.cli.output.page import Answer, Ink, Page, below, counted, evidence_shown, printable
from skillweave.cli.output.turn import not_taken_text
from skillweave.codec import Portable
from skillweave.graph.declared import ANY
from skillweave.graph.drawn import Edge, Node

if TYPE_CHECKING:
    from skillweave.graph.checked import Checkup
    from skillweave.graph.declared import Declared
    from skillweave.graph.drawn import Overlay
    from skillweave.graph.graph import SkillGraph
    from skillweave.graph.move import Move
    from skillweave.graph.simulate import Expect, Simulated, Simulation, Step

EXAMPLES = {
    "next": """
skillweave graph next support-triage --ctx '{"user": "I was charged twice"}'
skillweave graph next graph.yaml --ctx @moment.json --json
""",
    "reachable": """
skillweave graph reachable support-triage --current refund-request
""",
    "check": """
skillweave graph check support-triage
skillweave graph check graph.yaml --json
""",
    "simulate": """
skillweave graph simulate support-triage script.yaml
skillweave graph simulate graph.yaml script.yaml --json
""",
    "show": """
skillweave graph show support-triage
""",
    "draw": """
skillweave graph draw support-triage
skillweave graph draw graph.yaml --output graph.svg --visited triage --current refund
""",
}

_Context = Annotated[
    str | None,
    options.option(
        options.GRAPH,
        "--ctx JSON",
        "The moment, as an object with user, iteration, history, current, last_tool, tools, pick, visits, trail; "
        "@FILE reads a file. Default: {}",
    ),
]


async def next_(file: options.File, ctx: _Context = None) -> Answer:
    """Say which skill comes next, and why.

    Prints where the conversation goes, what decided it, which other ways were not taken, and which guards kept a route
    closed. Where a scorer chooses the entry, it is asked. For a decision tree the leaf is printed too.
    """
    from skillweave.graph.answers import Next
    from skillweave.graph.graph import ScoredGraph

    context, notes = context_of(ctx)
    opened = await open_graph(file)
    graph = opened.graph
    scoring = await graph.score_entries(context) if isinstance(graph, ScoredGraph) else None
    move, leaf = graph.explain(context, scoring), graph.leaf(context, scoring)
    end = None if leaf is None else leaf.skill
    return Answer(
        partial(Next.of, move, leaf),
        partial(move_text, move, end),
        notes=(*notes, *opened.notes_with_errors()),
    )


async def reachable(file: options.File, current: options.Current = None) -> Answer:
    """List the skills that the model may open."""
    opened = await open_graph(file)
    if current is not None:
        _require_known(opened, current, "--current")
    found = opened.graph.reachable_skills(current)
    return Answer(partial(Reachable, found), partial(reachable_text, found, current), notes=opened.notes)


async def check(file: options.File) -> Answer:
    """Find what is wrong with a graph.

    Looks at skills, routes, guards, tools and examples, and says what to do. The exit code is 1 when there is an error,
    and for a file that holds no graph. In a pack every skill of the graph must be one of the pack's,
    or of another installed pack.
    """
    opened = await open_graph(file)
    report = opened.checkup()
    text = partial(checkup_text, report, opened.graph.declared, opened.skills)
    return Answer(lambda: report, text, code=0 if report.ok else MISTAKE, notes=opened.notes)


async def simulate(
    file: options.File,
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT",
            help="Steps in YAML or JSON: {user: TEXT}, {tool: NAME, result: ...}, {pick: ID}; with expect: {to, by} a "
            "step is a test.",
        ),
    ],
) -> Answer:
    """Play a script through a graph, move by move.

    The exit code is 1 when a step does not lead where the script expects.
    """
    from skillweave.graph.answers import SimulationShown

    steps, notes = script_steps(script)
    opened = await open_graph(file)
    played = await opened.graph.simulate(steps)
    told = (*notes, *opened.notes_with_errors())
    return Answer(
        partial(SimulationShown.of, played), partial(played_text, played), code=0 if played.ok else MISTAKE, notes=told
    )


async def show(file: options.File) -> Answer:
    """Print a graph in words.

    Each skill with what it is about, what begins it, and where it leads.
    """
    from skillweave.graph.answers import GraphShown

    opened = await open_graph(file)
    return Answer(
        partial(GraphShown.of, opened.graph), partial(shown_text, opened.graph), notes=opened.notes_with_errors()
    )


async def draw(
    file: options.File,
    output: Annotated[
        str | None,
        options.option(
            options.OUTPUT,
            "--output FILE",
            "Write it to this file, as SVG where its name ends in .svg. Default: print it as Mermaid text.",
        ),
    ] = None,
    visited: Annotated[
        list[str] | None,
        options.option(
            options.GRAPH,
            "--visited IDS",
            "Skills that a run visited, with commas; drawn on top. Repeatable.",
        ),
    ] = None,
    current: options.Current = None,
) -> Answer:
    """Draw a graph as Mermaid text or SVG.

    A run can be drawn on top. Needs no network. With --current what can be reached from there is marked too.
    """
    opened = await open_graph(file)
    overlay, is_svg = _overlay(opened, visited or (), current), (output or "").lower().endswith(".svg")
    drawn = Drawn(opened.graph.to_svg(overlay) if is_svg else opened.graph.to_mermaid(overlay), output)
    if output is None:
        return Answer(lambda: drawn, lambda _: drawn.drawing, notes=opened.notes_with_errors())
    _write(output, drawn.drawing)
    text = f"{output} ({'svg' if is_svg else 'mermaid'})"
    return Answer(lambda: drawn, lambda page: page.entry("written", text, Ink.GOOD), notes=opened.notes_with_errors())


def _write(output: str, drawn: str) -> None:
    Path(output).write_text(f"{drawn.rstrip()}\n", encoding="utf-8")


def _overlay(opened: Opened, visited: Sequence[str], current: str | None) -> "Overlay | None":
    from skillweave.graph.drawn import Overlay

    ids = [one for given in visited for one in _ids(given, opened.graph.compiled.wired)]
    for skill_id in ids:
        _require_known(opened, skill_id, "--visited")
    if current is not None:
        _require_known(opened, current, "--current")
    if not ids and current is None:
        return None
    reached = () if current is None else opened.graph.reachable_skills(current)
    return Overlay(tuple(dict.fromkeys(ids)), current, reached)


def _require_known(opened: Opened, skill_id: str, option: str) -> None:
    """Raise BadParameter, with the nearest name, for what the option names and the graph does not have."""
    from skillweave.errors import nearest_names

    known = opened.graph.compiled.wired
    if skill_id in known:
        return
    near = nearest_names(skill_id, known)
    guess = f"did you mean {near[0]!r}?" if near else f"`skillweave graph show {opened.name}` lists them"
    raise typer.BadParameter(f"{skill_id[:100]!r} is no skill of this graph; {guess}", param_hint=f"'{option}'")


def _ids(given: str, known: Collection[str]) -> Sequence[str]:
    """The ids with commas between them, unless the whole is an id of the graph."""
    return (given,) if given in known else [part.strip() for part in given.split(",") if part.strip()]


_LEVELS = {"error": Ink.BAD, "warning": Ink.WARN}


@dataclass(frozen=True, slots=True)
class Reachable(Portable):
    """The skills that the model may open."""

    reachable: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawn(Portable):
    """A drawing of a graph, and the file that it was written to."""

    drawing: str
    output: str | None


def move_text(move: "Move", leaf: str | None, page: Page) -> str:
    """Where the conversation goes, by what and why; then what lost, and which guards were closed."""
    lines = [page.entry("to", "nowhere yet" if move.to is None else move.to, Ink.GOOD if move.moved else None)]
    if leaf is not None:
        lines = [page.entry("leaf", leaf, Ink.GOOD)]
    if move.from_ is not None:
        lines.append(page.entry("from", move.from_))
    lines.append(page.entry("by", f"{move.by.value}: {move.reason}"))
    if move.evidence:
        lines.append(page.entry("evidence", evidence_shown(move.evidence)))
    return "\n".join([*lines, *not_taken_text(move, page)])


def reachable_text(found: Sequence[str], current: str | None, page: Page) -> str:
    """One id a line."""
    if found:
        return "\n".join(map(printable, found))
    return page.wrap("Nothing can be reached from here." if current else "The graph has no entry.")


def checkup_text(report: "Checkup", declared: "Declared", skills: int, page: Page) -> str:
    """A line for each problem and note, then what the graph holds; `skills` leaves out those that are only named."""
    lines = [
        f"{page.paint(one.level.value, _LEVELS[one.level.value])}: "
        + printable(" ".join(f"{one.message} {one.fix} [{one.code}]".split()))
        for one in report.problems
    ]
    lines += [page.paint(printable(" ".join(f"note: {note}".split())), Ink.FAINT) for note in report.notes]
    return below(lines, _summary(report, declared, skills))


def _summary(report: "Checkup", declared: "Declared", skills: int) -> str:
    levels = [problem.level.value for problem in report.problems]
    found = [counted(levels.count(level), level) for level in _LEVELS if level in levels]
    if declared.tree is None:
        entries = counted(len(declared.entries), "entry", "entries")
        parts = f"{entries}, {counted(len(declared.routes), 'route')}"
    else:
        parts = "a decision tree"
    return f"{counted(skills, 'skill')}, {parts}: {', '.join(found) or 'nothing is wrong'}."


_LONGEST = 60


def played_text(simulation: "Simulation", page: Page) -> str:
    """Each step with where it led, whether that was expected, and the counts."""
    lines = [line for number, step in enumerate(simulation, start=1) for line in _lines(number, step, page)]
    return below(lines, _played_summary(simulation))


def _lines(number: int, simulated: "Simulated", page: Page) -> Iterator[str]:
    move = simulated.move
    yield page.entry(f"{number}", " and ".join(_happenings(simulated.step)) or "another call of the model", Ink.STRONG)
    if simulated.leaf is None:
        yield page.entry("", f"-> {move.to or 'nowhere yet'}, by {move.by.value}: {move.reason}")
    else:
        yield page.entry("", f"-> {simulated.leaf}")
    if simulated.expect is not None:
        wanted = _expected(simulated.expect)
        if simulated.held:
            yield page.entry("  as expected", wanted, Ink.GOOD)
        else:
            yield page.entry("  not as expected", wanted, Ink.BAD)


def _happenings(step: "Step") -> Iterator[str]:
    if step.user is not None:
        yield f"user says {_short(step.user)!r}"
    for result in step.tools:
        yield f"{result.tool} answers {_short(result.content)!r} ({result.status})"
    for pick in step.picks:
        yield f"model picks {pick}"


def _expected(expect: "Expect") -> str:
    to = "" if expect.any_to else expect.to or "nowhere"
    by = "" if expect.by is None else f"by {expect.by.value}"
    return " ".join(filter(None, (to, by)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def _played_summary(simulation: "Simulation") -> str:
    held = [step.held for step in simulation if step.held is not None]
    if not held:
        return f"{counted(len(simulation.steps), 'step')}, nothing was expected."
    failed = held.count(False)
    verdict = f"{failed:,} not as expected" if failed else "all as expected"
    return f"{counted(len(simulation.steps), 'step')}, {counted(len(held), 'expectation')}: {verdict}."


def shown_text(graph: "SkillGraph", page: Page) -> str:
    """A paragraph for each skill, or for each decision of a tree, and the digest."""
    ways = _Ways(graph)
    blocks = ["\n".join(ways.block(node, page)) for node in graph.nodes]
    if ways.out[ANY]:
        blocks.append("\n".join([page.paint("any skill", Ink.STRONG), *ways.leading_from(ANY, page)]))
    counts = f"{counted(len(graph.declared.skills), 'skill')}, {counted(len(graph.edges), 'edge')}"
    return "\n\n".join([*blocks, page.entry("graph", f"{counts}, digest {graph.digest[:32]}...")])


class _Ways:
    """The edges of a graph by where they begin."""

    def __init__(self, graph: "SkillGraph") -> None:
        self.out: defaultdict[str, list[Edge]] = defaultdict(list)
        self._begins: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in graph.edges:
            if edge.from_ is None:
                self._begins[edge.to].append(edge)
            else:
                self.out[edge.from_].append(edge)
        self._names = {node.id: _name(node) for node in graph.nodes}
        self._descriptions = {skill.id: skill.description for skill in graph.declared.skills}

    def block(self, node: "Node", page: Page) -> Iterator[str]:
        yield page.paint(printable(self._names[node.id]), Ink.STRONG)
        if self._descriptions.get(node.id):
            yield page.wrap(self._descriptions[node.id], 2)
        for edge in self._begins[node.id]:
            always = "always" if edge.kind.value == "entry" else "in every turn"
            yield page.entry("  begins", edge.label or always)
        yield from self.leading_from(node.id, page)

    def leading_from(self, source: str, page: Page) -> Iterator[str]:
        for edge in self.out[source]:
            why = edge.label or ("where the model asks for it" if edge.kind.value == "model" else "")
            yield page.entry("  leads to", f"{self._names.get(edge.to, edge.to)}{f': {why}' if why else ''}")


def _name(node: "Node") -> str:
    return node.id if node.kind.value == "skill" else f"{node.label.rstrip('?')}?"
