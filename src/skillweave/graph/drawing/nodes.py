"""The boxes, diamonds and arrows of a graph, and the captions of those without a label (spec 3.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from skillweave.graph.conditions import Condition, Guarded
from skillweave.graph.declared import ANY, Decide, Declared, Entry, Route, TreeNode
from skillweave.graph.drawn import Edge, EdgeKind, Node, NodeKind
from skillweave.graph.wording import BLANK, first_few, piece, printable

LONGEST_CAPTION = 100
"""So many characters a derived caption has at most."""
_DEFAULT = "default: a condition raises"


@dataclass(frozen=True, slots=True)
class Branch:
    """An arrow of the tree: `above` is the decision that it leaves, None at the root; `id` names what it leads to."""

    above: str | None
    label: str
    id: str
    node: TreeNode


def branches_of(declared: Declared) -> Iterator[Branch]:
    """Yields every arrow of the tree; decisions are `d0`, `d1`, ... but for ids of skills, shared ones come once."""
    if declared.tree is None:
        return
    steps = list(_steps(declared.tree))
    taken = {skill.id for skill in declared.skills} | {node for _, _, node in steps if isinstance(node, str)}
    numbers = (f"d{number}" for number in count())
    free = (id_ for id_ in numbers if id_ not in taken)
    ids: dict[int, str] = {}
    for above, label, node in steps:
        if isinstance(node, Decide) and id(node) not in ids:
            ids[id(node)] = next(free)
        yield Branch(
            above=None if above is None else ids[id(above)],
            label=label,
            id=ids[id(node)] if isinstance(node, Decide) else node,
            node=node,
        )


def _steps(root: TreeNode) -> Iterator[tuple[Decide | None, str, TreeNode]]:
    waiting: list[tuple[Decide | None, str, TreeNode]] = [(None, "", root)]
    known: set[int] = set()
    while waiting:
        step = waiting.pop()
        yield step
        node = step[2]
        if isinstance(node, Decide) and id(node) not in known:
            known.add(id(node))
            waiting += ((node, "no", node.otherwise), (node, "yes", node.then))


def entry_caption(entry: Entry) -> str:
    """The label of an entry, or what lets a conversation begin there; a base entry says that it is one."""
    if entry.label is not None:
        return entry.label
    caption = "" if entry.condition is None else condition_caption(entry.condition)
    if entry.base:
        return f"base: {caption}" if caption else "base"
    return caption


def decision_caption(node: Decide) -> str:
    """The label of a decision, or its condition."""
    return condition_caption(node.condition) if node.label is None else node.label


def route_caption(route: Route) -> str:
    """The label of a route, or all that has to hold for it; empty for a route that only the model takes."""
    if route.label is not None:
        return route.label
    when = [] if route.condition is None else [condition_caption(route.condition)]
    if route.guard is not None:
        when.append(route.guard.caption() or "always")
    parts = [_result(route), " and ".join(when)]
    caption = " when ".join(part for part in parts if part)
    priority = f" (priority {route.priority})" if route.priority else ""
    return printable(caption, LONGEST_CAPTION - len(priority)) + priority


def condition_caption(condition: Condition) -> str:
    """A condition in a few words."""
    return printable(condition.caption() or "always", LONGEST_CAPTION)


def _result(route: Route) -> str:
    statuses = " or ".join(first_few(piece(status) or BLANK for status in route.on_status))
    if route.on_tool is None:
        return f"status {statuses}" if statuses else ""
    tool = piece(route.on_tool) if isinstance(route.on_tool, str) else route.on_tool.caption()
    return f"on {tool}: {statuses}" if statuses else f"on {tool}"


def nodes_of(declared: Declared) -> tuple[Node, ...]:
    """The skills in the order of declaration; of a tree decisions and leaves, the default leaf, then other skills."""
    if declared.tree is not None:
        return tuple(dict.fromkeys(_tree_nodes(declared)))
    ids = [skill.id for skill in declared.skills]
    if not declared.listed:
        ids += (entry.skill for entry in declared.entries)
        ids += (id_ for route in declared.routes for id_ in (route.from_, route.to) if id_ != ANY)
    return tuple(map(_box, dict.fromkeys(ids)))


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


def edges_of(declared: Declared) -> tuple[Edge, ...]:
    """Entries, then routes, as declared, or the branches of a tree, then its default; labels are the author's first."""
    if declared.tree is not None:
        branches = (Edge(one.above, one.id, EdgeKind.PREDICATE, one.label) for one in branches_of(declared))
        default = () if declared.default is None else (Edge(None, declared.default, EdgeKind.PREDICATE, _DEFAULT),)
        return (*branches, *default)
    entries = (Edge(None, entry.skill, EdgeKind.ENTRY, entry_caption(entry)) for entry in declared.entries)
    routes = (Edge(route.from_, route.to, kind_of(route), route_caption(route)) for route in declared.routes)
    return (*entries, *routes)


def kind_of(route: Route) -> EdgeKind:
    """What the route fires on: a status goes before the tool, the tool before a guard, a guard before a condition."""
    if route.on_status:
        return EdgeKind.STATUS
    if route.on_tool is not None:
        return EdgeKind.TOOL
    if route.guard is not None or isinstance(route.condition, Guarded):
        return EdgeKind.GUARD
    return EdgeKind.MODEL if route.condition is None else EdgeKind.PREDICATE
