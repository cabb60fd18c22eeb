"""Which route fires: for each tool result, the routes out of a skill, then those from any (spec 3.2)."""

from collections.abc import Sequence

from skillweave.conversation import ToolResult
from skillweave.decisions import Evidence
from skillweave.graph.compiled import Compiled
from skillweave.graph.conditions import Regex
from skillweave.graph.declared import Route
from skillweave.graph.judging import Sight, judge, judge_guard
from skillweave.graph.move import By, Loser, Why
from skillweave.graph.notes import Notes, described
from skillweave.graph.taken import Taken


def leave(compiled: Compiled, current: str, sight: Sight, notes: Notes) -> Taken | None:
    """The first route that fires, result by result in the order of the calls; later ones that lead elsewhere lose.

    Without any result, the routes that need none are judged once.
    """
    taken: Taken | None = None
    for result in sight.context.tools or (None,):
        fired = _first_that_fires(compiled, current, result, sight, notes)
        if taken is None:
            taken = fired
        elif fired is not None and fired.to != taken.to:
            reason = f"an earlier result already led to {taken.to!r}"
            notes.lost(Loser(fired.to, By.ROUTE, Why.LATER, reason))
    return taken


def _first_that_fires(
    compiled: Compiled, current: str, result: ToolResult | None, sight: Sight, notes: Notes
) -> Taken | None:
    for route in _asked(compiled, current):
        if not _meets(route, result, sight):
            continue
        evidence = _evidence_that(route, result, sight, notes)
        if evidence is not None:
            return Taken(route.to, By.ROUTE, evidence, f"the {described(route)} fires")
    return None


def _asked(compiled: Compiled, current: str) -> Sequence[Route]:
    own = compiled.routes_from.get(current, ())
    any_ = compiled.any_routes
    return (*own, *(route for route in any_ if route.to != current)) if any_ else own


def _evidence_that(route: Route, result: ToolResult | None, sight: Sight, notes: Notes) -> tuple[Evidence, ...] | None:
    """What shows that a route fires whose tool and status are met; None where it does not."""
    evidence = _of_result(route, result)
    if route.condition is not None:
        verdict = judge(route.condition, sight, result)
        if verdict.raised:
            notes.failed(verdict, described(route))
        if not verdict.holds:
            return None
        evidence += verdict.evidence
    if route.guard is not None:
        verdict = judge_guard(route.guard, sight, result)
        if not verdict.holds:
            notes.stayed_closed(route, verdict)
            return None
        evidence += verdict.evidence
    return evidence


def _meets(route: Route, result: ToolResult | None, sight: Sight) -> bool:
    """Whether the result is of the route's tool and status; without one, whether the route needs none."""
    if result is None:
        return not route.needs_result
    tool = route.on_tool
    if isinstance(tool, Regex):
        met = sight.lexicon.patterns[tool].search(result.tool.encode("utf-8", "replace")) is not None
    else:
        met = tool is None or tool == result.tool
    return met and (not route.on_status or result.status in route.on_status)


def _of_result(route: Route, result: ToolResult | None) -> tuple[Evidence, ...]:
    if result is None:
        return ()
    tool = route.on_tool
    named = () if tool is None else (Evidence("tool", tool.source if isinstance(tool, Regex) else tool),)
    return (*named, Evidence("status", result.status)) if route.on_status else named
