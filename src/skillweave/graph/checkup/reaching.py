"""Whether every skill that is named is there, can be reached, and can be left again."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.subject import Spot, Subject, way
from skillweave.graph.cycles import strong_components
from skillweave.graph.declared import ANY, Route, leaf_ids
from skillweave.graph.wording import named, sentence, several

_NOT_LED_TO = "only skills that cannot be reached lead to it, or none at all"


def check_wiring(subject: Subject) -> Iterator[Problem]:
    """unknown-skill for each place that names one, then no-entry."""
    for user, place in _named_skills(subject):
        skill_id = place["skill"]
        if skill_id not in subject.skills and (subject.declared.listed or skill_id == ANY):
            yield _unknown_skill(subject, user, place)
    if not subject.declared.entries and subject.declared.tree is None:
        yield problem(
            "no-entry",
            "The graph has neither entries nor a tree, so no conversation ever begins in it.",
            "Add an entry.",
        )


def _named_skills(subject: Subject) -> Iterator[tuple[str, Spot]]:
    """Every skill that something names: what names it, and where it stands as the fields of a problem."""
    declared = subject.declared
    for entry in declared.entries:
        yield "An entry", {"skill": entry.skill}
    for route in declared.routes:
        user = sentence(way(route))
        for end in dict.fromkeys((route.from_, route.to)):
            if end != ANY or end == route.to:
                yield user, {"skill": end, "from_": route.from_, "to": route.to}
    for leaf in leaf_ids(declared.tree):
        yield "A leaf of the tree", {"skill": leaf}
    if declared.default is not None:
        yield "The `default` of the tree", {"skill": declared.default}
    for skill_id in declared.limits.visits_of:
        yield "A limit of visits", {"skill": skill_id}


def _unknown_skill(subject: Subject, user: str, place: Spot) -> Problem:
    name = place["skill"]
    if name == ANY:
        message = f"{user} names {named(ANY)}, which is no skill: it stands for any skill a route comes from."
        return problem("unknown-skill", message, "Name the one skill that is meant.", **place)
    otherwise = f"Add {named(name)} to the skills, or remove what names it."
    fix = subject.guesses.fix(name, subject.skills, "skills", otherwise)
    return problem("unknown-skill", f"{user} names {named(name)}, which is not among the skills.", fix, **place)


def check_reaching(subject: Subject) -> Iterator[Problem]:
    """unreachable-skill and model-edge-only in the order of the skills, then dead-end, then trap."""
    if subject.declared.tree is not None:
        unused = (skill_id for skill_id in subject.own if skill_id not in subject.wired)
        yield from (_unreachable(skill_id, "no leaf of the tree is it") for skill_id in unused)
    elif subject.declared.entries:
        ways = _Reachability(subject)
        yield from ways.arrivals()
        yield from ways.dead_ends()
        yield from ways.traps()


class _Reachability:
    """Which skill leads to which; a route from ANY leads there from every skill."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._entries = dict.fromkeys(entry.skill for entry in subject.declared.entries)
        self._base = {entry.skill for entry in subject.declared.entries if entry.base}
        self._reached = self._from_entries(subject.declared.routes)

    def arrivals(self) -> Iterator[Problem]:
        routes = self._subject.declared.routes
        by_itself = self._from_entries(route for route in routes if route.is_deterministic)
        sources = {*self._reached, ANY}
        bare: dict[str, Route] = {}
        for route in routes:
            if not route.is_deterministic and route.from_ != route.to and route.from_ in sources:
                bare.setdefault(route.to, route)
        for skill_id in self._subject.own:
            if skill_id not in self._reached:
                named_somewhere = skill_id in self._subject.wired
                yield _unreachable(skill_id, _NOT_LED_TO if named_somewhere else "no entry and no route names it")
            elif skill_id not in by_itself and skill_id in bare:
                yield _only_by_model(bare[skill_id])

    def dead_ends(self) -> Iterator[Problem]:
        declared = self._subject.declared
        for skill_id in self._subject.own if declared.routes else ():
            if skill_id in self._reached and skill_id not in self._base and not self._exits((skill_id,)):
                message = f"No route leads out of {named(skill_id)}: only the model can leave it, for an entry."
                fix = "Add a route out of it; where it is meant to be the last, suppress `dead-end` with that reason."
                yield problem("dead-end", message, fix, skill=skill_id)

    def traps(self) -> Iterator[Problem]:
        """Cycles that are never left; a cycle of all skills but the base ones is no trap."""
        places = {skill_id: place for place, skill_id in enumerate(self._subject.ids)}
        found = []
        for component in strong_components(self._links):
            members = sorted((name for name in component if name != ANY), key=places.__getitem__)
            leave_some_behind = len(self._base.union(members)) < len(self._reached)
            if len(members) > 1 and leave_some_behind and not self._exits(members):
                found.append(members)
        for members in sorted(found, key=lambda members: places[members[0]]):
            message = f"{several(members)} lead to each other, and no route leads out of them to the other skills."
            fix = "Add a route that leads out of the cycle, or suppress `trap` with the reason why it is meant."
            yield problem("trap", message, fix, skill=members[0])

    @cached_property
    def _links(self) -> dict[str, list[str]]:
        # The components are those of the skills alone: what ANY leads to, every skill leads to.
        links: dict[str, list[str]] = {skill_id: [ANY] for skill_id in self._reached}
        links[ANY] = []
        for route in self._subject.declared.routes:
            if route.from_ in links and route.to in links:
                links[route.from_].append(route.to)
        return links

    def _exits(self, members: Sequence[str]) -> bool:
        inside = set(members)
        own = (route for member in members for _, route in self._subject.routes_from.get(member, ()))
        any_ = (route for _, route in self._subject.routes_from.get(ANY, ()))
        return any(route.to not in inside for routes in (own, any_) for route in routes)

    def _from_entries(self, routes: Iterable[Route]) -> Collection[str]:
        onward: dict[str, list[str]] = {}
        for route in routes:
            onward.setdefault(route.from_, []).append(route.to)
        reached = dict.fromkeys((*self._entries, *onward.get(ANY, ())))
        waiting = list(reached)
        while waiting:
            for other in onward.get(waiting.pop(), ()):
                if other not in reached:
                    reached[other] = None
                    waiting.append(other)
        return reached


def _unreachable(skill_id: str, why: str) -> Problem:
    message = f"The graph never comes to {named(skill_id)}: {why}."
    return problem("unreachable-skill", message, "Lead there, or take it out of the graph.", skill=skill_id)


def _only_by_model(route: Route) -> Problem:
    source = "any skill" if route.from_ == ANY else named(route.from_)
    message = f"Only the model can lead to {named(route.to)}: the route from {source} has no condition."
    fix = "Give it a condition, or suppress `model-edge-only` where the model is meant to decide."
    return problem("model-edge-only", message, fix, skill=route.to, from_=route.from_, to=route.to)
