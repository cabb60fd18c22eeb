"""Sub-agents inside LangGraph: real graphs, real tools, a scripted model."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command, interrupt

import skillweave
from examples.coding_tools import CodingTool
from examples.scripted.langchain import ScriptedChatModel
from skillweave import Placement, SpawnRequest, Weaver
from skillweave.adapters.langchain import SkillMiddleware
from skillweave.adapters.langgraph import build_skill_agent
from skillweave.adapters.langgraph.spawn import spawn_subagent
from skillweave.adapters.spawning import SpawnBounds
from skillweave.errors import InvalidSpawn
from skillweave.tools import SpawnPlan
from skillweave_testing.hosts import Asks, Says, Script
from tests.adapters.hosts.coding import CODE, PAIR, SPECIFICATION, coder, files, spawn, weaver_and_events, workshop

OWN = {"read_skill", "list_skills", "read_artifact", "search_skills"}
THREAD: dict[str, Any] = {"configurable": {"thread_id": "office-1"}}


def wrapped(tool: CodingTool) -> BaseTool:
    return StructuredTool(name=tool.name, description=tool.description, args_schema=tool.parameters, func=tool.run)


class Stage:
    """A parent agent with the tool, its script, and one script for each sub-agent by its label."""

    def __init__(self, folder: Path, *says: Says | str, bounds: SpawnBounds | None = None, **children: Script) -> None:
        self.folder = folder
        self.saver: BaseCheckpointSaver[str] = InMemorySaver()
        self.script = Script(*says)
        self.children = children
        self.bounds = bounds
        self.weaver, self.events = weaver_and_events(folder)

    def model_for(self, request: SpawnRequest) -> ScriptedChatModel:
        return ScriptedChatModel(script=self.children[request.label or "child"])

    @property
    def tools(self) -> list[BaseTool]:
        return [wrapped(tool) for tool in workshop(self.folder)]

    @property
    def spawner(self) -> BaseTool:
        return spawn_subagent(self.model_for, self.weaver, self.tools, system_prompt="You code.", bounds=self.bounds)

    @property
    def agent(self) -> Any:
        model = ScriptedChatModel(script=self.script)
        return build_skill_agent(model, self.weaver, [*self.tools, self.spawner], checkpointer=self.saver)

    async def say(self, text: str = "Please.", **state: object) -> list[str]:
        return texts(await self.agent.ainvoke({"messages": [HumanMessage(text)], **state}, THREAD))

    def restart(self) -> None:
        self.weaver, self.events = weaver_and_events(self.folder)


def texts(state: dict[str, Any]) -> list[str]:
    return [message.text for message in state["messages"]]


def shown(script: Script) -> set[str]:
    return set(script.last.tools) - OWN


async def awaited(stage: Stage) -> list[str]:
    return await stage.say()


async def blocking(stage: Stage) -> list[str]:
    return texts(stage.agent.invoke({"messages": [HumanMessage("Please.")]}, THREAD))


@pytest.mark.parametrize("way", [awaited, blocking])
async def test_the_pair_writes_a_specification_and_code_and_runs_its_test_green(
    tmp_path: Path, way: Callable[[Stage], Any]
) -> None:
    child = Script(*coder())
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), "It is done.", coder=child)
    said = await way(stage)
    assert said[-1] == "It is done."
    assert "Criterion 1 holds: test_criterion_1 is green." in said
    assert files(tmp_path)["specs/double.md"] == SPECIFICATION
    assert child.last.times("stored specs/double.md, 1 acceptance criteria") == 1
    assert child.last.times("exit code 0") == 1
    assert child.last.times("Ran 1 test") == 1


async def test_write_is_hidden_and_blocked_and_leaves_no_file(tmp_path: Path) -> None:
    child = Script(*coder())
    await Stage(tmp_path, spawn(skills=PAIR, label="coder"), coder=child).say()
    assert all(set(sent.tools) - OWN == {"specKit", "opencode-executor"} for sent in child.sent)
    assert child.last.times("TOOL_FORBIDDEN") == 1
    assert files(tmp_path)["double.py"] == CODE


async def test_a_tool_that_the_plan_does_not_offer_is_not_in_the_sub_agents_graph_at_all(tmp_path: Path) -> None:
    def look(runtime: ToolRuntime) -> str:
        """Names the tools that there are to be run."""
        return " and ".join(tool.name for tool in runtime.tools if tool.name not in OWN)

    child = Script(Says(asks=(Asks("look"),)), "Looked.")
    stage = Stage(tmp_path, child=child)
    tools = [*stage.tools, StructuredTool.from_function(look)]
    script = Script(spawn(skills=["careful"]))
    agent = build_skill_agent(
        ScriptedChatModel(script=script), stage.weaver, [spawn_subagent(stage.model_for, stage.weaver, tools)]
    )
    await agent.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD)
    assert child.last.times("specKit and opencode-executor and edit and look and spawn_subagent") == 1


async def test_the_sub_agent_has_its_own_prompt_the_plans_text_and_its_skills_texts_once(tmp_path: Path) -> None:
    child = Script(*coder())
    await Stage(tmp_path, spawn(skills=PAIR, label="coder"), coder=child).say()
    assert child.sent[0].system.startswith("You code.\n\n=== Agent Capabilities: coder ===")
    for text in ("=== Skill Activated: Specification Engine ===", "=== Skill Activated: Opencode Implementer ==="):
        assert child.last.times_in_messages(text) == 1


async def test_the_parents_history_holds_nothing_of_the_sub_agents_skills(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), "Done.", coder=Script(*coder()))
    assert not any("Skill Activated" in text for text in await stage.say())
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
    answer = (await stage.say())[-2]
    assert answer.startswith("the sub-agent is not started: ")
    assert why in answer
    assert child.sent == []
    assert "spawn.started" not in stage.events.types


async def test_a_spawn_with_an_argument_that_there_is_not_starts_nothing(tmp_path: Path) -> None:
    child = Script()
    stage = Stage(tmp_path, spawn(timeout=60), "I see.", child=child)
    assert "`spawn_subagent` has no argument `timeout`" in (await stage.say())[-2]
    assert child.sent == []
    assert "spawn.started" not in stage.events.types


async def test_every_state_is_told_in_the_parents_conversation(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=PAIR[:1]), spawn(skills=PAIR), "Done.", child=Script("Nothing to do."))
    await stage.say()
    told = [event for event in stage.events.events if event.event_type.startswith("spawn.")]
    assert [event.event_type for event in told] == [
        "spawn.requested",
        "spawn.rejected",
        "spawn.requested",
        "spawn.validated",
        "spawn.started",
    ]
    assert {event.conversation for event in told} == {"office-1"}


async def test_no_skills_leave_the_sub_agent_no_tool_of_the_host(tmp_path: Path) -> None:
    child = Script(Says(asks=(Asks("specKit", {"action": "list"}),)), "I may not.")
    await Stage(tmp_path, spawn(skills=[]), child=child).say()
    assert shown(child) == set()
    assert child.last.times("not a valid tool") + child.last.times("TOOL_NOT_ALLOWED") == 1


async def test_skills_left_out_restrict_nothing_and_it_may_spawn_in_turn(tmp_path: Path) -> None:
    child, grandchild = Script(spawn(label="grandchild"), "Done below."), Script("Done.")
    stage = Stage(tmp_path, spawn(), child=child, grandchild=grandchild, bounds=SpawnBounds(depth=2))
    await stage.say()
    everything = {"specKit", "opencode-executor", "write", "edit"}
    assert shown(child) == {*everything, "spawn_subagent"}
    assert shown(grandchild) == everything  # the last generation
    assert stage.events.of("spawn.started")[1].conversation.startswith("office-1/")


async def test_no_generation_has_more_than_the_one_above(tmp_path: Path) -> None:
    child, grandchild = Script(spawn(label="grandchild"), "Done below."), Script("Done.")
    stage = Stage(tmp_path, spawn(), child=child, grandchild=grandchild)
    await stage.say(selected_skill_ids=["careful"])
    for script in (stage.script, child, grandchild):
        assert shown(script) == {"specKit", "opencode-executor", "edit", "spawn_subagent"}


async def test_a_sub_agent_that_fails_is_told_and_the_parent_goes_on(tmp_path: Path) -> None:
    failing = Script(Says(fails=ConnectionError("down")))
    said = await Stage(tmp_path, spawn(), "I will do it myself.", child=failing).say()
    assert said[-2:] == [
        "the sub-agent failed with ConnectionError, and its work may be unfinished",
        "I will do it myself.",
    ]


async def test_two_in_one_reply_run_beside_each_other_in_conversations_of_their_own(tmp_path: Path) -> None:
    both = Says(asks=(*spawn(label="one").asks, *spawn(label="two").asks))
    stage = Stage(tmp_path, both, "Both.", one=Script("First."), two=Script("Second."))
    assert (await stage.say())[-3:] == ["First.", "Second.", "Both."]
    assert len({event.payload.spawned for event in stage.events.of("spawn.started")}) == 2


def filing() -> tuple[Says, ...]:
    return (Says(asks=(Asks("write", {"path": "filing.txt", "text": "filed"}),)), Says("It is filed."))


@pytest.mark.parametrize("way", ["awaited", "blocking"])
async def test_a_checkpoint_in_a_sub_agent_pauses_the_parent_and_goes_on_in_a_new_process(
    tmp_path: Path, way: str
) -> None:
    child, other = Script(*filing()), Script("Looked.")
    both = Says(asks=(*spawn(label="other").asks, *spawn(skills=["filing"]).asks))
    stage = Stage(tmp_path, both, "Filed.", child=child, other=other)
    paused = await stage.agent.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD)
    (question,) = paused["__interrupt__"]
    assert question.value["checkpoints"][0]["name"] == "pre_filing"
    assert question.value["conversation"].startswith("office-1/")
    assert "filing.txt" not in files(tmp_path)
    stage.restart()
    reply = Command(resume={"verdict": "approved", "by": "Kim"})
    state = await stage.agent.ainvoke(reply, THREAD) if way == "awaited" else stage.agent.invoke(reply, THREAD)
    assert texts(state)[-3:] == ["Looked.", "It is filed.", "Filed."]
    assert files(tmp_path)["filing.txt"] == "filed"
    assert len(other.sent) == 1
    assert len(child.sent) == 2


async def test_what_a_person_rejects_in_a_sub_agent_is_not_done(tmp_path: Path) -> None:
    child = Script(*filing())
    stage = Stage(tmp_path, spawn(skills=["filing"]), "Well.", child=child)
    await stage.say()
    reply = Command(resume={"verdict": "rejected", "by": "Kim", "note": "too early"})
    assert texts(await stage.agent.ainvoke(reply, THREAD))[-1] == "Well."
    assert child.last.times("rejected") >= 1
    assert "filing.txt" not in files(tmp_path)


def graph_of(node: ToolNode, model: ScriptedChatModel, tools: Sequence[BaseTool], saver: Any) -> Any:
    """A graph of one's own, whose tool node runs all calls of a reply in one step."""
    bound = model.bind_tools(tools)

    async def call(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call)
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=saver)


