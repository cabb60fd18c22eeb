"""How routes of one skill, and entries, stand to each other where the first that fits wins."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.pairs import first_implied, first_together
from skillweave.graph.checkup.subject import Subject, way
from skillweave.graph.checkup.terms import Terms
from skillweave.graph.conditions import Condition, Keywords, leaves_of, spaced
from skillweave.graph.declared import ANY, Route
from skillweave.graph.wording import named, sentence, several


def check_routes(subject: Subject) -> Iterator[Problem]:
    """self-loop, duplicate-route, shadowed-route, ambiguous-routes: skill by skill, in the order of declaration."""
    for source, placed in subject.routes_from.items():
        found = [(position, _loop(route)) for position, route in placed if route.from_ == route.to]
        if len(placed) == 1:
            yield from (one for _, one in found)
            continue
        asked = [position for position, _ in sorted(placed, key=lambda pair: -pair[1].priority)]
        repeated = dict(_duplicates(subject, asked))
        terms = subject.route_terms
        fire = (position for position in asked if position in terms and terms[position].never is None)
        alive = [position for position in fire if position not in repeated]
        shadowed = dict(_shadowed(subject, source, alive))
        found += (*repeated.items(), *shadowed.items(), *_ambiguous(subject, source, alive))
        yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _loop(route: Route) -> Problem:
    message = f"{sentence(way(route))} leads back to where it comes from."
    fix = "Remove it; the conversation stays at a skill anyway."
    return problem("self-loop", message, fix, from_=route.from_, to=route.to)


def _duplicates(subject: Subject, positions: Sequence[int]) -> Iterator[tuple[int, Problem]]:
    seen: set[Hashable] = set()
    for position in positions:
        route = subject.declared.routes[position]
        terms = subject.route_terms.get(position)
        key = (route.to, None if terms is None else (frozenset(terms.values.items()), terms.needs))
        if key in seen:
            message, fix = (
                f"{sentence(way(route))} is declared twice with the same conditions.",
                "Remove one of the two.",
            )
            yield position, problem("duplicate-route", message, fix, from_=route.from_, to=route.to)
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
    message = f"{sentence(way(route))} never wins: wherever it fires, the one to {named(winner.to)} fires before it."
    if winner.to == route.to:
        message = f"{sentence(way(route))} changes nothing: wherever it fires, another one to there fires before it."
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


def check_rules(subject: Subject) -> Iterator[Problem]:
    """multi-entry-fanout, dead-entry-step, overlapping-rules, rules-shadowed-by-order; only if order decides."""
    if not subject.in_order:
        return
    entries = subject.declared.entries
    first = next((place for place, entry in enumerate(entries) if entry.condition is None), None)
    if first is not None:
        yield from _fanout(subject, first)
        yield from _dead_steps(subject, first)
    yield from _pairs(subject)


def _fanout(subject: Subject, first: int) -> Iterator[Problem]:
    entries = subject.declared.entries
    skill_id = entries[first].skill
    begin = (entry.skill for entry in entries[first + 1 :] if not entry.base)  # base ones are engaged anyway
    after = [skill for skill in dict.fromkeys(begin) if skill != skill_id]
    if after:
        name = named(skill_id)
        message = f"The entry {name} has no condition, so no conversation begins at {several(after)} after it."
        fix = f"Declare {name} last, give it a condition, or choose the entry by a scorer."
        yield problem("multi-entry-fanout", message, fix, skill=skill_id)


def _dead_steps(subject: Subject, first: int) -> Iterator[Problem]:
    entries = subject.declared.entries
    begin = {entry.skill for entry in entries[: first + 1]}
    led_to = {route.to for route in subject.declared.routes if route.is_deterministic and route.from_ != route.to}
    for skill_id in dict.fromkeys(entry.skill for entry in entries[first + 1 :]):
        routes = (route for _, route in subject.routes_from.get(skill_id, ()))
        if skill_id not in begin and skill_id not in led_to and any(route.is_deterministic for route in routes):
            name, before = named(skill_id), entries[first].skill
            message = f"The routes from {name} fire only if the model goes there: {named(before)} always begins."
            fix = f"Lead to {name} by a route, or declare it before {named(before)}."
            yield problem("dead-entry-step", message, fix, skill=skill_id, from_=before)


def _pairs(subject: Subject) -> Iterator[Problem]:
    entries = subject.declared.entries
    alive = [terms if terms is not None and terms.never is None else None for terms in subject.entry_terms]
    shared = _shared_words(subject)
    for place, before in enumerate(first_implied(alive, subject.entry_pairs)):
        if before is not None:
            earlier, later = entries[before].skill, entries[place].skill
            message = f"The entry {named(later)} never begins: wherever it would, {named(earlier)} begins before it."
            fix = f"Declare {named(later)} first, or let its condition ask for something else."
            yield problem("rules-shadowed-by-order", message, fix, skill=later, from_=earlier, to=later)
        elif place in shared:
            earlier, later, words = shared[place]
            message = f"The entries {named(earlier)} and {named(later)} both name {several(words)}; the first one wins."
            fix = "Keep each word in one of them, or put the entry that asks for more first."
            yield problem("overlapping-rules", message, fix, skill=later, from_=earlier, to=later)


def _shared_words(subject: Subject) -> dict[int, tuple[str, str, list[str]]]:
    """For entries of keywords the first earlier one of another skill with which they share some, and the words."""
    shared: dict[int, tuple[str, str, list[str]]] = {}
    # The first two skills that name a word are enough: one of them is another than the entry's.
    owners: dict[str, dict[str, int]] = {}
    for place, entry in enumerate(subject.declared.entries):
        by_place: dict[int, list[str]] = {}
        for word in dict.fromkeys(map(spaced, _keywords(entry.condition))):
            skills = owners.setdefault(word, {})
            first = min((at for skill, at in skills.items() if skill != entry.skill), default=None)
            if first is not None:
                by_place.setdefault(first, []).append(word)
            if len(skills) < 2:
                skills.setdefault(entry.skill, place)
        if by_place:
            first = min(by_place)
            shared[place] = subject.declared.entries[first].skill, entry.skill, by_place[first]
    return shared


def _keywords(condition: Condition | None) -> tuple[str, ...]:
    """The words of a condition that is nothing but keywords."""
    leaves = list(leaves_of(condition))
    return leaves[0].words if len(leaves) == 1 and isinstance(leaves[0], Keywords) else ()
