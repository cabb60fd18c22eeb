"""What several skills together let an agent do: seed 002's composed skill, and a turn's policy (spec 4.2 to 4.4)."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, TypeAlias

from skillweave.codec import Portable
from skillweave.compose.entries import inside, intersection, meet, narrow, union, without
from skillweave.compose.policy import OWN_TOOLS, ToolPolicy
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.limits import ToolLimits
from skillweave.registry import Snapshot
from skillweave.relations.rules import read_entry
from skillweave.relations.validate import require_names
from skillweave.skill import Skill, ToolRules


class Mode(StrEnum):
    """How the tools of several skills are combined: all that any of them allows, or only what all with rules allow."""

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
    tools = merge_rules([skill.tools for skill in members if skill.tools is not None], mode)
    return Composition(
        skills=tuple(by_id),
        allowed_tools=tools.allowed,
        forbidden_tools=tools.forbidden,
        execution_protocol=union(skill.text.steps for skill in members),
        preapproved_tools=tools.preapproved,
    )


def compose_ids(names: Iterable[str], snapshot: Snapshot, mode: Mode = Mode.UNION) -> Composition:
    """What `compose_skills` answers for these ids. Raises SkillNotFound; InvalidSkill for an id that is not text."""
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


Asks: TypeAlias = Mapping[str, tuple[str, ...]]
"""Tool entries with the names of the checkpoints before them."""


class OnlySkillTools(StrEnum):
    """When the agent has only the tools that the skills in force allow.

    `when_chosen`: while one of them is in force because somebody chose it, which the words of a message do not.
    `always`: while any skill with such a list is in force. What a skill forbids holds in both.
    """

    WHEN_CHOSEN = "when_chosen"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ActiveSkill:
    """A skill whose text the model really has; `deliberate` says that somebody's decision engaged it.

    A mere trigger word or ranking is nobody's decision.
    """

    skill: Skill
    deliberate: bool


@dataclass(frozen=True, slots=True)
class HumanVerdicts:
    """What persons said about the skills' tools and checkpoints.

    `consented` are the digests of the skills whose preapproved tools a person agreed to; `let_through` the checkpoints
    that need not ask again, by skill id, name and digest of the text that a person saw; `shown` are, by skill id, the
    digests of texts that differ from their skill's by the arguments in them. `rejected` are the tool entries that a
    person refused, each with the reason in words; `cleared` and `rejected_calls` are what persons said about single
    calls, as in the policy.
    """

    consented: frozenset[str] = frozenset()
    let_through: frozenset[tuple[str, str, str]] = frozenset()
    shown: Mapping[str, str] = EMPTY
    rejected: Mapping[str, str] = EMPTY
    cleared: Mapping[str, Asks] = EMPTY
    rejected_calls: Mapping[str, str] = EMPTY


def policy_of(
    active: Sequence[ActiveSkill],
    verdicts: HumanVerdicts = HumanVerdicts(),
    *,
    grant: Sequence[str] | None = None,
    only_skill_tools: OnlySkillTools = OnlySkillTools.WHEN_CHOSEN,
    mode: Mode = Mode.UNION,
    kept_out: Sequence[Skill] = (),
    argument_names: Mapping[str, str] = EMPTY,
    own_tools: tuple[str, ...] = OWN_TOOLS,
) -> ToolPolicy:
    """The policy that the active skills give together, never wider than the host's `grant` (None: not stated).

    A forbidden tool is forbidden however its skill was engaged; where no skill has rules, the grant stays as it is. An
    `allowed` that does not restrict adds nothing to others' either: the user's words widen no restriction. `own_tools`
    are those of skillweave's tools that the model has.

    A person's no never widens anything: what a skill in `kept_out` forbids stays forbidden, its checkpoints still ask,
    and the tool entries that a person rejected are denied.
    """
    rejected = verdicts.rejected
    always = OnlySkillTools(only_skill_tools) is OnlySkillTools.ALWAYS
    rules = [
        one.skill.tools if always or one.deliberate else replace(one.skill.tools, allowed=None)
        for one in active
        if one.skill.tools is not None
    ]
    # Not their allowed lists: those would lock the agent into what it must not do.
    rules += [ToolRules(forbidden=skill.tools.forbidden) for skill in kept_out if skill.tools is not None]
    if rejected:
        rules.append(ToolRules(forbidden=tuple(rejected)))
    tools = merge_rules(rules, mode) if rules else ToolSet()
    allowed = tools.allowed
    if grant is not None:
        granted = without(grant, tools.forbidden)
        allowed = granted if allowed is None else meet(allowed, granted)
    preapproved = tools.preapproved if allowed is None else inside(tools.preapproved, allowed)
    # A skill without a digest cannot be told from its other versions, so that no consent is known to be about it.
    agreeing = [one.skill.tools for one in active if one.skill.digest and one.skill.digest in verdicts.consented]
    agreed = {entry for tools_of_one in agreeing if tools_of_one is not None for entry in tools_of_one.preapproved}
    asking = [skill for skill in (*(one.skill for one in active), *kept_out) if skill.checkpoints]
    return ToolPolicy(
        allowed_tools=allowed,
        forbidden_tools=tools.forbidden,
        preapproved_tools=preapproved,
        consented_tools=tuple(entry for entry in preapproved if entry in agreed),
        grant=None if grant is None else tuple(grant),
        asks=_asks(asking, verdicts) if asking else EMPTY,
        argument_names=FrozenDict(argument_names) if argument_names else EMPTY,
        rejected=FrozenDict(rejected) if rejected else EMPTY,
        own_tools=own_tools,
        cleared=FrozenDict(verdicts.cleared) if verdicts.cleared else EMPTY,
        rejected_calls=FrozenDict(verdicts.rejected_calls) if verdicts.rejected_calls else EMPTY,
    )


def _asks(skills: Iterable[Skill], verdicts: HumanVerdicts) -> Asks:
    asks: dict[str, dict[str, None]] = {}
    for skill in skills:
        for checkpoint in skill.checkpoints:
            passed = (skill.id, checkpoint.name, verdicts.shown.get(skill.id, skill.digest)) in verdicts.let_through
            waits = checkpoint.blocking and (not passed or checkpoint.per_call)
            if checkpoint.before is not None and waits:
                asks.setdefault(checkpoint.before, {})[checkpoint.name] = None
    return FrozenDict({tool: tuple(names) for tool, names in asks.items()}) if asks else EMPTY


def limits_of(policy: ToolPolicy) -> ToolLimits:
    """Everything that the policy bounds, as one value for agents that must not get more."""
    forbidden = policy.denied_tools
    allowed = () if policy.closed else _within_both(policy.allowed_tools, policy.grant, forbidden)
    return ToolLimits(
        allowed,
        forbidden,
        policy.asks,
        policy.argument_names,
        rejected_calls=policy.rejected_calls,
        closed_skills=tuple(sorted(policy.elsewhere.closed_skills)),
    )


def closed(policy: ToolPolicy, why: str) -> ToolPolicy:
    """The policy that denies every call but those of skillweave's own tools; `why` is told to whoever calls one."""
    return replace(policy, closed=why)