async def test_a_node_that_runs_again_starts_no_second_sub_agent(tmp_path: Path) -> None:
    child = Script("Done once.")
    stage = Stage(tmp_path, spawn(), "Done.", child=child)

    async def looked_at(request: Any, handler: Any) -> Any:
        answer = await handler(request)
        interrupt("Is the answer good?")
        return answer

    tools = [stage.spawner]
    graph = graph_of(
        ToolNode(tools, awrap_tool_call=looked_at), ScriptedChatModel(script=stage.script), tools, stage.saver
    )
    assert (await graph.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD))["__interrupt__"]
    assert texts(await graph.ainvoke(Command(resume="yes"), THREAD))[-2:] == ["Done once.", "Done."]
    assert len(child.sent) == 1
    assert len({event.id for event in stage.events.of("spawn.started")}) == 1
    assert len(stage.events.of("spawn.started")) == 2


async def test_two_in_one_step_of_a_graph_of_ones_own_are_refused_in_words(tmp_path: Path) -> None:
    both = Says(asks=(*spawn(label="one").asks, *spawn(label="two").asks))
    stage = Stage(tmp_path, both, spawn(label="one"), "Done.", one=Script("First."), two=Script("Second."))
    tools = [stage.spawner]
    graph = graph_of(ToolNode(tools), ScriptedChatModel(script=stage.script), tools, stage.saver)
    said = texts(await graph.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD))
    assert (
        said[2:4]
        == ["the sub-agent is not started: only one at a time can be started here; call spawn_subagent once"] * 2
    )
    assert said[-2:] == ["First.", "Done."]
    assert stage.children["two"].sent == []


