"""What several skills together let an agent do: seed 002's composed skill, and a turn's policy (spec 4.2 to 4.4)."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.compose.entries import inside, intersection, meet, narrow, union, without
from skillweave.compose.policy import ToolPolicy
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.limits import ToolLimits
from skillweave.registry import Snapshot
from skillweave.relations.validate import require_names
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


_NOTHING: Mapping[str, str] = EMPTY


class Enforce(StrEnum):
    """Whose `allowed` restricts the agent: that of skills engaged deliberately, or of all."""

    EXPLICIT = "explicit"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ActiveSkill:
    """A skill whose text the model really has; `deliberate` says that somebody's decision engaged it.

    A mere trigger word or ranking is nobody's decision.
    """

    skill: Skill
    deliberate: bool


def policy_of(
    in_force: Sequence[ActiveSkill],
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


def _rules(member: ActiveSkill, enforce: Enforce) -> ToolRules:
    rules = member.skill.tools or ToolRules()
    if enforce is Enforce.ALWAYS or member.deliberate:
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


def limits_of(policy: ToolPolicy) -> ToolLimits:
    """Everything that the policy bounds, as one value for agents that must not get more."""
    forbidden = policy.denied_tools
    allowed = _within_all((policy.allowed_tools, policy.grant), forbidden)
    return ToolLimits(allowed, forbidden, policy.asks, policy.argument_names)


def closed(policy: ToolPolicy, why: str) -> ToolPolicy:
    """The policy with no tool left but skillweave's own; `why` is told to whoever calls one."""
    return replace(policy, allowed_tools=(), preapproved_tools=(), consented_tools=(), closed=why)


def limited(policy: ToolPolicy, limits: ToolLimits | None) -> ToolPolicy:
    """The policy within the limits: what they deny is denied, what they ask about is asked about.

    Where the two name different arguments for one tool, the limits' name counts for the patterns of both.
    """
    if limits is None:
        return policy
    forbidden = union((policy.forbidden_tools, limits.forbidden))
    allowed = _within_all((policy.allowed_tools, limits.allowed), forbidden)
    preapproved = without(policy.preapproved_tools, forbidden)
    consented = without(policy.consented_tools, forbidden)
    return replace(
        policy,
        allowed_tools=allowed,
        forbidden_tools=forbidden,
        preapproved_tools=preapproved if allowed is None else inside(preapproved, allowed),
        consented_tools=consented if allowed is None else inside(consented, allowed),
        asks=_all_asks(policy.asks, limits.asks, limits.own_asks),
        argument_names=FrozenDict({**policy.argument_names, **limits.argument_names}),
    )


def without_asks(
    asks: Mapping[str, tuple[str, ...]], gone: Container[tuple[str, str]]
) -> Mapping[str, tuple[str, ...]]:
    """The tool entries and checkpoints that are left when those in `gone`, as entry and name, ask no more."""
    left = {tool: tuple(name for name in names if (tool, name) not in gone) for tool, names in asks.items()}
    return FrozenDict({tool: names for tool, names in left.items() if names})


def _within_all(bounds: Iterable[Sequence[str] | None], forbidden: Sequence[str]) -> tuple[str, ...] | None:
    stated = [entries for entries in bounds if entries is not None]
    return without(reduce(narrow, stated), forbidden) if stated else None


def _all_asks(*asked: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    asks: dict[str, tuple[str, ...]] = {}
    for mapping in asked:
        for tool, names in mapping.items():
            asks[tool] = union((asks.get(tool, ()), names))
    return FrozenDict(asks)
