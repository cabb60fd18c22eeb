"""What there is to draw: the ends of arrows by position, the arrows, and the marks of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillweave.graph.declared import ANY
from skillweave.graph.drawn import Edge, EdgeKind, Node, NodeKind, Overlay
from skillweave.graph.wording import visible

LONGEST_LABEL = 120
"""So many characters of a label are drawn."""


class EndKind(StrEnum):
    """What an arrow begins or ends at; `unknown` is an id that only an edge names."""

    START = "start"
    ANY = "any"
    SKILL = "skill"
    PREDICATE = "predicate"
    UNKNOWN = "unknown"


class Mark(StrEnum):
    """What a run says of a skill; `apart` is one that it says nothing else of."""

    VISITED = "visited"
    CURRENT = "current"
    REACHABLE = "reachable"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class End:
    """The start, "any skill", a box or a diamond; `label` can be drawn as it stands."""

    kind: EndKind
    id: str
    label: str
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True, slots=True)
class Arrow:
    """An edge between two ends by their positions."""

    source: int
    target: int
    kind: EdgeKind
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The ends, the start always first, and the arrows between them."""

    ends: tuple[End, ...]
    arrows: tuple[Arrow, ...]

    @property
    def skills(self) -> int:
        """How many of the ends are skills."""
        return sum(1 for end in self.ends if end.kind is EndKind.SKILL)


_KINDS = {NodeKind.SKILL: EndKind.SKILL, NodeKind.PREDICATE: EndKind.PREDICATE}


def picture_of(nodes: Sequence[Node], edges: Sequence[Edge], overlay: Overlay | None) -> Picture:
    """The nodes and edges as a picture; "any skill" and ids without a node are ends where an edge names them."""
    marks = _marks(overlay)
    ends = [End(EndKind.START, "", "start")]
    if any(ANY in (edge.from_, edge.to) for edge in edges):
        ends.append(End(EndKind.ANY, ANY, "any skill"))
    ends += [End(_KINDS[node.kind], node.id, visible(node.label, LONGEST_LABEL), marks(node)) for node in nodes]
    places = {end.id: place for place, end in reversed(list(enumerate(ends))) if place}
    for id_ in (id_ for edge in edges for id_ in (edge.from_, edge.to)):
        if id_ is not None and id_ not in places:
            places[id_] = len(ends)
            ends.append(End(EndKind.UNKNOWN, id_, visible(id_, LONGEST_LABEL)))
    arrows = tuple(
        Arrow(
            0 if edge.from_ is None else places[edge.from_],
            places[edge.to],
            edge.kind,
            visible(edge.label, LONGEST_LABEL) if edge.label else "",
        )
        for edge in edges
    )
    return Picture(tuple(ends), arrows)


def _marks(overlay: Overlay | None) -> Callable[[Node], frozenset[Mark]]:
    if overlay is None:
        return lambda _node: frozenset()
    visited, reachable = frozenset(overlay.visited), frozenset(overlay.reachable)

    def marks(node: Node) -> frozenset[Mark]:
        if node.kind is not NodeKind.SKILL:
            return frozenset()
        says = {
            Mark.VISITED: node.id in visited,
            Mark.CURRENT: node.id == overlay.current,
            Mark.REACHABLE: node.id in reachable,
        }
        return frozenset(mark for mark, said in says.items() if said) or frozenset({Mark.APART})

    return marks
