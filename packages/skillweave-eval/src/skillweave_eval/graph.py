"""Scripts played through a skill graph, and which of its edges they take (spec 9)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from skillweave.graph import ANY, By, Edge, EdgeKind, Move
from skillweave.values import Portable

if TYPE_CHECKING:
    from skillweave.graph import Simulation, SkillGraph, Step


@dataclass(frozen=True, slots=True)
class ScriptResult(Portable):
    """What became of a script: its steps, how many of them expect something, and in words what did not come true."""

    json_keys: ClassVar[tuple[str, ...]] = ("name", "ok", "steps", "expectations", "problems")

    name: str
    steps: int
    expectations: int
    problems: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything came true that it expects."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class TakenEdge(Portable):
    """An edge of the graph, and how often the scripts took it."""

    json_keys: ClassVar[tuple[str, ...]] = ("from_ as from", "to", "kind", "label", "taken")

    from_: str | None
    to: str
    kind: EdgeKind
    label: str
    taken: int


@dataclass(frozen=True, slots=True)
class GraphReport(Portable):
    """Scripts played through a graph: which held, which edges they took, and which skills they came to.

    Edges between the same skills that a move cannot tell apart count together; base skills have no edge to be taken.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("ok", "data", "graph", "coverage", "...")

    data: str
    graph: str
    scripts: tuple[ScriptResult, ...]
    edges: tuple[TakenEdge, ...]
    visits: Mapping[str, int] = field(default_factory=dict, hash=False)
    wanted: float | None = None

    @property
    def coverage(self) -> float | None:
        """The share of the edges that some script takes, None for a graph without any."""
        return sum(edge.taken > 0 for edge in self.edges) / len(self.edges) if self.edges else None

    @property
    def ok(self) -> bool:
        """Whether every script holds, and the coverage is what is wanted."""
        covered = self.wanted is None or (self.coverage or 0.0) >= self.wanted
        return covered and all(script.ok for script in self.scripts)


async def play_scripts(
    graph: "SkillGraph", scripts: "Mapping[str, Iterable[Step]]", data: str, *, wanted: float | None = None
) -> GraphReport:
    """Play every script as a conversation of its own; `wanted` is the coverage that they must reach."""
    played = {name: await graph.simulate(tuple(steps)) for name, steps in scripts.items()}
    results = tuple(_result(name, simulation) for name, simulation in played.items())
    moves = [move for simulation in played.values() for move in simulation.moves]
    landed = [step.landed for simulation in played.values() for step in simulation if step.landed is not None]
    visits = {skill: landed.count(skill) for skill in dict.fromkeys(landed)}
    return GraphReport(data, graph.digest[:12], results, tuple(_edges(graph, moves, visits)), visits, wanted)


def _result(name: str, simulation: "Simulation") -> ScriptResult:
    problems = []
    for number, step in enumerate(simulation, start=1):
        if step.held is False and step.expect is not None:
            wanted = ", ".join(f"{key} {value}" for key, value in step.expect.to_dict().items())
            problems.append(f"step {number} leads to {step.landed} by {step.move.by.value}, not {wanted}")
    expecting = sum(step.expect is not None for step in simulation)
    return ScriptResult(name, len(simulation.steps), expecting, tuple(problems))


def _edges(graph: "SkillGraph", moves: Iterable[Move], visits: Mapping[str, int]) -> "Iterable[TakenEdge]":
    base = graph.compiled.base
    edges = [edge for edge in graph.edges if not (edge.from_ is None and edge.to in base)]
    if graph.declared.tree is not None:  # a move of a tree knows its leaf alone
        leaves = [edge for edge in edges if edge.to in graph.compiled.wired]
        return (TakenEdge(edge.from_, edge.to, edge.kind, edge.label, visits.get(edge.to, 0)) for edge in leaves)
    taken = dict.fromkeys(range(len(edges)), 0)
    for move in moves:
        for number in _taken_by(move, edges):
            taken[number] += 1
    return (TakenEdge(edge.from_, edge.to, edge.kind, edge.label, taken[n]) for n, edge in enumerate(edges))


def _taken_by(move: Move, edges: Iterable[Edge]) -> list[int]:
    """The numbers of the edges that the move may have taken."""
    if not move.moved:
        return []
    ways = [(number, edge) for number, edge in enumerate(edges) if edge.to == move.to and _fits(edge, move)]
    # The reason names the end where a route begins, and the evidence the tool that fired it.
    exact = [way for way in ways if (way[1].from_ == ANY) == ("from any skill" in move.reason)]
    tools = [piece.text for piece in move.evidence if piece.kind == "tool"]
    told = [way for way in exact or ways if not tools or any(tool in way[1].label for tool in tools)]
    statuses = [piece.text for piece in move.evidence if piece.kind == "status"]
    closer = [way for way in told if any(status in way[1].label for status in statuses)]
    return [number for number, _ in closer or told or exact or ways]


def _fits(edge: Edge, move: Move) -> bool:
    if move.by in (By.ENTRY, By.SCORER):
        return edge.from_ is None
    if edge.from_ not in (move.from_, ANY):
        return False
    return (edge.kind is EdgeKind.MODEL) == (move.by is By.PICK)
