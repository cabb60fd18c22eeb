"""How entries stand to each other where the first that may begin does: entries that never begin, or share words."""

from collections.abc import Iterator

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.earlier import first_implied
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.wording import named, several
from skillweave.graph.conditions import Condition, Keywords, leaves_of
from skillweave.graph.lexicon import spaced


def check_rules(subject: Subject) -> Iterator[Problem]:
    """multi-entry-fanout, dead-entry-step, then overlapping-rules and rules-shadowed-by-order entry by entry.

    Nothing of this where a scorer or the model chooses the entry.
    """
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
        message = (
            f"The entry {named(skill_id)} has no condition, so no conversation begins at {several(after)} after it."
        )
        fix = f"Declare {named(skill_id)} last, give it a condition, or choose the entry by a scorer."
        yield problem("multi-entry-fanout", message, fix, skill=skill_id)


def _dead_steps(subject: Subject, first: int) -> Iterator[Problem]:
    entries = subject.declared.entries
    begin = {entry.skill for entry in entries[: first + 1]}
    led_to = {route.to for route in subject.declared.routes if route.is_deterministic and route.from_ != route.to}
    for skill_id in dict.fromkeys(entry.skill for entry in entries[first + 1 :]):
        routes = (route for _, route in subject.routes_from.get(skill_id, ()))
        if skill_id not in begin and skill_id not in led_to and any(route.is_deterministic for route in routes):
            before = entries[first].skill
            message = (
                f"The routes from {named(skill_id)} fire only if the model goes there: {named(before)} always begins."
            )
            fix = f"Lead to {named(skill_id)} by a route, or declare it before {named(before)}."
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
