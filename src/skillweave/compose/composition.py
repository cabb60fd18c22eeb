"""Seed 002's composed skill: what several skills together allow, forbid and prescribe (spec 4.2)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.compose.entries import inside, intersection, union, without
from skillweave.registry import Snapshot
from skillweave.relations.names import require_names
from skillweave.skill import Skill, ToolRules

_NO_RULES = ToolRules()


class Mode(StrEnum):
    """Which tools several skills leave: those that any member allows, or those that all members with rules allow."""

    UNION = "union"
    INTERSECTION = "intersection"


@dataclass(frozen=True, slots=True)
class ToolSet(Portable):
    """Merged tool rules; `allowed` None is unrestricted, `()` is no tool at all; allowed and forbidden are disjoint."""

    allowed: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    preapproved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Composition(Portable):
    """The effective capabilities of several skills; equal as sets for every order of them.

    `allowed_tools` None means that no member has rules: unrestricted. `()` means no tool at all.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "preapproved_tools?")

    skills: tuple[str, ...] = ()
    allowed_tools: tuple[str, ...] | None = ()
    forbidden_tools: tuple[str, ...] = ()
    execution_protocol: tuple[str, ...] = ()
    preapproved_tools: tuple[str, ...] = ()


def compose_skills(skills: Sequence[Skill], mode: Mode = Mode.UNION) -> Composition:
    """What the skills together allow, less everything that any of them forbids; input order, first position wins.

    No skills give the composition without any capability. Nothing is validated: `validate_skills` does that.
    """
    by_id: dict[str, Skill] = {}
    for skill in skills:
        by_id.setdefault(skill.id, skill)
    members = by_id.values()
    if not members:
        return Composition()
    tools = merge_rules([skill.tools or _NO_RULES for skill in members], mode)
    return Composition(
        skills=tuple(by_id),
        allowed_tools=tools.allowed,
        forbidden_tools=tools.forbidden,
        execution_protocol=union(skill.text.steps for skill in members),
        preapproved_tools=tools.preapproved,
    )


def compose_ids(names: Iterable[str], snapshot: Snapshot, mode: Mode = Mode.UNION) -> Composition:
    """The same by ids; raises `SkillNotFound` for an unknown one and `InvalidSkill` for one that is not a text."""
    return compose_skills([snapshot[name] for name in require_names(names)], mode)


def merge_rules(rules: Sequence[ToolRules], mode: Mode = Mode.UNION) -> ToolSet:
    """The tool rules of several skills as one; all forbidden tools are known before anything is allowed."""
    forbidden = union(rule.forbidden for rule in rules)
    allowing = [rule.allowed for rule in rules if rule.allowed is not None]
    preapproved = without(union(rule.preapproved for rule in rules), forbidden)
    if not allowing:
        return ToolSet(None, forbidden, preapproved)
    merged = union(allowing) if Mode(mode) is Mode.UNION else intersection(allowing)
    allowed = without(merged, forbidden)
    return ToolSet(allowed, forbidden, inside(preapproved, allowed))
