"""What a route or a condition asks for, one piece after the other: all of them have to hold."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.graph.conditions import (
    AllOf,
    AtIteration,
    Condition,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Predicate,
    Regex,
    UserContains,
    leaves_of,
)
from skillweave.graph.declared import Route
from skillweave.graph.guards import FieldTest, Op


@dataclass(frozen=True, slots=True)
class OnTool:
    """An expression that is found in the name of the tool."""

    regex: Regex


Part: TypeAlias = FieldTest | OnTool | Keywords | UserContains | Regex | HistoryMin | AtIteration | Intent | Predicate


def parts_of(condition: Condition | None) -> Iterator[Part]:
    """The parts of a condition, guards as their comparisons."""
    for leaf in leaves_of(condition):
        if isinstance(leaf, Guarded):
            yield from leaf.guard.tests
        elif not isinstance(leaf, AllOf):
            yield leaf


def parts_of_route(route: Route) -> Iterator[Part]:
    """The parts of all conditions of a route; its tool's name and its statuses as the comparisons that they are."""
    if isinstance(route.on_tool, Regex):
        yield OnTool(route.on_tool)
    elif route.on_tool is not None:
        yield FieldTest("tool_name", Op.EQ, route.on_tool)
    if route.on_status:
        yield FieldTest("status", Op.IN, route.on_status)
    yield from parts_of(route.condition)
    if route.guard is not None:
        yield from route.guard.tests
