"""Sub-agents inside Microsoft's Agent Framework: a real agent, real tools, a scripted client."""

import json
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, Content, FunctionTool, InMemoryHistoryProvider, Message

from examples.coding_tools import CodingTool
from examples.scripted.agent_framework import ScriptedChatClient
from skillweave import Placement, SpawnRequest
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to
from skillweave.adapters.agent_framework import spawn as agent_framework_spawn
from skillweave.adapters.agent_framework.spawn import spawn_subagent
from skillweave.adapters.spawning import SpawnBounds
from skillweave.errors import InvalidSpawn
from skillweave.formats.native import from_dict
from skillweave.tools import SpawnPlan
from skillweave_testing.hosts import Asks, Says, Script
from tests.adapters.hosts.coding import CODE, PAIR, SPECIFICATION, coder, files, spawn, weaver_and_events, workshop

OWN = {"read_skill", "list_skills", "read_artifact", "search_skills"}
APPROVED = {"verdict": "approved", "by": "Kim"}


def wrapped(tool: CodingTool) -> FunctionTool:
    return FunctionTool(name=tool.name, description=tool.description, func=tool.run, input_model=tool.parameters)


class Stage:
    """A parent agent with the tool, its script, and one script for each sub-agent by its label."""

    def __init__(self, folder: Path, *says: Says | str, bounds: SpawnBounds | None = None, **children: Script) -> None:
        self.folder = folder
        self.script = Script(*says)
        self.children = children
        self.bounds = bounds
        self.weaver, self.events = weaver_and_events(folder)
        self.session = AgentSession(session_id="office-1")

    def client_for(self, request: SpawnRequest) -> ScriptedChatClient:
        return ScriptedChatClient(self.children[request.label or "child"])

    @property
    def tools(self) -> list[FunctionTool]:
        return [wrapped(tool) for tool in workshop(self.folder)]

    @property
    def spawner(self) -> FunctionTool:
        return spawn_subagent(self.client_for, self.weaver, self.tools, instructions="You code.", bounds=self.bounds)

    async def run(self, said: Any = "Please.") -> Any:
        agent = Agent(
            ScriptedChatClient(self.script),
            "You lead.",
            tools=[*self.tools, self.spawner],
            context_providers=[InMemoryHistoryProvider(), SkillContextProvider(self.weaver)],
        )
        return await agent.run(said, session=self.session)

    async def reply(self, requests: list[Content], reply: dict[str, str]) -> Any:
        return await self.run(Message("user", [reply_to(request, reply) for request in requests]))

    def restart(self) -> None:
        self.weaver, self.events = weaver_and_events(self.folder)
        self.session = AgentSession.from_dict(json.loads(json.dumps(self.session.to_dict())))


def results(script: Script) -> str:
    return "\n".join(script.last.messages)


def shown(script: Script) -> set[str]:
    return set(script.last.tools) - OWN


async def test_the_pair_writes_a_specification_and_code_and_runs_its_test_green(tmp_path: Path) -> None:
    child = Script(*coder())
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), "It is done.", coder=child)
    assert (await stage.run()).text == "It is done."
    assert stage.script.last.times("Criterion 1 holds: test_criterion_1 is green.") == 1
    assert files(tmp_path)["specs/double.md"] == SPECIFICATION
    assert child.last.times("stored specs/double.md, 1 acceptance criteria") == 1
    assert child.last.times("exit code 0") == 1
    assert child.last.times("Ran 1 test") == 1


async def test_write_is_hidden_and_blocked_and_leaves_no_file(tmp_path: Path) -> None:
    child = Script(*coder())
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), coder=child)
    await stage.run()
    assert [event.payload.tool for event in stage.events.of("tool.blocked")] == ["write"]  # type: ignore[attr-defined]
    assert all(set(sent.tools) - OWN == {"specKit", "opencode-executor"} for sent in child.sent)
    assert child.last.times("TOOL_FORBIDDEN: this call of `write` is forbidden") == 1
    assert files(tmp_path)["double.py"] == CODE


