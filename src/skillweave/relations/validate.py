"""Checking and completing a set of skills that somebody asks for, before anything starts (spec 4.1; seed 002)."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillweave.codec import Portable
from skillweave.errors import InvalidSkill, nearest_names
from skillweave.graph.cycles import Links, strong_components
from skillweave.registry import Snapshot
from skillweave.relations.rules import (
    all_requirements,
    exclusions,
    name_shown,
    read_entry,
    requirements,
    rule_shown,
    standing_shown,
)
from skillweave.skill import RelationKind, Skill, Status

_SUGGESTED = 5
"""For so many unknown names of one request the nearest known ones are looked up, which is slow for long names."""
_COMPARED_NAMES = 10_000
"""How many known names may be compared for that in one validation: about 10 ms."""


_NAMED = re.compile(r"`([^`]+)`|^([\w.:-]+)$|\b(\w*(?:[a-z][A-Z_]|_|\w-)[\w-]*\w)\b")
"""What a step names as a tool: in backticks, by itself, or as people do not write words: `read_file`, `specKit`."""


@dataclass(frozen=True, slots=True)
class ValidationError(Portable):
    """One violated rule; `skill` is the one that owns it (for V001, the unknown name itself)."""

    code: str
    message: str
    skill: str
    rule: str


@dataclass(frozen=True, slots=True)
class ValidationResult(Portable):
    """All errors, in the order of the names and then of the rules, and warnings, which block nothing."""

    valid: bool
    errors: tuple[ValidationError, ...] = ()
    warnings: tuple[str, ...] = ()


def validate_skills(
    names: Iterable[str], snapshot: Snapshot, *, host_tools: Iterable[str] | None = None
) -> ValidationResult:
    """Whether these skills may be used together: every error, in linear time. Raises InvalidSkill for other names."""
    given = require_names(names)
    members = [skill for name in given if (skill := snapshot.skills.get(name)) is not None]
    present = {skill.id for skill in members}
    errors = tuple(_errors(given, present, snapshot))
    tools = None if host_tools is None else frozenset(host_tools)
    warnings = [text for skill in members for text in _member_warnings(skill, tools)]
    warnings += _forbidden_steps(members)
    links = {skill.id: [rule.skill for rule in requirements(skill) if rule.skill in present] for skill in members}
    for circle in circles(links):
        shown = ", ".join(map(name_shown, circle))
        warnings.append(f"{shown} require each other in a circle; check that all of it is meant")
    return ValidationResult(not errors, errors, tuple(warnings))


def _errors(given: Sequence[str], present: set[str], snapshot: Snapshot) -> Iterator[ValidationError]:
    suggestions = min(_SUGGESTED, max(1, _COMPARED_NAMES // max(1, len(snapshot))))
    for name in given:
        skill = snapshot.skills.get(name)
        if skill is None:
            yield _unknown(name, snapshot if suggestions > 0 else None)
            suggestions -= 1
        else:
            yield from _missing(skill, present, snapshot)
            for rule in exclusions(skill):
                if rule.skill in present:
                    message = f"{rule_shown(name, rule)}; remove one of the two"
                    yield ValidationError("INCOMPATIBLE_SKILLS", message, name, "V003")


def _unknown(name: str, searched: Snapshot | None) -> ValidationError:
    nearest = nearest_names(name, searched) if searched is not None else ()
    if nearest:
        remedy = f"did you mean {' or '.join(map(name_shown, nearest))}?"
    else:
        remedy = "list the known ones with `skillweave show`"
    return ValidationError("UNKNOWN_SKILL", f"{name_shown(name)} is not in the registry; {remedy}", name, "V001")


def _missing(skill: Skill, present: set[str], snapshot: Snapshot) -> Iterator[ValidationError]:
    for rule in requirements(skill):
        if rule.skill not in present:
            owner, companion = name_shown(skill.id), name_shown(rule.skill)
            if rule.skill in snapshot.skills:
                remedy = f"add {companion} or remove {owner}"
            else:
                remedy = f"{companion} is not in the registry, so load it or remove {owner}"
            yield ValidationError("MISSING_REQUIRED", f"{rule_shown(skill.id, rule)}; {remedy}", skill.id, "V002")


def _member_warnings(skill: Skill, host_tools: Collection[str] | None) -> Iterator[str]:
    if skill.status is Status.DEPRECATED:
        yield f"{name_shown(skill.id)} is deprecated; look for the skill that replaces it"
    elif skill.status is not Status.ACTIVE:
        yield f"{name_shown(skill.id)} is {standing_shown(skill)}; set its status to active before relying on it"
    if any(rule.skill == skill.id and rule.kind is not RelationKind.REQUIRES for rule in skill.relations):
        yield f"{name_shown(skill.id)} excludes itself, which is ignored; remove that rule"
    if host_tools is not None and skill.tools is not None:
        for entry in dict.fromkeys((*(skill.tools.allowed or ()), *skill.tools.preapproved)):
            tool = read_entry(entry)
            if tool.tool not in host_tools and not any(map(tool.names, host_tools)):
                yield f"{name_shown(skill.id)} uses the tool {name_shown(entry)}, which the host does not have"


def _forbidden_steps(members: Sequence[Skill]) -> Iterator[str]:
    """Steps that name a tool which a member forbids: together the members cannot do what one of them says."""
    forbidden = {entry: one.id for one in members if one.tools for entry in one.tools.forbidden}
    if not forbidden:
        return
    for skill in members:
        for step in skill.text.steps:
            for word in dict.fromkeys("".join(found) for found in _NAMED.findall(step)):
                if (owner := forbidden.get(word)) is not None:
                    uses = f"a step of {name_shown(skill.id)} names the tool {name_shown(word)}"
                    yield f"{uses}, which {name_shown(owner)} forbids; leave one of the two out, or the rule"


class Because(NamedTuple):
    """A skill that was selected for a task, and why."""

    skill: str
    because: str


@dataclass(frozen=True, slots=True)
class Completion(Portable):
    """The given skills, then the `added` companions; `missing` ones are not in the registry. Each has a reason."""

    skills: tuple[str, ...]
    added: tuple[Because, ...] = ()
    missing: tuple[Because, ...] = ()


def complete_skills(names: Iterable[str], snapshot: Snapshot) -> Completion:
    """The names, as given, with all companions, nearest first, each with its rule. Raises InvalidSkill."""
    given = require_names(names)
    added: list[Because] = []
    missing: list[Because] = []
    for requirement in all_requirements(given, snapshot):
        companion = requirement.rule.skill
        reasons = added if companion in snapshot.skills else missing
        reasons.append(Because(companion, rule_shown(requirement.owner, requirement.rule)))
    return Completion((*given, *(skill for skill, _ in added)), tuple(added), tuple(missing))


def require_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names in order, repeats dropped silently (V006); `InvalidSkill` for anything that is not a list of texts."""
    if isinstance(names, str | bytes):
        raise InvalidSkill(
            f"skill names are a list of texts, not the one text {_shown(names)}; write [{_shown(names)}]"
        )
    given = list(names)
    for position, name in enumerate(given):
        if not isinstance(name, str):
            raise InvalidSkill(
                f"skill name {position + 1} of {len(given)} is {_shown(name)}, of type {type(name).__name__}; "
                "names are texts"
            )
    return tuple(dict.fromkeys(given))


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:100] + "…"


_SMALLEST = 3


def circles(links: Links) -> tuple[tuple[str, ...], ...]:
    """The sets of three or more names on circles, which are usually slips; linear in names and links."""
    knots = strong_components(links)
    return tuple(tuple(knot) for knot in knots if len(knot) >= _SMALLEST and not _only_pairs(knot, links))


def _only_pairs(knot: Sequence[str], links: Links) -> bool:
    # Names that hang together by mutual pairs alone have no longer circle only when those pairs form a tree.
    members = set(knot)
    inner = {(name, other) for name in knot for other in links[name] if other in members and other != name}
    return len(inner) == 2 * (len(members) - 1) and all((other, name) in inner for name, other in inner)
