"""How relations are told to people: one line, whatever the texts of the skills contain."""

from skillweave.skill import Relation, RelationKind, Skill, Status

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
    return "a draft" if skill.status is Status.DRAFT else skill.status.value
