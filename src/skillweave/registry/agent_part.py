"""An agent's part of the skills: only its own, each with the agent's checkpoints beside those that it has."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import AgentNotFound
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.native import to_data
from skillweave.registry.agents import Agent
from skillweave.registry.snapshot import Snapshot, is_same
from skillweave.skill import Checkpoint, Skill


def part_of(snapshot: Snapshot, agent_id: str) -> Snapshot:
    """The snapshot as the agent sees it: its skills only, with its checkpoints too. Raises AgentNotFound."""
    agent = snapshot.agents.get(agent_id)
    if agent is None:
        raise AgentNotFound(agent_id, snapshot.agents)
    own = frozenset(agent.skills)
    skills = {skill.id: _with_checkpoints(skill, agent) for skill in snapshot.values() if skill.id in own}
    return replace(
        snapshot,
        skills=MappingProxyType(skills),
        shadowed=tuple(skill for skill in snapshot.shadowed if skill.id in own),
        diagnostics=(
            *(found for found in snapshot.diagnostics if found.skill is None or found.skill in own),
            *_unmet(skills, agent),
        ),
        task_rules=tuple(rule for rule in snapshot.task_rules if not own.isdisjoint(rule.skills)),
        relabelled=tuple(skill_id for skill_id in snapshot.relabelled if skill_id in own),
        agents=MappingProxyType({agent.id: agent}),
    )


class AgentPart:
    """An agent's part of the newest snapshot, made once for each; the same value while nothing in it changes."""

    def __init__(self, agent_id: str) -> None:
        self._agent_id = agent_id
        self._lock = Lock()
        self._made: tuple[Snapshot, Snapshot] | None = None

    def of(self, snapshot: Snapshot) -> Snapshot:
        """The agent's part; raises AgentNotFound for one that is not described any more."""
        with self._lock:
            made = self._made
            if made is not None and made[0] is snapshot:
                return made[1]
            part = part_of(snapshot, self._agent_id)
            if made is not None and is_same(part, made[1]):
                part = made[1]
            self._made = snapshot, part
            return part


def _unmet(skills: Mapping[str, Skill], agent: Agent) -> Iterator[Diagnostic]:
    """A finding for each skill that another one of the agent's requires and the agent does not have."""
    for skill in skills.values():
        for needed in skill.requires():
            if needed not in skills:
                yield Diagnostic(
                    "agent-without-companion",
                    Severity.WARNING,
                    f"skill {skill.id!r} requires {needed!r}, which agent {agent.id!r} lacks: it is never given",
                    f"add {needed!r} to the skills of the agent, or take {skill.id!r} away",
                    skill.id,
                    Location(skill.origin.location) if skill.origin else None,
                )


def _with_checkpoints(skill: Skill, agent: Agent) -> Skill:
    added = tuple(_added(skill.checkpoints, agent))
    if not added:
        return skill
    digest = digest_of_bytes(f"{skill.digest}\n{json.dumps(to_data(added))}".encode())
    return replace(skill, checkpoints=(*skill.checkpoints, *added), digest=digest)


def _added(known: Sequence[Checkpoint], agent: Agent) -> Iterator[Checkpoint]:
    """The agent's checkpoints that the skill lacks; one that only has a name in common gets its own."""
    names = {one.name for one in known}
    for one in agent.checkpoints:
        if one not in known:
            yield replace(one, name=f"{agent.id}/{one.name}") if one.name in names else one
