"""From the skills in force in a conversation to its tool policy (spec 4.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from skillweave.compose.composition import Mode, ToolSet, merge_rules
from skillweave.compose.entries import inside, meet, without
from skillweave.compose.policy import ToolPolicy
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.skill import Skill, ToolRules

DELIBERATE = frozenset({"explicit", "host", "mention", "task", "graph"})
"""What engages a skill by somebody's decision; a mere trigger word or ranking does not."""

_NOTHING: Mapping[str, str] = EMPTY


class Enforce(StrEnum):
    """Whose `allowed` restricts the agent: that of skills engaged deliberately, or of all."""

    EXPLICIT = "explicit"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class InForce:
    """A skill that is engaged and was really given; `engaged_by` is the matcher that engaged it, or `host`."""

    skill: Skill
    engaged_by: str


def policy_of(
    in_force: Sequence[InForce],
    *,
    grant: Sequence[str] | None = None,
    enforce: Enforce = Enforce.EXPLICIT,
    mode: Mode = Mode.UNION,
    consented: frozenset[str] = frozenset(),
    let_through: frozenset[tuple[str, str, str]] = frozenset(),
    shown: Mapping[str, str] = _NOTHING,
    kept_out: Sequence[Skill] = (),
    rejected: Mapping[str, str] = _NOTHING,
    argument_names: Mapping[str, str] = _NOTHING,
) -> ToolPolicy:
    """The policy that all skills in force give together, never wider than the host's `grant` (None: not stated).

    A forbidden tool is forbidden however its skill was engaged; where no skill has rules, the grant stays as it is. An
    `allowed` that does not restrict adds nothing to others' either: the user's words widen no restriction. `consented`
    are the digests of the skills whose preapproved tools a person agreed to; `let_through` the checkpoints that need
    not ask again, by skill id, name and digest of the text that a person saw; `shown` are, by skill id, the digests of
    texts that differ from their skill's by the arguments in them.

    A person's no never widens anything: what a skill in `kept_out` forbids stays forbidden, its checkpoints still ask,
    and the tool entries in `rejected`, each with the reason in words, are denied.
    """
    rules = [_rules(member, Enforce(enforce)) for member in in_force]
    tools = merge_rules([*rules, *map(_restraints, kept_out), ToolRules(forbidden=tuple(rejected))], mode)
    allowed = _within_grant(tools, grant)
    preapproved = tools.preapproved if allowed is None else inside(tools.preapproved, allowed)
    agreed = {
        entry
        for member in in_force
        if member.skill.digest and member.skill.digest in consented and member.skill.tools is not None
        for entry in member.skill.tools.preapproved
    }
    return ToolPolicy(
        allowed_tools=allowed,
        forbidden_tools=tools.forbidden,
        preapproved_tools=preapproved,
        consented_tools=tuple(entry for entry in preapproved if entry in agreed),
        grant=None if grant is None else tuple(grant),
        asks=_asks([*(member.skill for member in in_force), *kept_out], let_through, shown),
        rejected=rejected,
        argument_names=argument_names,
    )


def _rules(member: InForce, enforce: Enforce) -> ToolRules:
    rules = member.skill.tools or ToolRules()
    if enforce is Enforce.ALWAYS or member.engaged_by in DELIBERATE:
        return rules
    return replace(rules, allowed=None)


def _restraints(skill: Skill) -> ToolRules:
    # Its allowed list goes with the skill: it would lock the agent into what it must not do.
    return ToolRules(forbidden=skill.tools.forbidden) if skill.tools else ToolRules()


def _within_grant(tools: ToolSet, grant: Sequence[str] | None) -> tuple[str, ...] | None:
    if grant is None:
        return tools.allowed
    granted = without(grant, tools.forbidden)
    return granted if tools.allowed is None else meet(tools.allowed, granted)


def _asks(
    skills: Iterable[Skill], let_through: frozenset[tuple[str, str, str]], shown: Mapping[str, str]
) -> Mapping[str, tuple[str, ...]]:
    asks: dict[str, dict[str, None]] = {}
    for skill in skills:
        for checkpoint in skill.checkpoints:
            passed = (skill.id, checkpoint.name, shown.get(skill.id, skill.digest)) in let_through
            if checkpoint.before is not None and checkpoint.blocking and not passed:
                asks.setdefault(checkpoint.before, {})[checkpoint.name] = None
    return FrozenDict({tool: tuple(names) for tool, names in asks.items()})