async def test_the_sub_agent_has_its_own_instructions_the_plans_text_and_its_skills_texts(tmp_path: Path) -> None:
    child = Script(*coder())
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), coder=child)
    await stage.run()
    assert child.sent[0].system.startswith("You code.\n\n=== Agent Capabilities: coder ===")
    for text in ("=== Skill Activated: Specification Engine ===", "=== Skill Activated: Opencode Implementer ==="):
        assert [sent.times(text) for sent in child.sent] == [1] * 6
    assert stage.script.last.times("Skill Activated") == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"skills": PAIR[:1]}, "MISSING_REQUIRED"),
        ({"skills": ["nobody"]}, "UNKNOWN_SKILL"),
        ({"skills": [*PAIR, 3]}, "`skills` of a spawn request"),
        ({"skills": "both"}, "`skills` of a spawn request"),
        ({"task": ""}, "says nothing in `task`"),
    ],
)
async def test_a_spawn_that_is_not_in_order_starts_nothing(
    tmp_path: Path, arguments: dict[str, object], why: str
) -> None:
    child = Script()
    stage = Stage(tmp_path, spawn(**arguments), "I see.", child=child)
    await stage.run()
    assert stage.script.last.times("the sub-agent is not started: ") == 1
    assert why in results(stage.script)
    assert child.sent == []
    assert "spawn.started" not in stage.events.types


async def test_every_state_is_told_in_the_parents_conversation(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=PAIR[:1]), spawn(skills=PAIR), "Done.", child=Script("Nothing to do."))
    await stage.run()
    told = [event for event in stage.events.events if event.event_type.startswith("spawn.")]
    assert [event.event_type.removeprefix("spawn.") for event in told] == [
        "requested",
        "rejected",
        "requested",
        "validated",
        "started",
    ]
    assert {event.conversation for event in told} == {"office-1"}


async def test_no_skills_leave_the_sub_agent_no_tool_of_the_host(tmp_path: Path) -> None:
    child = Script(Says(asks=(Asks("specKit", {"action": "list"}),)), "I may not.")
    await Stage(tmp_path, spawn(skills=[]), child=child).run()
    assert shown(child) == set()
    assert child.last.times("specifications:") == 0


async def test_skills_left_out_restrict_nothing_and_it_may_spawn_in_turn(tmp_path: Path) -> None:
    child, grandchild = Script(spawn(label="grandchild"), "Done below."), Script("Done.")
    stage = Stage(tmp_path, spawn(), child=child, grandchild=grandchild, bounds=SpawnBounds(depth=2))
    await stage.run()
    everything = {"specKit", "opencode-executor", "write", "edit"}
    assert shown(child) == {*everything, "spawn_subagent"}
    assert shown(grandchild) == everything  # the last generation
    assert stage.events.of("spawn.started")[1].conversation.startswith("office-1/")


async def test_no_generation_has_more_than_the_one_above(tmp_path: Path) -> None:
    child, grandchild = Script(spawn(label="grandchild"), "Done below."), Script("Done.")
    load = Says(asks=(Asks("read_skill", {"skill_id": "careful"}),))
    stage = Stage(tmp_path, load, spawn(), child=child, grandchild=grandchild)
    await stage.run()
    for script in (stage.script, child, grandchild):
        assert shown(script) == {"specKit", "opencode-executor", "edit", "spawn_subagent"}


@pytest.mark.parametrize("planned", [False, True])
async def test_a_lead_whose_conversation_is_not_its_sessions_hands_on_no_more_than_it_has(
    tmp_path: Path, planned: bool
) -> None:
    stage, child = Stage(tmp_path, spawn(), "Done."), Script("Looked.")
    plan = await stage.weaver.composition.prepare_spawn(SpawnRequest("Look.", ("careful",)))
    assert isinstance(plan, SpawnPlan)
    provider = SkillContextProvider(stage.weaver, **({"plan": plan} if planned else {"conversation": "ticket-7"}))
    tools = [*stage.tools, spawn_subagent(ScriptedChatClient(child), stage.weaver, stage.tools)]
    agent = Agent(ScriptedChatClient(stage.script), "You lead.", tools=tools, context_providers=[provider])
    if not planned:
        await stage.weaver.weave("Look.", conversation="ticket-7", named=["careful"], placement=Placement.CALL)
    await agent.run("Please.", session=stage.session)
    assert "write" not in shown(stage.script)
    assert shown(child) == {"specKit", "opencode-executor", "edit", "spawn_subagent"}


async def test_a_sub_agent_that_fails_is_told_and_the_parent_goes_on(tmp_path: Path) -> None:
    failing = Script(Says(fails=ConnectionError("down")))
    stage = Stage(tmp_path, spawn(), "I will do it myself.", child=failing)
    assert (await stage.run()).text == "I will do it myself."
    assert stage.script.last.times("the sub-agent failed with ConnectionError") == 1


