"""What was put in the place of skills on purpose, whole definitions and versions alone (spec 1.3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeVar

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import InvalidSkill
from skillweave.formats.identity import Order, compare_versions, digest_of_bytes
from skillweave.registry.precedence import Merged, Offer, place_of
from skillweave.registry.shelf import Defined
from skillweave.skill import Skill

T = TypeVar("T")
_LONGEST_VERSION = 100


@dataclass(frozen=True, slots=True)
class Overrides:
    """Definitions and versions by the id of the skill that they replace or change."""

    definitions: Mapping[str, Defined] = field(default_factory=lambda: MappingProxyType({}))
    versions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def with_definition(self, skill_id: str, defined: Defined) -> "Overrides":
        """The same with that definition; a version that was set for an earlier one goes."""
        rest = self.without(skill_id)
        return Overrides({**rest.definitions, skill_id: defined}, rest.versions)

    def with_version(self, skill_id: str, version: str) -> "Overrides":
        """The same with that version."""
        return Overrides(self.definitions, {**self.versions, skill_id: version})

    def without(self, skill_id: str) -> "Overrides":
        """The same with nothing for that skill."""
        return Overrides(_without(self.definitions, skill_id), _without(self.versions, skill_id))


def lay_over(merged: Merged, overrides: Overrides) -> Merged:
    """The skills with the overrides in place; what each replaced is shadowed, and a finding says which versions."""
    winners = dict(merged.winners)
    losers: list[Skill] = []
    findings: list[Diagnostic] = []
    for skill_id, defined in overrides.definitions.items():
        held = winners.get(skill_id)
        winners[skill_id] = Offer(defined.skill, defined, defined.skill)
        if held is not None:
            losers.append(held.skill)
            findings.append(
                _finding(held.skill, defined.skill, f"is overridden by the one of {place_of(defined.skill)}")
            )
    relabelled = _changed_versions(winners, overrides)
    for skill_id in relabelled:
        held = winners[skill_id]
        skill = _with_version(held.skill, overrides.versions[skill_id])
        winners[skill_id] = Offer(skill, held.reader, held.given)
        losers.append(held.skill)
        findings.append(_finding(held.skill, skill, "has its version overridden"))
    return Merged(winners, (*merged.shadowed, *losers), (*merged.diagnostics, *findings), relabelled)


def require_version(skill_id: str, version: str) -> str:
    """The version as it was given; raises InvalidSkill for one that is empty, too long or no single line of text."""
    if version.strip() and version.isprintable() and len(version) <= _LONGEST_VERSION:
        return version
    shown = version if len(version) <= _LONGEST_VERSION else f"{version[:_LONGEST_VERSION]}…"
    raise InvalidSkill(
        f"{shown!r} is no version for skill {skill_id!r}: give 1 to {_LONGEST_VERSION} printable characters, as '1.2.0'"
    )


def require_same_id(skill_id: str, defined: Defined) -> Defined:
    """The definition; raises InvalidSkill when it is of another skill."""
    other = defined.skill.id
    if other == skill_id:
        return defined
    raise InvalidSkill(
        f"the definition that is to override {skill_id!r} is of skill {other!r}; "
        f"give it the id {skill_id!r}, or override {other!r}"
    )


def _changed_versions(winners: Mapping[str, Offer], overrides: Overrides) -> tuple[str, ...]:
    """The ids of skills that are there and have another version than the one set for them."""
    return tuple(
        skill_id
        for skill_id, version in overrides.versions.items()
        if skill_id in winners and winners[skill_id].skill.version != version
    )


def _with_version(skill: Skill, version: str) -> Skill:
    return replace(skill, version=version, digest=digest_of_bytes(f"{skill.digest}\n{version}".encode()))


def _finding(before: Skill, now: Skill, what: str) -> Diagnostic:
    versions, severity = _comparison(before.version, now.version)
    message = f"skill {before.id!r} of {place_of(before)} {what}; {versions}"
    fix = "nothing, if it is meant; else register the definition that is to be used"
    return Diagnostic("overridden", severity, message, fix, before.id, Location(place_of(before)))


def _comparison(before: str | None, now: str | None) -> tuple[str, Severity]:
    if before is None or now is None:
        used = "the one in use has no version" if now is None else f"version {now!r} is in use"
        return used if before is None else f"{used}, before it was {before!r}", Severity.INFO
    match compare_versions(now, before):
        case Order.NEWER:
            return f"version {now!r} is in use, newer than {before!r}", Severity.INFO
        case Order.SAME:
            return f"version {now!r} is in use, the same as {before!r}", Severity.INFO
        case Order.OLDER:
            return f"version {now!r} is in use, although {before!r} is newer", Severity.WARNING
        case Order.UNORDERED:
            return f"version {now!r} is in use for {before!r}; no rule orders the two", Severity.WARNING


def _without(mapping: Mapping[str, T], skill_id: str) -> Mapping[str, T]:
    return {known: value for known, value in mapping.items() if known != skill_id}
