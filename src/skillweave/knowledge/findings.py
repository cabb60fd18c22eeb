"""The rules of entity context that a snapshot brings, ready to be used, and what is found wrong with them."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import InvalidValue, SkillweaveError, first_of
from skillweave.knowledge.codes import NO_RULES, NO_TAGS, UNREADABLE
from skillweave.knowledge.recognise import Recogniser
from skillweave.knowledge.rules import ContextRules, context_rules_in, nearest_fix
from skillweave.registry import Snapshot

MOST_NAMED = 5
"""So many skills a finding about a tag names."""


@dataclass(frozen=True, slots=True)
class EntityRules:
    """The rules, with their patterns compiled; `broken` is why those of a source cannot be used."""

    rules: ContextRules = field(default_factory=ContextRules)
    recogniser: Recogniser = field(default_factory=Recogniser)
    broken: str = ""


def entity_rules_in(snapshot: Snapshot) -> EntityRules:
    """What the sources say about entity context; nothing where none does, and where it cannot be read."""
    try:
        rules = context_rules_in(snapshot)
        return EntityRules() if rules is None else EntityRules(rules, Recogniser(rules.recognise))
    except (SkillweaveError, InvalidValue) as error:
        return EntityRules(broken=str(error))


def context_findings(snapshot: Snapshot, found: EntityRules, *, entities: bool) -> tuple[Diagnostic, ...]:
    """What there is to say about the rules with these skills; `entities` says whether a graph is asked by them."""
    return tuple(_findings(snapshot, found, entities))


def _findings(snapshot: Snapshot, found: EntityRules, entities: bool) -> Iterator[Diagnostic]:  # noqa: FBT001
    here = Location("context")
    if found.broken:
        fix = "correct the source; until then no entity context is shown"
        yield UNREADABLE.found(here, f"the rules of entity context cannot be read: {found.broken}", fix)
        return
    if entities and not found.rules.sections:
        message = "a graph of entities is given, and no source says which of its data is shown"
        yield NO_RULES.found(here, message, "add `context:` with `sections` to a pack, or leave `entities` out")
    skills: dict[str, list[str]] = {}
    for skill in snapshot.active():
        for tag in found.rules.unknown_tags(skill.domain_tags):
            skills.setdefault(tag, []).append(skill.id)
    for tag, ids in skills.items():
        shows = f"the sections {', '.join(found.rules.otherwise)}" if found.rules.otherwise else "no section"
        message = f"`context: tags` does not list {tag[:60]!r}, a domain tag of {first_of(ids, MOST_NAMED)}"
        fix = f"it shows {shows}; list the tag to show others ({nearest_fix(tag, tuple(found.rules.tags))})"
        yield NO_TAGS.found(here, message, fix)