async def test_an_agent_of_langchain_spawns_too(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(skills=PAIR, label="coder"), "Done.", coder=Script(*coder()))
    agent = create_agent(
        ScriptedChatModel(script=stage.script), [stage.spawner], middleware=[SkillMiddleware(stage.weaver)]
    )
    state = await agent.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD)
    assert state["messages"][-1].text == "Done."
    assert files(tmp_path)["double.py"] == CODE


async def test_one_model_for_all_refuses_the_choice_of_another_before_anything_starts(tmp_path: Path) -> None:
    stage = Stage(tmp_path, spawn(model="gpt-9"), "Well.")
    model = ScriptedChatModel(script=stage.script)
    spawner = spawn_subagent(model, stage.weaver, stage.tools)
    agent = build_skill_agent(model, stage.weaver, [spawner], checkpointer=stage.saver)
    state = await agent.ainvoke({"messages": [HumanMessage("Please.")]}, THREAD)
    assert texts(state)[-2] == "the sub-agent is not started: `model` cannot be chosen here; leave it out"
    assert stage.events.of("spawn.started") == []


def test_the_tool_is_not_among_the_tools_that_it_hands_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    with pytest.raises(InvalidSpawn, match="spawn_subagent is among the tools"):
        spawn_subagent(stage.model_for, stage.weaver, [*stage.tools, stage.spawner])


