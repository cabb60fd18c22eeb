"""What the host keys of skills come to: whom they keep from asking for a skill, and what else they are read for."""

from collections.abc import Iterable, Iterator, Mapping

from skillweave.formats.arguments import takes_arguments
from skillweave.formats.host_keys import BY_USER, NOT_BY_MODEL, WHEN_TO_USE, invocation_of, when_to_use_of
from skillweave.skill import Skill

LISTED = 10
"""So many ids stand in a line for people."""

_MEANINGS: Mapping[str, str] = {
    NOT_BY_MODEL: "the model never selects",
    BY_USER: "no mention selects",
    WHEN_TO_USE: "it is searched like the description of",
    "$ARGUMENTS": "what follows a mention takes its place in",
}


def by_host_key(skills: Iterable[Skill]) -> dict[str, list[str]]:
    """The ids of the skills for which a key makes a difference, by key."""
    found: dict[str, list[str]] = {key: [] for key in _MEANINGS}
    for skill in skills:
        invocation = invocation_of(skill)
        for key, applies in (
            (NOT_BY_MODEL, not invocation.by_model),
            (BY_USER, not invocation.by_user),
            (WHEN_TO_USE, bool(when_to_use_of(skill))),
            ("$ARGUMENTS", takes_arguments(skill)),
        ):
            if applies:
                found[key].append(skill.id)
    return found


def host_key_lines(found: Mapping[str, list[str]]) -> list[str]:
    """A sentence for each key that some skill has."""
    return [f"{key}: {_MEANINGS[key]} {_listed(ids)}." for key, ids in found.items() if ids]


def host_key_facts(skill: Skill) -> Iterator[tuple[str, str]]:
    """Label and text for what the keys of one skill say."""
    invocation = invocation_of(skill)
    if not invocation.by_model or not invocation.by_user:
        yield "selection", invocation.openings(skill.id)
    yield "when to use", " ".join(when_to_use_of(skill).split())
    if takes_arguments(skill):
        filled = f"what a user writes after /{skill.id} takes the place of $ARGUMENTS"
        yield "arguments", filled if invocation.by_user else "$ARGUMENTS stays empty, as no mention selects the skill"


def _listed(ids: list[str]) -> str:
    shown = ", ".join(ids[:LISTED])
    return f"{shown} and {len(ids) - LISTED:,} more" if len(ids) > LISTED else shown
