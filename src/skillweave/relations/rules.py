"""What the rules of a skill say: whom it requires and excludes, which tools it names, in words for people (seed 002).

Text for people is one line, whatever the skills contain. A tool is spelt `Tool`, `Tool(prefix:*)`, `Tool(folder/*)`,
`Tool(exact)` or `mcp__server__*`; `Tool(path=docs/*)` names the parameter that it is about (spec 4.3).
"""

import re
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.registry import Snapshot
from skillweave.skill import Relation, RelationKind, Skill, Status, why_held_back

MOST_COMPANIONS = 100
"""So many other skills at most go with one, its companions' companions too; one that needs more is never given."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule of kind `requires` and the skill that declares it."""

    owner: str
    rule: Relation


def requirements(skill: Skill) -> Sequence[Relation]:
    """The rules that name a companion, the first rule of each; a skill that requires itself requires nothing."""
    return _first_each(skill, [rule for rule in skill.relations if rule.kind is RelationKind.REQUIRES])


def exclusions(skill: Skill) -> Sequence[Relation]:
    """The rules that exclude a skill, the first rule of each; a rule against the skill itself means nothing."""
    return _first_each(skill, [rule for rule in skill.relations if rule.kind is not RelationKind.REQUIRES])


def all_requirements(names: Iterable[str], snapshot: Snapshot, *, most: int | None = None) -> Sequence[Requirement]:
    """All companions of the skills, and theirs, nearest first, each once, known or not; at most `most`."""
    waiting = deque(names)
    seen = set(waiting)
    found: list[Requirement] = []
    while waiting:
        skill = snapshot.skills.get(waiting.popleft())
        if skill is None or not skill.relations:
            continue
        for rule in requirements(skill):
            if rule.skill not in seen:
                seen.add(rule.skill)
                waiting.append(rule.skill)
                found.append(Requirement(skill.id, rule))
                if len(found) == most:
                    return found
    return found


def check_companions(snapshot: Snapshot) -> tuple[Diagnostic, ...]:
    """An error for each active skill that needs more others than go together."""
    related = (skill for skill in snapshot.active() if skill.relations)
    return tuple(
        Diagnostic(
            code="too-many-companions",
            severity=Severity.ERROR,
            skill=skill.id,
            location=Location(skill.origin.location) if skill.origin else None,
            message=f"skill {skill.id!r} requires more than {MOST_COMPANIONS} other skills, theirs included",
            fix="require those that it cannot do without; until then it is never given",
        )
        for skill in related
        if len(all_requirements([skill.id], snapshot, most=MOST_COMPANIONS + 1)) > MOST_COMPANIONS
    )


def needs_any(skill_id: str, others: Collection[str], snapshot: Snapshot) -> bool:
    """Whether the skill requires one of the others, itself or through its companions."""
    return any(needed.rule.skill in others for needed in all_requirements([skill_id], snapshot))


def _first_each(skill: Skill, rules: Sequence[Relation]) -> Sequence[Relation]:
    first: dict[str, Relation] = {}
    for rule in rules:
        first.setdefault(rule.skill, rule)
    first.pop(skill.id, None)
    return tuple(first.values())


_LONGEST_NAME = 100
_LONGEST_REASON = 200
_VERBS = {
    RelationKind.REQUIRES: "requires",
    RelationKind.INCOMPATIBLE: "is incompatible with",
    RelationKind.FORBIDS: "forbids",
}


def name_shown(name: str) -> str:
    """The name between backticks, made printable and at most 100 characters long."""
    shown = name[:_LONGEST_NAME]
    if not shown.isprintable():
        shown = "".join(letter if letter.isprintable() else "�" for letter in shown)
    return f"`{shown}…`" if len(name) > _LONGEST_NAME else f"`{shown}`"


def rule_shown(owner: str, rule: Relation) -> str:
    """The rule as a sentence: "`a` requires `b`: reason", without the reason where none was given."""
    sentence = f"{name_shown(owner)} {_VERBS[rule.kind]} {name_shown(rule.skill)}"
    if not rule.reason:
        return sentence
    reason = " ".join(rule.reason.split()).removesuffix(".")
    if len(reason) > _LONGEST_REASON:
        reason = reason[:_LONGEST_REASON] + "…"
    return f"{sentence}: {reason}" if reason else sentence


def standing_shown(skill: Skill | None) -> str:
    """Why a skill cannot take part, to follow "which is": not in the registry, a draft, disabled, deprecated."""
    if skill is None:
        return "not in the registry"
    if skill.status is Status.QUARANTINED:
        return why_held_back(skill)
    return "a draft" if skill.status is Status.DRAFT else skill.status.value


class Form(StrEnum):
    """What an entry covers: the whole tool, calls whose text begins so or is so; `broken` cannot be read."""

    TOOL = "tool"
    PREFIX = "prefix"
    EXACT = "exact"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One entry of a tool list, about `tool` (`x*`: all that begin so) and `argument` of `parameter`, if named."""

    tool: str
    form: Form = Form.TOOL
    argument: str = ""
    parameter: str = ""

    def names(self, tool: str) -> bool:
        """Whether the entry is about that tool."""
        return tool.startswith(self.tool[:-1]) if self.tool.endswith("*") else tool == self.tool


_PARAMETER = re.compile(r"([a-z_][A-Za-z0-9_-]*)=(.*)")
"""A parameter begins with a small letter, so that `Bash(CI=1 make)` is about a command with a variable before it."""
_FOLDER = re.compile(r"(.*[^*])?/\*{1,2}")


@lru_cache(maxsize=4096)
def read_entry(text: str) -> ToolEntry:
    """The entry that the text spells; what cannot be read is `broken`, allows nothing and forbids its tool.

    `Tool(prefix *)`, `Tool(*)` and `Tool(folder/**)` are read as `Tool(prefix:*)`, `Tool(:*)`, `Tool(folder/:*)`.
    """
    name, parenthesis, rest = text.strip().partition("(")
    name = name.rstrip()
    stem, star, tail = name.partition("*")
    argument = rest[:-1].strip() if rest.endswith(")") else ""
    if not name or tail or (parenthesis and (star or not argument)):
        return ToolEntry(stem + star, Form.BROKEN)
    if not parenthesis:
        return ToolEntry(name)
    named = _PARAMETER.fullmatch(argument)
    parameter, argument = (named[1], named[2].strip()) if named else ("", argument)
    if not argument:
        return ToolEntry(name, Form.BROKEN)
    if argument == "*" or argument.endswith((":*", " *")):
        return ToolEntry(name, Form.PREFIX, argument[:-2].rstrip(), parameter)
    if _FOLDER.fullmatch(argument):
        return ToolEntry(name, Form.PREFIX, argument.rstrip("*"), parameter)
    return ToolEntry(name, Form.EXACT, argument, parameter)