def limited(policy: ToolPolicy, limits: ToolLimits | None) -> ToolPolicy:
    """The policy within the limits: what they deny is denied, what they ask about is asked about.

    Where the two name different arguments for one tool, the limits' name counts for the patterns of both. A person who
    lets a call of this agent through does so at its own checkpoints, never at those of whoever spawned it.
    """
    if limits is None:
        return policy
    forbidden = union((policy.forbidden_tools, limits.forbidden))
    allowed = _within_both(policy.allowed_tools, limits.allowed, forbidden)
    preapproved = without(policy.preapproved_tools, forbidden)
    consented = without(policy.consented_tools, forbidden)
    closed_skills = policy.elsewhere.closed_skills.union(limits.closed_skills)
    theirs = {(tool, name) for tool, names in limits.asks.items() for name in names}
    return replace(
        policy,
        elsewhere=replace(policy.elsewhere, closed_skills=closed_skills) if closed_skills else policy.elsewhere,
        allowed_tools=allowed,
        forbidden_tools=forbidden,
        preapproved_tools=preapproved if allowed is None else inside(preapproved, allowed),
        consented_tools=consented if allowed is None else inside(consented, allowed),
        asks=_all_asks(policy.asks, limits.asks, limits.own_asks),
        argument_names=FrozenDict({**policy.argument_names, **limits.argument_names}),
        cleared=FrozenDict({call: without_asks(passed, theirs) for call, passed in policy.cleared.items()}),
        rejected_calls=FrozenDict({**policy.rejected_calls, **limits.rejected_calls}),
    )


def narrower(kept: ToolLimits | None, sent: ToolLimits | None) -> ToolLimits | None:
    """What both limits permit, None where there are none; `sent` never says which argument a kept entry is about."""
    if kept is None or sent is None or kept == sent:
        return sent if kept is None else kept
    forbidden = union((kept.forbidden, sent.forbidden))
    ruled = [read_entry(one) for one in (*(kept.allowed or ()), *kept.forbidden, *kept.asks, *kept.own_asks)]
    named = {tool: name for tool, name in sent.argument_names.items() if not any(one.names(tool) for one in ruled)}
    return ToolLimits(
        _within_both(kept.allowed, sent.allowed, forbidden),
        forbidden,
        _all_asks(kept.asks, sent.asks),
        FrozenDict({**named, **kept.argument_names}),
        _all_asks(kept.own_asks, sent.own_asks),
        FrozenDict({**sent.rejected_calls, **kept.rejected_calls}),
        union((kept.closed_skills, sent.closed_skills)),
    )


def _all_asks(*given: Asks) -> Asks:
    asks: dict[str, tuple[str, ...]] = {}
    for asked in given:
        for entry, names in asked.items():
            asks[entry] = union((asks.get(entry, ()), names))
    return FrozenDict(asks)


def without_asks(asks: Asks, gone: Container[tuple[str, str]]) -> Asks:
    """The tool entries and checkpoints that are left when those in `gone`, as entry and name, ask no more."""
    left = {tool: tuple(name for name in names if (tool, name) not in gone) for tool, names in asks.items()}
    return FrozenDict({tool: names for tool, names in left.items() if names})


def _within_both(
    entries: Sequence[str] | None, limit: Sequence[str] | None, forbidden: Sequence[str]
) -> tuple[str, ...] | None:
    if entries is None or limit is None:
        stated = limit if entries is None else entries
        return None if stated is None else without(stated, forbidden)
    return without(narrow(entries, limit), forbidden)
