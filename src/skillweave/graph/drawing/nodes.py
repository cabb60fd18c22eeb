"""The boxes and diamonds of a graph (spec 3.6)."""

from collections.abc import Iterator

from skillweave.graph.declared import ANY, Decide, Declared
from skillweave.graph.drawing.branches import branches_of
from skillweave.graph.drawing.captions import decision_caption
from skillweave.graph.drawn import Node, NodeKind


def nodes_of(declared: Declared) -> tuple[Node, ...]:
    """The skills in the order of declaration, once each.

    Of a tree, first its decisions and leaves in depth-first order, then its default leaf and skills that are no leaf.
    Where the skills are not listed, those that entries and routes name are skills too.
    """
    if declared.tree is not None:
        found = dict.fromkeys(_tree_nodes(declared))
    else:
        found = dict.fromkeys(_box(id_) for id_ in _flat_ids(declared))
    return tuple(found)


def _flat_ids(declared: Declared) -> Iterator[str]:
    yield from (skill.id for skill in declared.skills)
    if not declared.listed:
        yield from (entry.skill for entry in declared.entries)
        yield from (id_ for route in declared.routes for id_ in (route.from_, route.to) if id_ != ANY)


def _tree_nodes(declared: Declared) -> Iterator[Node]:
    for branch in branches_of(declared):
        if isinstance(branch.node, Decide):
            yield Node(branch.id, NodeKind.PREDICATE, decision_caption(branch.node))
        else:
            yield _box(branch.id)
    if declared.default is not None:
        yield _box(declared.default)
    yield from (_box(skill.id) for skill in declared.skills)


def _box(skill_id: str) -> Node:
    return Node(skill_id, NodeKind.SKILL, skill_id)