async def test_two_in_one_reply_run_in_conversations_of_their_own(tmp_path: Path) -> None:
    both = Says(asks=(*spawn(label="one").asks, *spawn(label="two").asks))
    stage = Stage(tmp_path, both, "Both.", one=Script("First."), two=Script("Second."))
    await stage.run()
    assert (stage.script.last.times("First."), stage.script.last.times("Second.")) == (1, 1)
    assert len({event.payload.to_dict()["spawned"] for event in stage.events.of("spawn.started")}) == 2


def filing() -> tuple[Says, ...]:
    return (Says(asks=(Asks("write", {"path": "filing.txt", "text": "filed"}),)), Says("It is filed."))


async def test_a_checkpoint_in_a_sub_agent_pauses_the_parent_and_goes_on_in_a_new_process(tmp_path: Path) -> None:
    child, other = Script(*filing()), Script("Looked.")
    both = Says(asks=(*spawn(label="other").asks, *spawn(skills=["filing"]).asks))
    stage = Stage(tmp_path, both, "Filed.", child=child, other=other)
    (request,) = (await stage.run()).user_input_requests
    assert request.function_call.name == "spawn_subagent"
    assert [one["name"] for one in request.additional_properties["checkpoints"]] == ["pre_filing"]
    assert request.additional_properties["calls"][0]["tool"] == "write"
    assert request.additional_properties["conversation"].startswith("office-1/")
    assert "filing.txt" not in files(tmp_path)
    kept = json.loads(json.dumps(request.to_dict()))
    stage.restart()
    answer = await stage.reply([Content.from_dict(kept)], APPROVED)
    assert answer.text == "Filed."
    assert files(tmp_path)["filing.txt"] == "filed"
    assert stage.script.last.times("It is filed.") == 1
    assert (len(other.sent), len(child.sent)) == (1, 2)
    verdict = (await stage.weaver.ledger.state(request.additional_properties["conversation"])).approvals[0]
    assert (verdict.verdict.value, verdict.by) == ("approved", "Kim")


async def test_two_that_wait_may_be_replied_to_one_by_one(tmp_path: Path) -> None:
    both = Says(asks=(*spawn(skills=["filing"], label="one").asks, *spawn(skills=["filing"], label="two").asks))
    one, two = Script(*filing()), Script(*filing())
    stage = Stage(tmp_path, both, "Filed.", one=one, two=two)
    requests = (await stage.run()).user_input_requests
    rest = (await stage.reply(requests[1:], APPROVED)).user_input_requests
    assert [request.id for request in rest] == [requests[0].id]
    assert "filing.txt" not in files(tmp_path)
    stage.restart()
    assert (await stage.reply(rest, APPROVED)).text == "Filed."
    assert (len(one.sent), len(two.sent)) == (2, 2)
    assert stage.script.last.times("It is filed.") == 2


async def test_a_checkpoint_two_generations_below_pauses_too(tmp_path: Path) -> None:
    child, grandchild = Script(spawn(skills=["filing"], label="grandchild"), "Done below."), Script(*filing())
    stage = Stage(tmp_path, spawn(), "Filed.", child=child, grandchild=grandchild)
    requests = (await stage.run()).user_input_requests
    assert requests[0].additional_properties["conversation"].count("/") == 2
    stage.restart()
    assert (await stage.reply(requests, APPROVED)).text == "Filed."
    assert files(tmp_path)["filing.txt"] == "filed"


async def test_a_reply_that_names_nobody_is_asked_for_again(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=["filing"]), "Filed.", child=Script(*filing()))
    (request,) = (await stage.run()).user_input_requests
    again = (
        await stage.run(Message("user", [request.to_function_approval_response(approved=True)]))
    ).user_input_requests
    assert "filing.txt" not in files(tmp_path)
    assert (await stage.reply(again, APPROVED)).text == "Filed."
    assert files(tmp_path)["filing.txt"] == "filed"


async def test_what_a_person_rejects_in_a_sub_agent_is_not_done(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=["filing"]), "Well.", child=Script(*filing()))
    requests = (await stage.run()).user_input_requests
    assert (await stage.reply(requests, {"verdict": "rejected", "by": "Kim"})).text == "Well."
    assert "filing.txt" not in files(tmp_path)


BOTH = {
    "id": "both",
    "description": "Files and amends.",
    "tools": {"allowed": ["write", "edit", "wipe"]},
    "text": {"instructions": "File, then amend."},
    "checkpoints": [{"name": "pre_filing", "before": "write"}, {"name": "pre_edit", "before": "edit"}],
}


