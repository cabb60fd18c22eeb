"""Graphs for people: moves, reachable skills, checkups, played scripts and whole graphs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page, below, counted, evidence_shown, printable
from skillweave.cli.output.turn import not_taken_text
from skillweave.codec import Portable
from skillweave.graph.declared import ANY
from skillweave.graph.drawn import Edge, Node

if TYPE_CHECKING:
    from skillweave.graph.checked import Checkup
    from skillweave.graph.declared import Declared
    from skillweave.graph.graph import SkillGraph
    from skillweave.graph.move import Move
    from skillweave.graph.simulate import Expect, Simulated, Simulation, Step


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
    """A line for each problem and note, which can be searched and counted, and what the graph holds.

    `skills` is how many skills there are, without those that are only named.
    """
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
