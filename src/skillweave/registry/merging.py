"""One answer from several sources and from code: whose skill, event type or version counts (spec 1.2 and 1.3)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import DuplicateSkill, InvalidSkill
from skillweave.events.event import EventType
from skillweave.formats.identity import MAX_ID, Order, compare_versions, digest_of_bytes, namespaced
from skillweave.registry.agents import Agent
from skillweave.registry.definitions import Defined
from skillweave.registry.snapshot import Offer
from skillweave.registry.source import Loaded
from skillweave.skill import Skill, is_skill_id
from skillweave.task import TaskRule

_LONGEST_VERSION = 100


class Precedence(StrEnum):
    """Who wins a clash of ids; `namespace` makes ids `source__id`. Code wins always, but under `error`."""

    FIRST = "first"
    LAST = "last"
    ERROR = "error"
    NAMESPACE = "namespace"


@dataclass(frozen=True, slots=True)
class Merged:
    """Who holds each id, in the order in which ids came up, and who lost; the `relabelled` lost their version only."""

    winners: Mapping[str, Offer] = field(default_factory=dict)
    shadowed: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    relabelled: tuple[str, ...] = ()


def merge(offers: Iterable[Offer], precedence: Precedence) -> Merged:
    """One winner per id; raises DuplicateSkill for the first clash where none is allowed."""
    winners: dict[str, Offer] = {}
    losers: list[Skill] = []
    for offer in offers:
        skill_id = offer.skill.id
        held = winners.get(skill_id)
        if held is None:
            winners[skill_id] = offer
        elif precedence is Precedence.ERROR:
            raise _duplicate(held.skill, offer.skill)
        elif precedence is Precedence.LAST:
            winners[skill_id] = offer
            losers.append(held.skill)
        else:
            losers.append(offer.skill)
    return Merged(winners, tuple(losers), _findings(winners, losers))


def add_registered(merged: Merged, offers: Iterable[Offer], hidden: frozenset[str], precedence: Precedence) -> Merged:
    """The sources' skills without the hidden ones, and what was registered in code on top of them."""
    winners = dict(merged.winners)
    for skill_id in hidden:
        winners.pop(skill_id, None)
    losers: list[Skill] = []
    for offer in offers:
        held = winners.get(offer.skill.id)
        if held is not None:
            if precedence is Precedence.ERROR:
                raise _duplicate(held.skill, offer.skill)
            losers.append(held.skill)
        winners[offer.skill.id] = offer
    return Merged(
        winners,
        (*(skill for skill in merged.shadowed if skill.id not in hidden), *losers),
        (*(found for found in merged.diagnostics if found.skill not in hidden), *_findings(winners, losers)),
    )


def in_namespace(offers: Iterable[Offer], namespace: str) -> tuple[list[Offer], list[Diagnostic]]:
    """A source's offers under ids of its namespace, relations too; ids that get too long are left out and reported."""
    given = list(offers)
    ids = {offer.skill.id: namespaced(namespace, offer.skill.id) for offer in given}
    fitting = [replace(offer, skill=_renamed(offer.skill, ids)) for offer in given if is_skill_id(ids[offer.skill.id])]
    return fitting, [
        _too_long("skill", offer.skill.id, place_of(offer.skill), offer.skill.id)
        for offer in given
        if not is_skill_id(ids[offer.skill.id])
    ]


def place_of(skill: Skill) -> str:
    """Where a skill came from, for people."""
    return skill.origin.location if skill.origin else "code"


def _renamed(skill: Skill, ids: Mapping[str, str]) -> Skill:
    return replace(
        skill,
        id=ids[skill.id],
        spelling=skill.spelling or skill.id,
        relations=tuple(replace(rule, skill=ids.get(rule.skill, rule.skill)) for rule in skill.relations),
    )


def _too_long(kind: str, name: str, place: str, skill_id: str | None = None) -> Diagnostic:
    message = f"{kind} {name!r} has more than {MAX_ID} characters with its source's name before it"
    fix = "shorten it, or give the source a shorter name"
    return Diagnostic("id-too-long", Severity.ERROR, message, fix, skill_id, Location(place))


