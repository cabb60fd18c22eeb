"""The arrows of a graph (spec 3.6)."""

from skillweave.graph.conditions import Guarded
from skillweave.graph.declared import Declared, Route
from skillweave.graph.drawing.branches import branches_of
from skillweave.graph.drawing.captions import entry_caption, route_caption
from skillweave.graph.drawn import Edge, EdgeKind

_DEFAULT = "default: a condition raises"


def edges_of(declared: Declared) -> tuple[Edge, ...]:
    """Entries first, then routes, in the order of declaration; of a tree its branches, depth-first, from the root on.

    An arrow's label is the one that its author gave, else what has to hold in a few words; a tree's say `yes` and `no`.
    The last arrow of a tree with a default leaf leads there from the start.
    """
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
