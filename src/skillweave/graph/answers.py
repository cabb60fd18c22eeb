"""What is said of a graph as JSON: where it leads, a script that was played, and the whole of it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from skillweave.codec import Portable
from skillweave.graph.drawn import Edge, Node
from skillweave.graph.graph import SkillGraph
from skillweave.graph.move import Move
from skillweave.graph.moving import Leaf
from skillweave.graph.simulate import Simulated, Simulation


@dataclass(frozen=True, slots=True, kw_only=True)
class Next(Move):
    """Where a conversation goes in a skill graph; `leaf` is where a decision tree leads, absent in other graphs."""

    json_keys: ClassVar[tuple[str, ...]] = (*Move.json_keys, "leaf?")

    leaf: str | None = None

    @classmethod
    def of(cls, move: Move, leaf: Leaf | None) -> Self:
        """The answer about a move, and about the leaf of a tree."""
        return cls(**_fields_of(move), leaf=None if leaf is None else leaf.skill)


@dataclass(frozen=True, slots=True, kw_only=True)
class Played(Next):
    """A move of a played script, the skill that the conversation is in after it, and whether the script expected it."""

    json_keys: ClassVar[tuple[str, ...]] = (*Next.json_keys, "skill", "expect", "held")

    skill: str | None
    expect: Mapping[str, str | None] | None
    held: bool | None


@dataclass(frozen=True, slots=True)
class SimulationShown(Portable):
    """A played script; `ok` while no step led elsewhere than expected."""

    ok: bool
    moves: tuple[Played, ...]

    @classmethod
    def of(cls, simulation: Simulation) -> Self:
        """The answer about a played script."""
        return cls(simulation.ok, tuple(map(_played, simulation)))


@dataclass(frozen=True, slots=True)
class GraphSkillShown(Portable):
    """A skill of a graph with the edges that lead to it; a `base` skill is engaged wherever the cursor is."""

    id: str
    description: str
    base: bool
    triggers: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class GraphShown(Portable):
    """A whole graph."""

    digest: str
    skills: tuple[GraphSkillShown, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, graph: SkillGraph) -> Self:
        """The answer about a graph."""
        skills = (GraphSkillShown(of.skill.id, of.skill.description, of.base, of.triggers) for of in graph.skills)
        return cls(graph.digest, tuple(skills), graph.nodes, graph.edges)


def _played(step: Simulated) -> Played:
    expect = None if step.expect is None else step.expect.to_dict()
    return Played(**_fields_of(step.move), leaf=step.leaf, skill=step.skill, expect=expect, held=step.held)


def _fields_of(move: Move) -> dict[str, Any]:
    return {part.name: getattr(move, part.name) for part in fields(move)}