def _duplicate(held: Skill, other: Skill) -> DuplicateSkill:
    return DuplicateSkill(
        f"skill {held.id!r} comes from {place_of(held)} and from {place_of(other)}; "
        "remove or rename one, or choose the precedence first, last or namespace"
    )


def _findings(winners: Mapping[str, Offer], losers: Iterable[Skill]) -> tuple[Diagnostic, ...]:
    return tuple(shadowed_by(loser, winners[loser.id].skill) for loser in losers)


def shadowed_by(loser: Skill, winner: Skill) -> Diagnostic:
    """The finding that a skill is not used because another one has its id and comes first."""
    message = f"skill {loser.id!r} of {place_of(loser)} is shadowed by the one of {place_of(winner)}"
    severity, fix = Severity.WARNING, "rename or remove one of the two, or give their sources namespaces"
    if loser.digest and loser.digest == winner.digest:
        severity, fix, message = Severity.INFO, "nothing is lost; remove one copy", f"{message}, an equal copy"
    elif loser.version is not None and winner.version is not None:
        message += _versions_of_clash(loser.version, winner.version)
    return Diagnostic("shadowed", severity, message, fix, loser.id, Location(place_of(loser)))


def _versions_of_clash(loser: str, winner: str) -> str:
    match compare_versions(loser, winner):
        case Order.NEWER:
            return f", although it is the newer version ({loser}, not {winner})"
        case Order.UNORDERED:
            return f"; no rule orders their versions {loser!r} and {winner!r}"
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Override:
    """What replaces a skill: another definition, another version, or both."""

    defined: Defined | None = None
    version: str | None = None


def apply_overrides(merged: Merged, overrides: Mapping[str, Override]) -> Merged:
    """The skills with the overrides in place; what each replaced is shadowed, and a finding says which versions."""
    winners = dict(merged.winners)
    losers: list[Skill] = []
    findings: list[Diagnostic] = []
    for skill_id, defined in ((name, one.defined) for name, one in overrides.items()):
        if defined is None:
            continue
        held = winners.get(skill_id)
        winners[skill_id] = Offer(defined.skill, defined, defined.skill)
        if held is not None:
            losers.append(held.skill)
            findings.append(
                _overridden(held.skill, defined.skill, f"is overridden by the one of {place_of(defined.skill)}")
            )
    relabelled: list[str] = []
    for skill_id, version in ((name, one.version) for name, one in overrides.items()):
        held = winners.get(skill_id)
        if held is None or version is None or held.skill.version == version:
            continue
        # Another version is another definition: what was recorded for the one before does not hold for it.
        digest = digest_of_bytes(f"{held.skill.digest}\n{version}".encode())
        skill = replace(held.skill, version=version, digest=digest)
        winners[skill_id] = Offer(skill, held.reader, held.given)
        relabelled.append(skill_id)
        losers.append(held.skill)
        findings.append(_overridden(held.skill, skill, "has its version overridden"))
    return Merged(winners, (*merged.shadowed, *losers), (*merged.diagnostics, *findings), tuple(relabelled))


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


def _overridden(before: Skill, now: Skill, what: str) -> Diagnostic:
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


def merge_event_types(sources: Iterable[tuple[str, Loaded]]) -> tuple[Mapping[str, EventType], tuple[Diagnostic, ...]]:
    """The first declaration of each event type, and a finding for each other one that differs."""
    merged: dict[str, EventType] = {}
    owners: dict[str, str] = {}
    findings: list[Diagnostic] = []
    for source, loaded in sources:
        for name, event_type in loaded.events.items():
            if merged.setdefault(name, event_type) != event_type:
                findings.append(_declared_twice(name, owners[name], source))
            owners.setdefault(name, source)
    return MappingProxyType(merged), tuple(findings)


def merge_task_rules(sources: Iterable[tuple[str, Loaded]], precedence: Precedence) -> tuple[TaskRule, ...]:
    """All rules in the order of their sources; with namespaces a rule means its own source's skills."""
    rules: list[TaskRule] = []
    for source, loaded in sources:
        if precedence is Precedence.NAMESPACE and loaded.task_rules:
            ids = _ids_in_namespace(source, loaded)
            rules += (
                replace(rule, skills=tuple(ids.get(skill, skill) for skill in rule.skills))
                for rule in loaded.task_rules
            )
        else:
            rules += loaded.task_rules
    return tuple(rules)


