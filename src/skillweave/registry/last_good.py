"""What one source holds: its last answer, and the last good form of what cannot be read now (spec 1.3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.errors import SourceUnavailable
from skillweave.events.event import EventType
from skillweave.formats.codes import AGENT, CONTEXT, GRAPH, TASK_RULE
from skillweave.frontmatter.codes import Code
from skillweave.registry.agents import Agent
from skillweave.registry.source import Loaded, Source, version_of
from skillweave.skill import Skill
from skillweave.task import TaskRule


@dataclass(frozen=True, slots=True)
class SourceState:
    """What one source holds: its last answer and its refresh, what is in use (`good`), a finding if `away`."""

    loaded: Loaded | None = None
    good: Loaded = field(default_factory=Loaded)
    away: Diagnostic | None = None
    ticket: int = 0
    version: str | None = None

    def after(self, answer: Loaded | Diagnostic, version: str | None, ticket: int) -> "SourceState":
        """The state after a load; an answer to a load that began before the newest one comes too late."""
        if self.ticket > ticket:
            return self
        if isinstance(answer, Diagnostic):
            return replace(self, away=answer, ticket=ticket)
        if answer is self.loaded:
            return replace(self, away=None, ticket=ticket, version=version)
        return SourceState(answer, last_good(self.good, answer), ticket=ticket, version=version)

    def is_old(self, version: str | None) -> bool:
        """Whether a source that was read before and has this version now has to be read again."""
        if self.loaded is None or version is None:
            return False
        return self.away is not None or version != self.version

    def unchanged_since(self, before: "SourceState") -> bool:
        """Whether the source was loaded before and what is in use of it is still the same."""
        return before.loaded is not None and (self.good, self.away) == (before.good, before.away)


Answer: TypeAlias = tuple[Loaded | Diagnostic, str | None]
"""What a source holds, or why it does not say; and its version."""


async def load_source(source: Source, state: SourceState) -> Answer:
    """What the source holds and its version, or a finding if it is away. Raises SourceUnavailable at the first load."""
    try:
        # Asked before the load: a change in between is loaded again next time rather than missed.
        return await read_source(source, state, await version_of(source))
    except SourceUnavailable as error:
        if state.loaded is None:
            raise
        fix = "its skills stay in use as they were; bring the source back and refresh"
        return Diagnostic("source-unavailable", Severity.ERROR, str(error), fix, None, Location(source.name)), None


async def read_source(source: Source, state: SourceState, version: str | None) -> Answer:
    """What the source holds now, which has this version; raises SourceUnavailable."""
    if state.loaded is not None and version is not None and version == state.version:
        return state.loaded, version
    return await source.load(state.loaded), version


def last_good(before: Loaded, now: Loaded) -> Loaded:
    """What is in use from now on; what cannot be read any more keeps its form of before, with a finding."""
    skills, kept_skills = last_good_skills(before.skills, now)
    rules, kept_rules = _task_rules(before.task_rules, now)
    keeps_graph = before.graph is not None and now.graph is None and _unreadable(now, GRAPH)
    has_graph = before if keeps_graph else now
    agents, kept_agents = _agents(before.agents, now)
    keeps_context = before.context is not None and _unreadable(now, CONTEXT)
    kept_context = (_kept("`context`", _place_of_errors(now)),) if keeps_context else ()
    kept_graph = (_kept("the skill graph", before.graph_location),) if keeps_graph else ()
    return Loaded(
        skills,
        (*now.diagnostics, *kept_skills, *kept_rules, *kept_graph, *kept_agents, *kept_context),
        events=last_good_event_types(before.events, now),
        task_rules=rules,
        graph=has_graph.graph,
        graph_location=has_graph.graph_location,
        agents=agents,
        context=before.context if keeps_context else now.context,
    )


def last_good_event_types(before: Mapping[str, EventType], loaded: Loaded) -> Mapping[str, EventType]:
    """What the source declares now; after an error also what it declared before and cannot be read any more."""
    if not has_errors(loaded.diagnostics):
        return loaded.events
    known = {name: event_type for name, event_type in before.items() if event_type.readable}
    lost = {name for name, event_type in loaded.events.items() if not event_type.readable and name in known}
    now = {name: event_type for name, event_type in loaded.events.items() if name not in lost}
    return MappingProxyType({**known, **now})


def _task_rules(before: Sequence[TaskRule], now: Loaded) -> tuple[tuple[TaskRule, ...], tuple[Diagnostic, ...]]:
    if not _unreadable(now, TASK_RULE):
        return now.task_rules, ()
    read = {(rule.when, rule.skills) for rule in now.task_rules}
    kept = tuple(rule for rule in before if (rule.when, rule.skills) not in read)
    return (*now.task_rules, *kept), tuple(_kept(f"task rule {rule.name}", rule.location) for rule in kept)


def _agents(before: Mapping[str, Agent], now: Loaded) -> tuple[Mapping[str, Agent], tuple[Diagnostic, ...]]:
    lost = [agent for agent in before.values() if agent.id not in now.agents]
    if not lost or not _unreadable(now, AGENT):
        return now.agents, ()
    kept = {**now.agents, **{agent.id: agent for agent in lost}}
    return MappingProxyType(kept), tuple(_kept(f"agent {agent.id!r}", _place_of_errors(now)) for agent in lost)


def _place_of_errors(loaded: Loaded) -> Location | None:
    return next((found.location for found in loaded.diagnostics if found.severity is Severity.ERROR), None)


def _unreadable(loaded: Loaded, code: Code) -> bool:
    """Whether the answer has an error of this code, or is nothing but errors."""
    nothing_at_all = not loaded.skills and has_errors(loaded.diagnostics)
    return nothing_at_all or any(found.code == code.name for found in loaded.diagnostics)


def _kept(what: str, location: Location | None, skill_id: str | None = None) -> Diagnostic:
    message = f"{what} can no longer be read; its last good version stays in use"
    fix = "correct the error reported for it, or delete the file"
    return Diagnostic("kept-last-good", Severity.WARNING, message, fix, skill_id, location)


def last_good_skills(before: Sequence[Skill], loaded: Loaded) -> tuple[tuple[Skill, ...], tuple[Diagnostic, ...]]:
    """The loaded skills and, in their old places, those that are gone because of an error; a finding for each kept."""
    missing = _missing(before, loaded)
    if not missing:
        return loaded.skills, ()
    kept = {id(skill) for skill in missing}
    return _in_old_places(before, loaded.skills, kept), tuple(
        _kept(f"skill {skill.id!r}", Location(_place(skill)), skill.id) for skill in missing
    )


def _missing(before: Iterable[Skill], loaded: Loaded) -> list[Skill]:
    broken = [found for found in loaded.diagnostics if found.severity is Severity.ERROR and found.location]
    if not broken:
        return []
    still = {_key(skill) for skill in loaded.skills}
    places = {_place(skill) for skill in loaded.skills}
    named = {(found.location.path, found.skill) for found in broken if found.location and found.skill}
    unread = {found.location.path for found in broken if found.location}

    def is_broken(skill: Skill) -> bool:
        """Whether an error names the skill, or is about its file or a folder above it of which nothing is left."""
        place = _place(skill)
        return _key(skill) in named or (place not in places and any(above in unread for above in _upwards(place)))

    return [skill for skill in before if _key(skill) not in still and is_broken(skill)]


def _upwards(place: str) -> Iterator[str]:
    while place:
        yield place
        place = place.rpartition("/")[0]


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