class Wiping(Stage):
    """With a tool that the framework itself asks about."""

    @property
    def tools(self) -> list[FunctionTool]:
        wipe = FunctionTool(name="wipe", description="Wipes.", func=_wiped, approval_mode="always_require")
        return [*super().tools, wipe]


def _wiped(path: str) -> str:
    return f"wiped {path}"


async def test_a_response_that_comes_twice_is_no_reply_to_the_sub_agents_next_question(tmp_path: Path) -> None:
    child = Script(filing()[0], Says(asks=(Asks("edit", {"path": "filing.txt", "old": "filed", "new": "lost"}),)))
    stage = Stage(tmp_path, spawn(skills=["both"]), "Filed.", child=child)
    stage.weaver.skills.registry.register(from_dict(BOTH))
    first = (await stage.run()).user_input_requests
    await stage.reply(first, APPROVED)
    (second,) = (await stage.reply(first, APPROVED)).user_input_requests
    assert [one["name"] for one in second.additional_properties["checkpoints"]] == ["pre_edit"]
    assert files(tmp_path)["filing.txt"] == "filed"
    await stage.reply([second], APPROVED)
    assert files(tmp_path)["filing.txt"] == "lost"


async def test_every_call_that_one_reply_decides_is_shown(tmp_path: Path) -> None:
    """Also those of a sub-agent's sub-agent, and one that waits for the framework's own approval."""
    writing = Says(asks=tuple(Asks("write", {"path": f"{name}.txt", "text": "x"}) for name in ("one", "two")))
    grandchild = Script(Says(asks=(Asks("wipe", {"path": "one.txt"}),)), writing, "Done.")
    child = Script(spawn(skills=["both"], label="grandchild"), "Done below.")
    stage = Wiping(tmp_path, spawn(), "Filed.", child=child, grandchild=grandchild)
    stage.weaver.skills.registry.register(from_dict(BOTH))
    (native,) = (await stage.run()).user_input_requests
    asked = native.additional_properties
    assert [(call["tool"], call["arguments"]) for call in asked["calls"]] == [("wipe", {"path": "one.txt"})]
    assert asked["conversation"].startswith("office-1/")
    (ours,) = (await stage.reply([native], APPROVED)).user_input_requests
    assert [call["arguments"]["path"] for call in ours.additional_properties["calls"]] == ["one.txt", "two.txt"]
    await stage.reply([ours], APPROVED)
    assert {"one.txt", "two.txt"} <= set(files(tmp_path))


async def test_the_session_forgets_the_oldest_that_wait_and_asks_about_them_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_framework_spawn, "MOST_WAITING", 1)
    both = Says(asks=(*spawn(skills=["filing"], label="one").asks, *spawn(skills=["filing"], label="two").asks))
    one, two = (Script(filing()[0], filing()[0], "It is filed.") for _ in range(2))
    stage = Stage(tmp_path, both, "Filed.", one=one, two=two)
    requests = (await stage.run()).user_input_requests
    assert len(stage.session.state[agent_framework_spawn.WAITING]) == 1
    again = (await stage.reply(requests, APPROVED)).user_input_requests
    assert len(requests) == 2
    # The forgotten one begins anew and asks; where it does so first, the other is forgotten in its turn.
    assert again


async def test_the_same_call_made_again_is_the_same_sub_agent(tmp_path: Path) -> None:
    call = Says(asks=(Asks("spawn_subagent", {"task": "Look."}, "call-7"),))
    stage = Stage(tmp_path, call, "Done.", child=Script("Looked."))
    await stage.run()
    stage.session = AgentSession(session_id="office-1")
    stage.script.then(call, "Done.")
    await stage.run()
    started = stage.events.of("spawn.started")
    assert len(started) == 2
    assert len({event.id for event in started}) == 1


async def test_one_client_for_all_refuses_the_choice_of_a_model_before_anything_starts(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(model="gpt-9"), "Well.")
    agent = Agent(
        ScriptedChatClient(stage.script),
        tools=[spawn_subagent(ScriptedChatClient(stage.script), stage.weaver, stage.tools)],
        context_providers=[InMemoryHistoryProvider(), SkillContextProvider(stage.weaver)],
    )
    await agent.run("Please.", session=stage.session)
    assert stage.script.last.times("`model` cannot be chosen here; leave it out") == 1
    assert stage.events.of("spawn.started") == []


def test_the_tool_is_not_among_the_tools_that_it_hands_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(InvalidSpawn, match="spawn_subagent is among the tools"):
        spawn_subagent(stage.client_for, stage.weaver, [*stage.tools, stage.spawner])
