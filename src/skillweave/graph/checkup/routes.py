"""How the routes of one skill stand to each other: loops, repetitions, routes that never win or that may clash."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.earlier import first_implied
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.terms import Terms
from skillweave.graph.checkup.together import first_together
from skillweave.graph.checkup.wording import named, opening, way
from skillweave.graph.declared import ANY, Route


def check_routes(subject: Subject) -> Iterator[Problem]:
    """self-loop, duplicate-route, shadowed-route, ambiguous-routes: skill by skill, each in the order of declaration.

    A route that repeats another is said to be nothing else. One that never wins is ambiguous too where only the order
    of declaration decides against it.
    """
    for source, placed in subject.routes_from.items():
        found = [(position, _loop(route)) for position, route in placed if route.from_ == route.to]
        if len(placed) == 1:
            yield from (one for _, one in found)
            continue
        asked = [position for position, _ in sorted(placed, key=lambda pair: -pair[1].priority)]
        repeated = dict(_duplicates(subject, asked))
        alive = [position for position in asked if position not in repeated and _may_fire(subject, position)]
        shadowed = dict(_shadowed(subject, source, alive))
        found += (*repeated.items(), *shadowed.items(), *_ambiguous(subject, source, alive))
        yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _may_fire(subject: Subject, position: int) -> bool:
    terms = subject.route_terms.get(position)
    return terms is not None and terms.never is None


def _loop(route: Route) -> Problem:
    message = f"{opening(way(route))} leads back to where it comes from."
    fix = "Remove it; the conversation stays at a skill anyway."
    return problem("self-loop", message, fix, from_=route.from_, to=route.to)


def _duplicates(subject: Subject, positions: Sequence[int]) -> Iterator[tuple[int, Problem]]:
    seen: set[Hashable] = set()
    for position in positions:
        route = subject.declared.routes[position]
        terms = subject.route_terms.get(position)
        key = (route.to, None if terms is None else (frozenset(terms.values.items()), terms.needs))
        if key in seen:
            message = f"{opening(way(route))} is declared twice with the same conditions."
            yield (
                position,
                problem("duplicate-route", message, "Remove one of the two.", from_=route.from_, to=route.to),
            )
        seen.add(key)


def _shadowed(subject: Subject, source: str, asked: Sequence[int]) -> Iterator[tuple[int, Problem]]:
    """Routes that never win. Those from ANY are compared by target: at its target each of them is not asked."""
    routes = subject.declared.routes
    groups: dict[str, list[int]] = {}
    for position in asked:
        groups.setdefault(routes[position].to if source == ANY else "", []).append(position)
    for group in (group for group in groups.values() if len(group) > 1):
        wholes: list[Terms | None] = [subject.route_terms[position] for position in group]
        for place, before in enumerate(first_implied(wholes, subject.shadow_pairs)):
            if before is not None:
                position = group[place]
                yield position, _shadow(routes[position], routes[group[before]])


def _shadow(route: Route, winner: Route) -> Problem:
    message = f"{opening(way(route))} never wins: wherever it fires, the one to {named(winner.to)} fires before it."
    if winner.to == route.to:
        message = f"{opening(way(route))} changes nothing: wherever it fires, another one to there fires before it."
        return problem("shadowed-route", message, "Remove it.", from_=route.from_, to=route.to)
    fix = "Give it a higher priority or declare it first, or remove it."
    return problem("shadowed-route", message, fix, from_=route.from_, to=route.to)


def _ambiguous(subject: Subject, source: str, asked: Sequence[int]) -> Iterator[tuple[int, Problem]]:
    routes = subject.declared.routes
    for _, group in groupby(asked, key=lambda position: routes[position].priority):
        positions = list(group)
        if len(positions) == 1:
            continue

        def concerns(earlier: int, later: int, positions: Sequence[int] = positions) -> bool:
            targets = {routes[positions[earlier]].to, routes[positions[later]].to}
            # Two routes from ANY are asked together only at a third skill.
            return len(targets) == 2 and (source != ANY or len(subject.wired) > 2)

        wholes = [subject.route_terms[position] for position in positions]
        for place, before in enumerate(first_together(wholes, subject.clash_pairs, concerns)):
            if before is not None:
                yield positions[place], _clash(routes[positions[place]], routes[positions[before]])


def _clash(route: Route, other: Route) -> Problem:
    source = "any skill" if route.from_ == ANY else named(route.from_)
    message = (
        f"The routes from {source} to {named(other.to)} and to {named(route.to)} can fire for the same result, "
        "and only their order decides."
    )
    fix = "Give one of them a higher priority, or conditions that exclude the other's."
    return problem("ambiguous-routes", message, fix, from_=route.from_, to=route.to)
