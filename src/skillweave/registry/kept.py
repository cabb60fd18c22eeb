"""A broken edit keeps the last good version (spec 1.3): what of the skills before stays, although it can't be read."""

from collections.abc import Iterable, Sequence

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.registry.source import Loaded
from skillweave.skill import Skill


def keep_last_good(before: Sequence[Skill], loaded: Loaded) -> tuple[tuple[Skill, ...], tuple[Diagnostic, ...]]:
    """The loaded skills and, in their old places, those that are gone because of an error; a finding for each kept."""
    missing = _missing(before, loaded)
    if not missing:
        return loaded.skills, ()
    kept = {id(skill) for skill in missing}
    return _in_old_places(before, loaded.skills, kept), tuple(_finding(skill) for skill in missing)


def _missing(before: Iterable[Skill], loaded: Loaded) -> list[Skill]:
    broken = [found for found in loaded.diagnostics if found.severity is Severity.ERROR and found.location]
    if not broken:
        return []
    still = {_key(skill) for skill in loaded.skills}
    places = {_place(skill) for skill in loaded.skills}
    errors = _Errors(broken)
    return [
        skill
        for skill in before
        if _key(skill) not in still and (errors.name(skill) or (_place(skill) not in places and errors.cover(skill)))
    ]


class _Errors:
    """Where errors are: at a named skill of a place, or at a place as a whole (a file, or a folder above it)."""

    def __init__(self, broken: Iterable[Diagnostic]) -> None:
        self._named = {(found.location.path, found.skill) for found in broken if found.location and found.skill}
        self._places = {found.location.path for found in broken if found.location}

    def name(self, skill: Skill) -> bool:
        return _key(skill) in self._named

    def cover(self, skill: Skill) -> bool:
        place = _place(skill)
        while place:
            if place in self._places:
                return True
            place = place.rpartition("/")[0]
        return False


def _in_old_places(before: Sequence[Skill], now: Sequence[Skill], kept: set[int]) -> tuple[Skill, ...]:
    following: dict[tuple[str, str] | None, list[Skill]] = {}
    anchor: tuple[str, str] | None = None
    present = {_key(skill) for skill in now}
    for skill in before:
        if id(skill) in kept:
            following.setdefault(anchor, []).append(skill)
        elif _key(skill) in present:
            anchor = _key(skill)
    order = list(following.get(None, ()))
    for skill in now:
        order.append(skill)
        order.extend(following.pop(_key(skill), ()))
    return tuple(order)


def _key(skill: Skill) -> tuple[str, str]:
    return _place(skill), skill.id


def _place(skill: Skill) -> str:
    return skill.origin.location if skill.origin else ""


def _finding(skill: Skill) -> Diagnostic:
    return Diagnostic(
        "kept-last-good",
        Severity.WARNING,
        f"skill {skill.id!r} can no longer be read; its last good version stays in use",
        "mend the error reported for it, or delete it",
        skill.id,
        Location(_place(skill)),
    )
