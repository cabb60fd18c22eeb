"""Agents in a pack file: what is read, and what of a mistaken one is said."""

from pathlib import Path

import pytest

from skillweave import Checkpoint
from skillweave.registry import Agent, Loaded
from skillweave.skills import CheckpointScope
from skillweave.sources import Pack
from skillweave.sources.agents import MOST_AGENTS
from skillweave.values import Location

SKILLS = "skills:\n  - {id: alpha, description: First.}\n  - {id: omega, description: Last.}\n"
CLERK = """agents:
  - id: clerk
    name: Clerk
    agent_type: assistant
    model: some-model
    skills: [alpha, omega]
    checkpoints:
      - sign-off
      - {name: money, before: pay, reviewer: Zoë, asks: Pay it?, scope: conversation}
    budgets: {tokens_per_execution: 4000, cost_per_day: 2.5}
"""


async def load(tmp_path: Path, agents: str, name: str = "pack.yaml") -> Loaded:
    (tmp_path / name).write_text(f"{SKILLS}{agents}", encoding="utf-8")
    return await Pack(tmp_path / name).load()


async def test_an_agent_is_read_with_all_that_is_said_of_it(tmp_path: Path) -> None:
    loaded = await load(tmp_path, CLERK)
    assert loaded.diagnostics == ()
    assert dict(loaded.agents) == {
        "clerk": Agent(
            "clerk",
            "Clerk",
            "assistant",
            "some-model",
            ("alpha", "omega"),
            (
                Checkpoint("sign-off"),
                Checkpoint("money", before="pay", reviewer="Zoë", asks="Pay it?", scope=CheckpointScope.CONVERSATION),
            ),
            {"tokens_per_execution": 4000, "cost_per_day": 2.5},
        )
    }


async def test_its_checkpoints_may_stand_under_the_other_key_that_skills_have(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "agents:\n  - {id: clerk, skills: [], hitl_checkpoints: [sign-off]}\n")
    assert (loaded.diagnostics, loaded.agents["clerk"].checkpoints) == ((), (Checkpoint("sign-off"),))


async def test_a_pack_in_json_describes_agents_too(tmp_path: Path) -> None:
    (tmp_path / "pack.json").write_text('{"agents": [{"id": "clerk", "skills": ["alpha"], "budgets": {"a": 1}}]}')
    loaded = await Pack(tmp_path / "pack.json").load()
    assert (loaded.agents["clerk"].skills, dict(loaded.agents["clerk"].budgets)) == (("alpha",), {"a": 1})


async def test_a_pack_of_agents_alone_is_complete(tmp_path: Path) -> None:
    (tmp_path / "agents.yaml").write_text("agents:\n  - {id: clerk, skills: [alpha]}\n", encoding="utf-8")
    loaded = await Pack(tmp_path / "agents.yaml").load()
    assert (loaded.diagnostics, list(loaded.agents)) == ((), ["clerk"])


@pytest.mark.parametrize("nothing", ["", "agents:\n", "agents: []\n"])
async def test_a_pack_may_describe_none(tmp_path: Path, nothing: str) -> None:
    loaded = await load(tmp_path, nothing)
    assert (dict(loaded.agents), loaded.diagnostics) == ({}, ())


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("agents: 7\n", 4, "`agents[0]` is '7', not a mapping"),
        ("agents:\n  - clerk\n", 5, "`agents[0]` is 'clerk', not a mapping"),
        ("agents:\n  - {skills: []}\n", 5, "`agents[0].id` is missing or empty"),
        ("agents:\n  - {id: two words, skills: []}\n", 5, "`agents[0].id` is 'two words', which can be no agent's id"),
        ("agents:\n  - {id: clerk}\n", 5, "`agents[0].skills` is missing"),
        ("agents:\n  - {id: clerk, skills: [[alpha]]}\n", 5, "`agents[0].skills[0]` is a list, not text"),
        ("agents:\n  - {id: clerk, skills: [], name: [x]}\n", 5, "`agents[0].name` is a list, not text"),
        ("agents:\n  - id: clerk\n    skills: []\n    checkpoints: [{before: pay}]\n", 7, "`agents[0].checkpoints[0]"),
        ("agents:\n  - {id: clerk, skills: [], checkpoints: [{name: a, blocking: perhaps}]}\n", 5, "`agents[0].checkp"),
        ("agents:\n  - {id: clerk, skills: [], budgets: 7}\n", 5, "`agents[0].budgets` is '7', not a mapping"),
        ("agents:\n  - id: clerk\n    skills: []\n    budgets: {a: -1}\n", 7, "`agents[0].budgets.a` is no number"),
        ("agents:\n  - {id: clerk, skills: [], budgets: {a: much}}\n", 5, "`agents[0].budgets.a` is no number"),
        ("agents:\n  - {id: clerk, skills: [], budgets: {a: '5'}}\n", 5, "`agents[0].budgets.a` is no number"),
        ("agents:\n  - {id: clerk, skills: [], budgets: {a: true}}\n", 5, "`agents[0].budgets.a` is no number"),
        ("agents:\n  - {id: clerk, skills: [], budgets: {a: }}\n", 5, "`agents[0].budgets.a` is no number"),
        ("agents:\n  - {id: clerk, skills: [], budgets: {a: .inf}}\n", 5, "`agents[0].budgets.a` is no number"),
    ],
)
async def test_a_mistake_is_a_finding_with_its_line_and_costs_the_whole_agent(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    loaded = await load(tmp_path, text)
    errors = [found for found in loaded.diagnostics if found.severity.value == "error"]
    assert dict(loaded.agents) == {}
    assert [skill.id for skill in loaded.skills] == ["alpha", "omega"]
    assert errors
    assert all(error.fix for error in errors)
    assert errors[0].message.startswith(message)
    assert errors[0].location == Location(f"{tmp_path}/pack.yaml", line)


async def test_an_unknown_key_is_a_warning_and_the_agent_is_there(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "agents:\n  - {id: clerk, skills: [alpha], colour: red}\n")
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.severity.value, list(loaded.agents)) == ("unknown-key", "warning", ["clerk"])
    assert "agents[0].colour" in finding.message


async def test_of_two_agents_with_one_id_the_first_counts_and_the_second_is_an_error(tmp_path: Path) -> None:
    loaded = await load(tmp_path, "agents:\n  - {id: clerk, skills: [alpha]}\n  - {id: clerk, skills: [omega]}\n")
    (finding,) = loaded.diagnostics
    assert (finding.code, finding.location) == ("bad-agent", Location(f"{tmp_path}/pack.yaml", 6))
    assert loaded.agents["clerk"].skills == ("alpha",)


async def test_so_many_agents_are_read_and_one_error_tells_of_the_others(tmp_path: Path) -> None:
    many = "".join(f"  - {{id: a{n}, skills: []}}\n" for n in range(MOST_AGENTS + 3))
    loaded = await load(tmp_path, f"agents:\n{many}")
    (finding,) = loaded.diagnostics
    assert (len(loaded.agents), finding.code) == (MOST_AGENTS, "bad-agent")
    assert f"{MOST_AGENTS + 3:,} agents" in finding.message


async def test_too_many_checkpoints_cost_the_agent(tmp_path: Path) -> None:
    points = ", ".join(f"c{n}" for n in range(101))
    loaded = await load(tmp_path, f"agents:\n  - {{id: clerk, skills: [], checkpoints: [{points}]}}\n")
    assert (dict(loaded.agents), loaded.diagnostics[0].code) == ({}, "bad-agent")
