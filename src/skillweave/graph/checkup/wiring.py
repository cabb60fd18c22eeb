"""Whether the parts of a graph are there: the skills that it names, and a beginning."""

from collections.abc import Iterator

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.declarations import Spot
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.wording import named, opening, way
from skillweave.graph.declared import ANY
from skillweave.graph.tree import leaf_ids


def check_wiring(subject: Subject) -> Iterator[Problem]:
    """unknown-skill for each place that names one, then no-entry."""
    for user, place in _named_skills(subject):
        if not _is_known(subject, place["skill"]):
            yield _unknown(subject, user, place)
    if not subject.declared.entries and subject.declared.tree is None:
        yield problem(
            "no-entry",
            "The graph has neither entries nor a tree, so no conversation ever begins in it.",
            "Add an entry.",
        )


def _is_known(subject: Subject, skill_id: str) -> bool:
    return skill_id in subject.skills or (not subject.declared.listed and skill_id != ANY)


def _named_skills(subject: Subject) -> Iterator[tuple[str, Spot]]:
    """Every skill that something names: what names it, and where it stands as the fields of a problem."""
    declared = subject.declared
    for entry in declared.entries:
        yield "An entry", {"skill": entry.skill}
    for route in declared.routes:
        user = opening(way(route))
        for end in dict.fromkeys((route.from_, route.to)):
            if end != ANY or end == route.to:
                yield user, {"skill": end, "from_": route.from_, "to": route.to}
    for leaf in leaf_ids(declared.tree):
        yield "A leaf of the tree", {"skill": leaf}
    if declared.default is not None:
        yield "The `default` of the tree", {"skill": declared.default}
    for skill_id in declared.limits.visits_of:
        yield "A limit of visits", {"skill": skill_id}


def _unknown(subject: Subject, user: str, place: Spot) -> Problem:
    name = place["skill"]
    if name == ANY:
        message = f"{user} names {named(ANY)}, which is no skill: it stands for any skill a route comes from."
        return problem("unknown-skill", message, "Name the one skill that is meant.", **place)
    near = subject.guesses.of(name, subject.skills, "skills")
    fix = f"Write {named(near)}." if near else f"Add {named(name)} to the skills, or remove what names it."
    return problem("unknown-skill", f"{user} names {named(name)}, which is not among the skills.", fix, **place)