def merge_agents(
    sources: Iterable[tuple[str, Loaded]], precedence: Precedence, known: Collection[str]
) -> tuple[Mapping[str, Agent], tuple[Diagnostic, ...]]:
    """The agents of all sources by id, with findings; raises DuplicateSkill for a clash where none is allowed."""
    owners: dict[str, str] = {}
    merged: dict[str, Agent] = {}
    findings: list[Diagnostic] = []
    for source, loaded in sources:
        ids = _ids_in_namespace(source, loaded) if precedence is Precedence.NAMESPACE and loaded.agents else None
        for given in loaded.agents.values():
            agent = given if ids is None else _in_namespace(given, source, ids)
            if agent is None:
                findings.append(_too_long("agent", given.id, source))
                continue
            held = merged.get(agent.id)
            if held is None or held == agent:
                merged[agent.id] = agent
                owners.setdefault(agent.id, source)
                continue
            if precedence is Precedence.ERROR:
                raise DuplicateSkill(
                    f"agent {agent.id!r} comes from {owners[agent.id]} and from {source}; "
                    "remove or rename one, or choose the precedence first, last or namespace"
                )
            last = precedence is Precedence.LAST
            wins, loses = (source, owners[agent.id]) if last else (owners[agent.id], source)
            findings.append(agent_twice(agent.id, loses, wins))
            owners[agent.id], merged[agent.id] = wins, agent if last else held
    findings += (
        _without_skill(agent, skill_id, owners[agent.id])
        for agent in merged.values()
        for skill_id in agent.skills
        if skill_id not in known
    )
    return MappingProxyType(merged), tuple(findings)


def choose_context(
    sources: Iterable[tuple[str, Loaded]],
) -> tuple[Mapping[str, object] | None, tuple[Diagnostic, ...]]:
    """What the first source that says anything about entity context says, and a finding for every other one."""
    having = [(source, loaded) for source, loaded in sources if loaded.context is not None]
    if not having:
        return None, ()
    (first, loaded), *others = having
    return loaded.context, tuple(_context_ignored(other, first) for other, _ in others)


def _context_ignored(other: str, first: str) -> Diagnostic:
    message = f"the `context` of source {other!r} is ignored: source {first!r}, which comes before it, has one"
    fix = "name the source first whose `context` is meant, or write both into one"
    return Diagnostic("context-ignored", Severity.WARNING, message, fix, location=Location(other))


def _ids_in_namespace(source: str, loaded: Loaded) -> Mapping[str, str]:
    return {skill.id: namespaced(source, skill.id) for skill in loaded.skills}


def _in_namespace(agent: Agent, source: str, ids: Mapping[str, str]) -> Agent | None:
    agent_id = namespaced(source, agent.id)
    if not is_skill_id(agent_id):
        return None
    return replace(agent, id=agent_id, skills=tuple(ids.get(skill, skill) for skill in agent.skills))


def agent_twice(agent_id: str, loser: str, winner: str) -> Diagnostic:
    """The finding that an agent is described otherwise by another source, which counts."""
    message = f"agent {agent_id!r} of source {loser!r} is described differently by source {winner!r}, which counts"
    fix = "rename one of the two, or give their sources namespaces"
    return Diagnostic("agent-declared-twice", Severity.WARNING, message, fix, location=Location(loser))


def _without_skill(agent: Agent, skill_id: str, source: str) -> Diagnostic:
    message = f"agent {agent.id!r} lists skill {skill_id[:100]!r}, which no source has"
    fix = "correct the id, add the skill, or remove it from the agent"
    return Diagnostic("agent-unknown-skill", Severity.WARNING, message, fix, location=Location(source))


def _declared_twice(name: str, first: str, other: str) -> Diagnostic:
    message = (
        f"event {name!r} of source {other!r} is declared differently by source {first!r}, whose declaration counts"
    )
    fix = "give one of the two another name, or declare it the same"
    return Diagnostic("event-declared-twice", Severity.WARNING, message, fix, location=Location(other))
