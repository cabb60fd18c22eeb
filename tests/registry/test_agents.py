"""Agents on their way from sources into a snapshot, and the part of a snapshot that an agent sees."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from skillweave import Checkpoint, MemorySource, Registry, Skill
from skillweave.errors import AgentNotFound, DuplicateSkill, InvalidValue
from skillweave.registry import Agent, AgentPart, Precedence, Snapshot, part_of
from skillweave.sources import Pack

SKILLS = "skills:\n  - {id: alpha, description: First.}\n  - {id: omega, description: Last.}\n"
CLERK = "agents:\n  - {id: clerk, skills: [%s]}\n"


def write(tmp_path: Path, text: str, name: str = "one.yaml") -> Pack:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return Pack(tmp_path / name)


async def loaded(*packs: Pack, precedence: Precedence = Precedence.FIRST) -> Registry:
    registry = Registry(packs, precedence=precedence)
    await registry.refresh()
    return registry


def snapshot_of(*skills: Skill, agent: Agent) -> Snapshot:
    return Snapshot({skill.id: skill for skill in skills}, agents={agent.id: agent})


# -- a value ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": ""},
        {"id": "two words"},
        {"id": "a" * 101},
        {"id": "\0"},
        {"name": None},
        {"skills": "alpha"},
        {"skills": [7]},
        {"checkpoints": ["sign-off"]},
        {"budgets": {"a": -1}},
        {"budgets": {"a": "1"}},
        {"budgets": {"a": True}},
        {"budgets": {"a": math.nan}},
        {"budgets": {"a": math.inf}},
        {"budgets": {7: 1}},
    ],
    ids=repr,
)
def test_what_is_no_agent_is_refused_where_it_is_made(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidValue, match=r"Agent\("):
        Agent(**{"id": "clerk", **wrong})


def test_an_agent_travels_as_json_and_cannot_be_changed() -> None:
    budgets = {"tokens_per_execution": 4000.0}
    agent = Agent("clerk", skills=("alpha",), checkpoints=(Checkpoint("sign-off"),), budgets=budgets)
    budgets["tokens_per_execution"] = 9.0
    assert (agent.most_tokens, Agent.from_dict(agent.to_dict())) == (4000, agent)
    assert isinstance(hash(agent), int)


# -- into the snapshot ------------------------------------------------------------------------------------------------


async def test_the_agents_of_all_sources_stand_in_the_snapshot(tmp_path: Path) -> None:
    source = MemorySource()
    await source.put_agents([Agent("writer", skills=("alpha",))])
    registry = Registry([write(tmp_path, SKILLS + CLERK % "alpha"), source])
    await registry.refresh()
    assert list(registry.snapshot.agents) == ["clerk", "writer"]
    assert registry.snapshot.diagnostics == ()


async def test_a_skill_that_no_source_has_is_a_warning_and_one_of_another_source_is_none(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, CLERK % "alpha, nobody"), write(tmp_path, SKILLS, "two.yaml"))
    (finding,) = registry.snapshot.diagnostics
    assert (finding.code, finding.severity.value) == ("agent-unknown-skill", "warning")
    assert "'clerk'" in finding.message
    assert "'nobody'" in finding.message
    assert registry.snapshot.agents["clerk"].skills == ("alpha", "nobody")


@pytest.mark.parametrize(("precedence", "skills"), [(Precedence.FIRST, ("alpha",)), (Precedence.LAST, ("omega",))])
async def test_of_two_agents_with_one_id_precedence_says_which_counts(
    tmp_path: Path, precedence: Precedence, skills: tuple[str, ...]
) -> None:
    one = write(tmp_path, SKILLS + CLERK % "alpha")
    registry = await loaded(one, write(tmp_path, CLERK % "omega", "two.yaml"), precedence=precedence)
    assert registry.snapshot.agents["clerk"].skills == skills
    assert [found.code for found in registry.snapshot.diagnostics] == ["agent-declared-twice"]


async def test_where_no_clash_is_allowed_two_agents_with_one_id_are_refused(tmp_path: Path) -> None:
    registry = Registry(
        [write(tmp_path, CLERK % "alpha" + SKILLS), write(tmp_path, CLERK % "omega", "two.yaml")],
        precedence=Precedence.ERROR,
    )
    with pytest.raises(DuplicateSkill, match="agent 'clerk' comes from one and from two"):
        await registry.refresh()
    assert registry.snapshot.generation == 0


async def test_with_namespaces_an_agent_has_its_own_sources_skills(tmp_path: Path) -> None:
    one = write(tmp_path, SKILLS + CLERK % "alpha, two__omega")
    two = write(tmp_path, SKILLS + CLERK % "omega", "two.yaml")
    registry = await loaded(one, two, precedence=Precedence.NAMESPACE)
    agents = {agent.id: agent.skills for agent in registry.snapshot.agents.values()}
    assert agents == {"one__clerk": ("one__alpha", "two__omega"), "two__clerk": ("two__omega",)}
    assert registry.snapshot.diagnostics == ()


async def test_an_agents_id_that_a_namespace_makes_too_long_is_told(tmp_path: Path) -> None:
    registry = await loaded(
        write(tmp_path, f"{SKILLS}agents:\n  - {{id: {'a' * 99}, skills: []}}\n"), precedence=Precedence.NAMESPACE
    )
    assert dict(registry.snapshot.agents) == {}
    assert [found.code for found in registry.snapshot.diagnostics] == ["id-too-long"]


async def test_a_changed_agent_is_a_new_snapshot_and_the_same_one_is_none(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + CLERK % "alpha"))
    before = registry.snapshot
    write(tmp_path, SKILLS + CLERK % "alpha" + "# a remark\n")
    assert not await registry.refresh()
    write(tmp_path, SKILLS + CLERK % "omega")
    assert await registry.refresh()
    assert (registry.snapshot is before, registry.snapshot.agents["clerk"].skills) == (False, ("omega",))


@pytest.mark.parametrize(
    "broken", ["skills: [", f"{SKILLS}agents:\n  - {{id: clerk, skills: [alpha], budgets: {{a: -1}}}}\n"]
)
async def test_a_broken_edit_keeps_the_last_good_agents_and_says_so(tmp_path: Path, broken: str) -> None:
    registry = await loaded(write(tmp_path, SKILLS + CLERK % "alpha"))
    before = registry.snapshot.agents["clerk"]
    write(tmp_path, broken)
    await registry.refresh()
    assert registry.snapshot.agents["clerk"] == before
    kept = [found for found in registry.snapshot.diagnostics if "'clerk'" in found.message]
    assert [found.code for found in kept] == ["kept-last-good"]
    write(tmp_path, SKILLS)
    await registry.refresh()
    assert dict(registry.snapshot.agents) == {}


async def test_an_agent_that_an_edit_takes_away_is_gone(tmp_path: Path) -> None:
    registry = await loaded(write(tmp_path, SKILLS + CLERK % "alpha"))
    write(tmp_path, SKILLS)
    await registry.refresh()
    assert dict(registry.snapshot.agents) == {}


# -- an agent's part --------------------------------------------------------------------------------------------------

ALPHA, OMEGA = Skill("alpha", "Alpha", "First.", digest="d1"), Skill("omega", "Omega", "Last.", digest="d2")


def test_only_the_agents_skills_are_in_its_part() -> None:
    part = part_of(snapshot_of(ALPHA, OMEGA, agent=Agent("clerk", skills=("omega", "nobody"))), "clerk")
    assert (dict(part.skills), list(part.agents)) == ({"omega": OMEGA}, ["clerk"])


def test_an_agent_without_skills_has_none() -> None:
    assert len(part_of(snapshot_of(ALPHA, agent=Agent("clerk")), "clerk")) == 0


def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    with pytest.raises(AgentNotFound, match="did you mean 'clerk'"):
        part_of(snapshot_of(ALPHA, agent=Agent("clerk")), "clark")


def test_each_skill_asks_at_the_agents_checkpoints_too_and_has_another_digest_for_it() -> None:
    skill = Skill("alpha", "Alpha", "First.", checkpoints=(Checkpoint("own"),), digest="d1")

    def seen(*checkpoints: Checkpoint) -> Skill:
        agent = Agent("clerk", skills=("alpha",), checkpoints=checkpoints)
        return part_of(snapshot_of(skill, agent=agent), "clerk")["alpha"]

    with_money, with_pay = seen(Checkpoint("money")), seen(Checkpoint("money", before="pay"))
    assert [one.name for one in with_money.checkpoints] == ["own", "money"]
    assert len({skill.digest, with_money.digest, with_pay.digest}) == 3
    assert seen(Checkpoint("money")) == with_money
    assert seen() == skill


def test_a_checkpoint_that_the_skill_has_already_is_not_added() -> None:
    skill = Skill("alpha", "Alpha", "First.", checkpoints=(Checkpoint("money", before="pay"),), digest="d1")
    agent = Agent("clerk", skills=("alpha",), checkpoints=skill.checkpoints)
    assert part_of(snapshot_of(skill, agent=agent), "clerk")["alpha"] == skill


def test_one_that_has_only_the_name_of_the_skills_own_gets_its_own_name() -> None:
    skill = Skill("alpha", "Alpha", "First.", checkpoints=(Checkpoint("money"),), digest="d1")
    agent = Agent("clerk", skills=("alpha",), checkpoints=(Checkpoint("money", before="pay"),))
    seen = part_of(snapshot_of(skill, agent=agent), "clerk")["alpha"]
    assert [(one.name, one.before) for one in seen.checkpoints] == [("money", None), ("clerk/money", "pay")]


def test_a_part_stays_the_same_value_while_only_skills_of_others_change() -> None:
    part, agent = AgentPart("clerk"), Agent("clerk", skills=("alpha",))
    before = part.of(snapshot_of(ALPHA, OMEGA, agent=agent))
    assert part.of(snapshot_of(ALPHA, agent=agent)) is before
    assert part.of(snapshot_of(OMEGA, agent=agent)) is not before