CAREFUL = {
    "id": "careful",
    "description": "Works with care.",
    "triggers": ["careful"],
    "text": {"instructions": "Look twice."},
    "tools": {"forbidden": ["write"]},
}


def plain_tool(name: str) -> BaseTool:
    return StructuredTool.from_function(lambda: "done", name=name, description=name)


def leads(weaver: Weaver, plan: SpawnPlan, lead: Script, child: Script) -> dict[str, Any]:
    """Agents that a host makes from a plan, each with the tool that spawns."""
    tools = [plain_tool("write"), plain_tool("look")]
    spawner = spawn_subagent(ScriptedChatModel(script=child), weaver, tools)
    model = ScriptedChatModel(script=lead)
    return {
        "graph": build_skill_agent(model, weaver, [*tools, spawner], plan=plan),
        "history": create_agent(model, [*tools, spawner], middleware=[SkillMiddleware(weaver, plan=plan)]),
        "call": create_agent(
            model, [*tools, spawner], middleware=[SkillMiddleware(weaver, placement=Placement.CALL, plan=plan)]
        ),
    }


@pytest.mark.parametrize("host", ["graph", "history", "call"])
@pytest.mark.parametrize("awaiting", [True, False])
async def test_the_plan_of_a_lead_that_the_host_made_bounds_what_it_spawns(host: str, awaiting: bool) -> None:
    weaver = skillweave.open(CAREFUL)
    plan = await weaver.composition.prepare_spawn(SpawnRequest("Work", ("careful",)))
    assert isinstance(plan, SpawnPlan)
    lead, child = Script(Says(asks=(Asks("spawn_subagent", {"task": "Do it"}),)), "Done."), Script("Done.")
    agent = leads(weaver, plan, lead, child)[host]
    begun: Any = {"messages": [HumanMessage("Begin")]}
    if awaiting:
        await agent.ainvoke(begun)
    else:
        await asyncio.to_thread(agent.invoke, begun)
    assert "look" in shown(child)
    assert "write" not in shown(child)
