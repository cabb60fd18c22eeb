"""What a drawing shows: nodes, edges, and the marks of a run (spec 3.6)."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from skillweave.codec import Portable


class NodeKind(StrEnum):
    """A skill, or a decision of a tree."""

    SKILL = "skill"
    PREDICATE = "predicate"


class EdgeKind(StrEnum):
    """What makes somebody take the edge; `model` edges only the model takes."""

    ENTRY = "entry"
    PREDICATE = "predicate"
    TOOL = "tool"
    STATUS = "status"
    GUARD = "guard"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Node(Portable):
    """A box or a diamond."""

    id: str
    kind: NodeKind
    label: str


@dataclass(frozen=True, slots=True)
class Edge(Portable):
    """An arrow between two nodes by their ids; `from_` None is the start, `ANY` every other skill."""

    from_: str | None
    to: str
    kind: EdgeKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Overlay(Portable):
    """A run to draw on top: visited skills, the current one, reachable ones. Raises TypeError for a text as a list."""

    visited: Collection[str] = ()
    current: str | None = None
    reachable: Collection[str] = ()

    def __post_init__(self) -> None:
        for name, ids in (("visited", self.visited), ("reachable", self.reachable)):
            if isinstance(ids, str):
                raise TypeError(f"`{name}` is a list of skill ids, got {ids[:100]!r}; write [{ids[:100]!r}]")
