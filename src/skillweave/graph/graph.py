"""SkillGraph: which skill a conversation is in, where it may go next, and which skills the model may open (spec 3)."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Self

from skillweave.conversation import Turn
from skillweave.errors import GraphRefused, InvalidGraph
from skillweave.graph.builder import DeclaredBuilder
from skillweave.graph.checked import Checkup, Level
from skillweave.graph.compiled import compile_graph
from skillweave.graph.conditions import EvalContext
from skillweave.graph.declared import Declared, EntryPick, GraphSkill, require_tree_or_routes, with_loaded_skills
from skillweave.graph.drawn import Edge, Node, Overlay
from skillweave.graph.entry_scoring import score_entries
from skillweave.graph.move import Cursor, Move, MoveContext
from skillweave.graph.moving import Leaf, advance, context_of, leaf_at, move_from, reachable_from
from skillweave.graph.scoring import EntryScoring
from skillweave.graph.simulate import Script, Simulation, play
from skillweave.skill import Skill
from skillweave.text.embedding import Embedder

log = logging.getLogger("skillweave")


class Check(StrEnum):
    """What building does with the checkup: raise for errors, log all problems, or leave it for later."""

    THROW = "throw"
    WARN = "warn"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class WiredSkill:
    """A skill with the edges that lead to it, in the order of declaration; `base` skills are engaged everywhere."""

    skill: GraphSkill
    triggers: tuple[Edge, ...]
    base: bool = False


class SkillGraph:
    """A declared graph of skills; every method is pure, and any number of conversations share one.

    See `builder()`, `of(Declared(...))` and `from_dict(data)`. Contexts are a MoveContext or a mapping in its data
    form; `compiled` has the indexes that moves use.
    """

    def __init__(self, declared: Declared, *, digest: str | None = None) -> None:
        from skillweave.graph.data.digest import digest_of

        require_tree_or_routes(declared)
        self.compiled: Final = compile_graph(declared, digest or digest_of(declared))

    @staticmethod
    def of(
        declared: Declared, *, check: Check | str = Check.THROW, known_tools: Collection[str] | None = None
    ) -> "SkillGraph":
        """The graph that was declared. Raises InvalidGraph if it can be none, GraphRefused for the checkup's errors."""
        graph = SkillGraph(declared) if isinstance(declared.pick, EntryPick) else ScoredGraph(declared)
        if check not in list(Check):
            raise InvalidGraph(f"check={str(check)[:60]!r} means nothing; give one of {', '.join(Check)}")
        if check != Check.OFF:
            report = graph.checkup(known_tools)
            if check == Check.WARN:
                for problem in report.problems:
                    log.warning("skill graph: %s %s [%s]", problem.message, problem.fix, problem.code)
            elif not report.ok:
                raise GraphRefused(str(report), [one for one in report.problems if one.level is Level.ERROR])
        return graph

    @staticmethod
    def builder() -> "GraphBuilder":
        """The fluent spelling: each method returns the builder, `build()` the graph."""
        return GraphBuilder()

    @staticmethod
    def from_dict(
        data: Mapping[str, object],
        *,
        embedder: Embedder | None = None,
        check: Check | str = Check.THROW,
        known_tools: Collection[str] | None = None,
    ) -> "SkillGraph":
        """The graph in its data form. Raises InvalidGraph naming the place, GraphRefused for the checkup's errors."""
        from skillweave.graph.data.codec import read_graph

        return SkillGraph.of(read_graph(data, embedder=embedder), check=check, known_tools=known_tools)

    def to_dict(self) -> dict[str, Any]:
        """The data form, plain JSON; raises InvalidGraph for a graph with code of its own in it."""
        from skillweave.graph.data.codec import write_graph

        return write_graph(self.declared)

    @property
    def declared(self) -> Declared:
        """What was declared."""
        return self.compiled.declared

    @property
    def digest(self) -> str:
        """SHA-256 hex of the wiring; another version of the graph has another one."""
        return self.compiled.digest

    def next_skill(
        self, context: MoveContext | Mapping[str, object], scoring: EntryScoring | None = None
    ) -> str | None:
        """The skill that the conversation is in after this moment: `explain(context).to`."""
        return self.explain(context, scoring).to

    def explain(self, context: MoveContext | Mapping[str, object], scoring: EntryScoring | None = None) -> Move:
        """Where to from here and why; never raises for what conditions do. `scoring` comes from `score_entries`."""
        return move_from(self.compiled, self._judged(read(context), scoring))

    def leaf(self, context: MoveContext | Mapping[str, object], scoring: EntryScoring | None = None) -> Leaf | None:
        """The leaf that a decision tree leads to at this moment; None for a graph of entries and routes."""
        return leaf_at(self.compiled, read(context), scoring)

    def advance(
        self, cursor: Cursor | None, turn: Turn, scoring: EntryScoring | None = None
    ) -> tuple[Move, Cursor | None]:
        """The move of a turn and the cursor after it; a repeat of the last turn gives the same move again."""
        return advance(self.compiled, cursor, self._judged(context_of(turn), scoring), turn.id)

    def _judged(self, context: MoveContext, scoring: EntryScoring | None) -> EvalContext:
        return EvalContext(self.compiled.lexicon, self.declared.scales, context, scoring)

    def reachable_skills(self, current: str | None = None) -> tuple[str, ...]:
        """The skills that the model may open from `current`, None for the start; all leaves of a tree (seed 001)."""
        return reachable_from(self.compiled, current)

    def checkup(self, known_tools: Collection[str] | None = None) -> Checkup:
        """What is wrong with the wiring; changes nothing, and may be called at any time."""
        from skillweave.graph.checkup import checkup

        return checkup(self.declared, known_tools)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """What is drawn as boxes, and as diamonds for the decisions of a tree."""
        from skillweave.graph.drawing.nodes import nodes_of

        return nodes_of(self.declared)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        """What is drawn as arrows."""
        from skillweave.graph.drawing.nodes import edges_of

        return edges_of(self.declared)

    @cached_property
    def skills(self) -> tuple[WiredSkill, ...]:
        """The skills, each with the edges that engage it."""
        into: dict[str, list[Edge]] = {}
        for edge in self.edges:
            into.setdefault(edge.to, []).append(edge)
        base = self.compiled.base
        return tuple(WiredSkill(one, tuple(into.get(one.id, ())), one.id in base) for one in self.declared.skills)

    def to_mermaid(self, overlay: Overlay | None = None) -> str:
        """A Mermaid flowchart of what is declared, with a run on top where one is given."""
        from skillweave.graph.drawing.mermaid import to_mermaid

        return to_mermaid(self.nodes, self.edges, overlay)

    def to_svg(self, overlay: Overlay | None = None) -> str:
        """A picture of what is declared, with a run on top where one is given; needs no network."""
        from skillweave.graph.drawing.svg import to_svg

        return to_svg(self.nodes, self.edges, overlay)

    def overlay(self, cursor: Cursor | None) -> Overlay:
        """What a drawing marks of a conversation: where it has been, where it is, what it can reach."""
        current = None if cursor is None else cursor.skill
        visited = () if cursor is None else tuple(cursor.visits)
        return Overlay(visited, current, self.reachable_skills(current))

    async def simulate(self, script: Script) -> Simulation:
        """Plays a script (see `skillweave.graph.simulate`). Raises InvalidGraph, and what the scorer raises."""
        return await play(self.compiled, script)

    def with_skills(self, skills: Mapping[str, Skill]) -> Self:
        """The graph, its skills completed by the definitions (description, tools, text); the digest does not change."""
        return type(self)(with_loaded_skills(self.declared, skills), digest=self.digest)


class ScoredGraph(SkillGraph):
    """A SkillGraph that can score: only graphs built with a scorer are of this kind."""

    async def score_entries(self, context: MoveContext | Mapping[str, object]) -> EntryScoring:
        """The scorer's answer to the message, for `explain` and `advance`. Raises what the scorer raises."""
        return await score_entries(self.compiled, read(context))


class GraphBuilder(DeclaredBuilder):
    """The fluent spelling of a graph; every method returns the builder, and raises InvalidGraph at once."""

    def build(self, check: Check | str = Check.THROW, known_tools: Collection[str] | None = None) -> SkillGraph:
        """The graph. Raises InvalidGraph for parts that exclude each other, GraphRefused for errors of the checkup."""
        return SkillGraph.of(self.declared(), check=check, known_tools=known_tools)


def read(context: MoveContext | Mapping[str, object]) -> MoveContext:
    """The moment that a caller means; raises InvalidGraph naming the key that cannot be read."""
    if isinstance(context, MoveContext):
        return context
    from skillweave.graph.data.context import read_context

    return read_context(context)
