"""What the adapter for the OpenAI Agents SDK keeps of the host's own agent, and what it refuses."""

import asyncio
import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelProvider,
    ModelSettings,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunState,
    SQLiteSession,
    ToolExecutionConfig,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    WebSearchTool,
    function_tool,
)
from agents.mcp import MCPServer
from agents.run_config import CallModelData, ModelInputData
from mcp import types

import skillweave
from examples.scripted.openai_agents import ScriptedModel
from skillweave import CatalogMode, Settings, SpawnRequest, SqliteStore, Weaver
from skillweave.adapters.openai_agents import Skills
from skillweave.adapters.supported import Unguarded
from skillweave.errors import ApprovalNeeded, InvalidTurn, InvalidVerdict
from skillweave.tools import SpawnPlan
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Asks, Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, FILING_FOR_ALL, INVOICES, NARRATIVE, SKILLS, Workshop
from tests.adapters.hosts.openai_agents_agent import UNTRACED, declared

pytestmark = pytest.mark.asyncio

ROOM = "room-1"
APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "Not today."}
SUBMIT = Says(asks=(tool_call("submit", text="W-1"),))
MORE: tuple[dict[str, Any], ...] = (
    {
        "id": "offline",
        "description": "Works without the web.",
        "triggers": ["offline"],
        "text": {"instructions": "Stay off the web."},
        "tools": {"forbidden": ["web_search", "post"]},
    },
    {
        "id": "careful-search",
        "description": "Asks before it searches the web.",
        "triggers": ["careful"],
        "text": {"instructions": "Ask first."},
        "checkpoints": [{"name": "web", "before": "web_search", "asks": "May it search?", "scope": "conversation"}],
    },
    {
        "id": "deploying",
        "description": "Deploys.",
        "triggers": ["deploy"],
        "text": {"instructions": "Deploy."},
        "checkpoints": [{"name": "production", "before": "run(deploy:*)", "asks": "Really?"}],
    },
)


class Office:
    """An agent in one conversation, its chat in memory."""

    def __init__(self, folder: Path, *says: Says | str, skills: Sequence[Any] = (*SKILLS, *MORE), **agent: Any) -> None:
        self.weaver: Weaver = skillweave.open(
            *skills,
            ledger=SqliteStore(folder / "ledger.db"),
            settings=Settings(catalog=CatalogMode.ALWAYS),
            counter=WordCounter(),
            matchers=("explicit", "triggers"),
        )
        self.script = Script(*says)
        self.workshop = Workshop()
        self.skills = Skills(self.weaver)
        self.tools = {tool.name: declared(tool) for tool in self.workshop.tools}
        self.agent: Agent[Any] = self.skills.agent(self.bare(**agent))

    def bare(self, **agent: Any) -> "Agent[Any]":
        given = {"name": "Office", "instructions": BASE, "model": ScriptedModel(self.script), **agent}
        return Agent(**{"tools": list(self.tools.values()), **given})

    async def run(self, said: Any, agent: Any = None, **named: Any) -> Any:
        config = self.skills.run_config(ROOM, named.pop("base", UNTRACED))
        return await Runner.run(agent or self.agent, said, run_config=config, **named)

    async def paused(self, said: str = "Prepare the filing and submit it") -> "RunState[Any]":
        result = await self.run(said)
        assert len(result.interruptions) > 0
        state: RunState[Any] = result.to_state()
        return state

    async def names(self, state: "RunState[Any]") -> list[str]:
        asked: list[Any] = await self.skills.waiting(state, ROOM)
        return [one["name"] for question in asked for one in question["checkpoints"]]


def changed(tool: FunctionTool, **fields: Any) -> FunctionTool:
    for name, value in fields.items():
        setattr(tool, name, value)
    return tool


async def decided(
    skills: Skills, state: Any, room: str, reply: object, *, asked: Any = None, call_id: str | None = None
) -> Any:
    """The state after the reply to these questions, or to those that wait now."""
    shown = await skills.waiting(state, room) if asked is None else asked
    return await skills.decide(state, room, shown, reply, call_id=call_id)


async def test_instructions_that_the_host_computes_stay_in_front(tmp_path: Path) -> None:
    def instructions(context: RunContextWrapper[str], agent: "Agent[str]") -> str:
        return f"{agent.name} works for {context.context}."

    office = Office(tmp_path, instructions=instructions)
    await office.run("Is this invoice right?", context="Kim")
    assert office.script.last.system.startswith("Office works for Kim.\n\n")
    assert office.script.last.times(INVOICES) == 1


async def test_an_agent_without_instructions_is_given_skills_alone(tmp_path: Path) -> None:
    office = Office(tmp_path, instructions=None)
    await office.run("Is this invoice right?")
    assert office.script.last.times(INVOICES) == 1
    assert not office.script.last.system.startswith("\n")


async def test_the_hosts_agent_itself_is_left_as_it_is(tmp_path: Path) -> None:
    office = Office(tmp_path)
    bare = office.bare()
    skilled = office.skills.agent(bare)
    assert [tool.name for tool in bare.tools] == list(office.tools)
    assert len(skilled.tools) == len(bare.tools) + 4
    assert office.tools["search"].tool_input_guardrails is None
    assert isinstance(bare.model, ScriptedModel)


async def test_an_agent_with_skills_is_not_given_them_twice(tmp_path: Path) -> None:
    office = Office(tmp_path)
    assert office.skills.agent(office.agent) is office.agent


async def test_a_tool_with_the_name_of_one_of_ours_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path)

    @function_tool
    async def read_skill() -> str:
        return "mine"

    with pytest.raises(InvalidTurn, match="agent 'Mine' has a tool 'read_skill', as skillweave has"):
        office.skills.agent(Agent(name="Mine", tools=[read_skill]))


async def test_a_servers_tool_with_the_name_of_one_of_ours_is_refused(tmp_path: Path) -> None:
    server = PostOffice("read_skill")
    office = Office(tmp_path, Says(asks=(tool_call("read_skill", text="x"),)), mcp_servers=[server])
    with pytest.raises(InvalidTurn, match="a tool is named 'read_skill', as skillweave's own"):
        await office.run("Is this invoice right?", office.agent.clone(tools=[]))
    assert server.posted == []


async def test_the_model_of_an_agent_with_skills_can_be_the_runs(tmp_path: Path) -> None:
    office = Office(tmp_path)
    await office.run("Is this invoice right?", base=RunConfig(tracing_disabled=True, model=office.agent.model))
    assert office.script.last.times(INVOICES) == 1


async def test_a_copy_with_another_model_and_other_tools_is_woven_and_judged_too(tmp_path: Path) -> None:
    office = Office(tmp_path)
    script = Script(Says(asks=(tool_call("write", text="x"),)))
    copied = office.agent.clone(model=ScriptedModel(script), tools=[office.tools["write"]])
    await office.run("Is this invoice right?", copied)
    assert script.last.times(INVOICES) == 1
    assert script.last.times_in_messages("TOOL_FORBIDDEN") == 1
    assert office.workshop.ran == []


async def test_a_tool_that_the_host_switched_off_stays_off(tmp_path: Path) -> None:
    office = Office(tmp_path)
    changed(office.tools["search"], is_enabled=lambda context, agent: False)
    await office.run("Hello")
    assert "search" not in office.script.last.tools
    assert "write" in office.script.last.tools


async def test_the_hosts_guardrails_still_judge_what_may_run(tmp_path: Path) -> None:
    seen: list[str] = []

    def no_secrets(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        seen.append(data.context.tool_name)
        return ToolGuardrailFunctionOutput.reject_content("No secrets.")

    calls = Says(asks=(tool_call("search", text="key"), tool_call("write", text="key")))
    office = Office(tmp_path, calls)
    for name in ("search", "write"):
        changed(office.tools[name], tool_input_guardrails=[ToolInputGuardrail(no_secrets)])
    await office.run("Is this invoice right?")
    assert seen == ["search"]
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("No secrets.") == 1


async def test_what_the_host_asks_before_is_left_to_the_host(tmp_path: Path) -> None:
    office = Office(tmp_path, Says(asks=(tool_call("search", text="x"),)))
    changed(office.tools["search"], needs_approval=True)
    state = await office.paused("Hello")
    assert await office.skills.waiting(state, ROOM) == []
    await decided(office.skills, state, ROOM, APPROVED)
    assert (await office.run(state)).interruptions
    state.approve(state.get_interruptions()[0])
    await office.run(state)
    assert office.workshop.ran == ["search(x)"]


async def test_a_rule_of_the_host_about_a_tool_behind_a_decided_checkpoint_still_holds(tmp_path: Path) -> None:
    async def second(context: object, arguments: dict[str, Any], call_id: str) -> bool:
        return arguments["text"] == "W-2"

    two = Says(asks=(tool_call("submit", "one", text="W-1"), tool_call("submit", "two", text="W-2")))
    office = Office(tmp_path, SUBMIT, "Done.", two, skills=[FILING_FOR_ALL])
    changed(office.tools["submit"], needs_approval=second)
    state = await decided(office.skills, await office.paused(), ROOM, APPROVED)
    await office.run(state)
    result = await office.run("Submit both")
    assert [item.call_id for item in result.interruptions] == ["two"]
    assert office.workshop.ran == ["submit(W-1)", "submit(W-1)"]


async def always(context: object, arguments: dict[str, Any], call_id: str) -> bool:
    return True


@pytest.mark.parametrize(("rule", "asked"), [(always, 1), (True, 1), (False, 0)])
async def test_a_rule_of_the_host_is_asked_beside_an_open_checkpoint(tmp_path: Path, rule: Any, asked: int) -> None:
    async def run(command: str) -> str:
        return command

    office = Office(tmp_path, Says(asks=(Asks("run", {"command": "ls"}),)))
    tool = function_tool(run, needs_approval=rule)
    result = await office.run("Please deploy", office.skills.agent(office.bare(tools=[tool])))
    assert len(result.interruptions) == asked


async def test_a_call_that_a_checkpoint_does_not_mean_runs_with_its_defaults(tmp_path: Path) -> None:
    ran: list[str] = []

    async def run(command: str, times: int = 1) -> str:
        ran.append(f"{command} {times}")
        return "ok"

    office = Office(
        tmp_path, Says(asks=(Asks("run", {"command": "ls"}),)), Says(asks=(Asks("run", {"command": "deploy x"}),))
    )
    agent = office.skills.agent(office.bare(tools=[function_tool(run, strict_mode=False)]))
    result = await office.run("Please deploy", agent)
    assert ran == ["ls 1"]
    state = result.to_state()
    assert await office.names(state) == ["production"]
    await office.run(await decided(office.skills, state, ROOM, APPROVED), agent)
    assert ran == ["ls 1", "deploy x 1"]


@pytest.mark.parametrize("tool", ["search", "read_skill"])
async def test_arguments_that_are_no_json_are_answered_in_words(tmp_path: Path, tool: str) -> None:
    office = Office(tmp_path, Broken(tool, '{"text": '), "Sorry.")
    office.agent = office.skills.agent(office.bare(model=BrokenModel(office.script)))
    result = await office.run("Look it up")
    assert result.final_output == "Sorry."
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages(f"the arguments of this call of '{tool}' are not JSON") == 1


async def test_arguments_that_are_no_json_do_not_pass_a_checkpoint_whoever_approves(tmp_path: Path) -> None:
    office = Office(tmp_path, Broken("submit", '{"text": '), "Sorry.")
    office.agent = office.skills.agent(office.bare(model=BrokenModel(office.script)))
    state = await office.paused()
    (asked,) = await office.skills.waiting(state, ROOM)
    assert "are not JSON" in str(asked["problem"])
    await office.run(await decided(office.skills, state, ROOM, APPROVED))
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("are not JSON") == 1


async def test_parallel_conversations_on_one_agent_do_not_mix(tmp_path: Path) -> None:
    office = Office(tmp_path)

    async def ask(number: int) -> None:
        said = "Is this invoice right?" if number % 2 else "Hello"
        call = Says(asks=(tool_call("write", text=str(number)),))
        agent = office.agent.clone(model=ScriptedModel(Script(call)))
        await Runner.run(agent, said, run_config=office.skills.run_config(f"room-{number}", UNTRACED))

    await asyncio.gather(*(ask(number) for number in range(8)))
    assert sorted(office.workshop.ran) == [f"write({number})" for number in range(0, 8, 2)]


async def test_an_agent_that_is_handed_to_goes_on_with_the_conversations_skills(tmp_path: Path) -> None:
    office = Office(
        tmp_path, Says(asks=(tool_call("transfer_to_billing"),)), Says(asks=(tool_call("write", text="x"),))
    )
    billing = office.skills.agent(office.bare(name="Billing", instructions="You are billing."))
    triage = office.skills.agent(office.bare(name="Triage", handoffs=[billing]))
    result = await office.run("Is this invoice right?", triage)
    assert result.last_agent is billing
    assert office.script.last.system.startswith("You are billing.\n\n")
    assert office.script.last.times(INVOICES) == 1
    assert office.workshop.ran == []


async def test_an_agent_without_skills_that_is_handed_to_is_left_alone_where_the_host_says_so(tmp_path: Path) -> None:
    office = Office(tmp_path, Says(asks=(tool_call("transfer_to_plain"),)), Says(asks=(tool_call("write", text="x"),)))
    plain = office.bare(name="Plain", instructions="You are plain.", model="a-name")
    office.skills = Skills(office.weaver, unguarded=Unguarded.ALLOW)
    triage = office.skills.agent(office.bare(name="Triage", handoffs=[plain]))
    base = RunConfig(tracing_disabled=True, model_provider=Provider(office.script))
    await office.run("Is this invoice right?", triage, base=base)
    assert office.script.last.system == "You are plain."
    assert office.workshop.ran == ["write(x)"]


async def test_a_checkpoint_before_the_model_acts_raises_until_it_is_decided(tmp_path: Path) -> None:
    office = Office(tmp_path)
    with pytest.raises(ApprovalNeeded, match="good_cause_review"):
        await office.run("Write the narrative")
    assert office.script.sent == []
    await office.weaver.approvals.decide(ROOM, "narrative", "good_cause_review", "approved", by="Ann Lee")
    await office.run("Write the narrative")
    assert office.script.last.times(NARRATIVE) == 1


async def test_a_run_without_its_configuration_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path)
    with pytest.raises(InvalidTurn, match=r"agent 'Office' names no conversation; run it with run_config="):
        await Runner.run(office.agent, "Hello", run_config=UNTRACED)
    assert office.script.sent == []


async def test_no_tool_runs_where_the_run_names_no_conversation(tmp_path: Path) -> None:
    office = Office(tmp_path, Says(asks=(tool_call("search", text="x"),)), model="a-name")
    config = RunConfig(tracing_disabled=True, model_provider=Provider(office.script))
    with pytest.raises(Exception, match="names no conversation"):
        await Runner.run(office.agent, "Hello", run_config=config)
    assert office.workshop.ran == []


@pytest.mark.parametrize("conversation", ["", None, 7])
async def test_a_conversation_without_an_id_is_refused(tmp_path: Path, conversation: Any) -> None:
    with pytest.raises(InvalidTurn, match="give the session that keeps it, or an id"):
        Office(tmp_path).skills.run_config(conversation)


async def test_a_session_names_its_conversation(tmp_path: Path) -> None:
    office, session = Office(tmp_path), SQLiteSession("room-9")
    config = office.skills.run_config(session, UNTRACED)
    await Runner.run(office.agent, "Is this invoice right?", session=session, run_config=config)
    session.close()
    assert [one.skill_id for one in (await office.weaver.ledger.state("room-9")).engaged] == ["invoice-checking"]


async def test_a_conversation_that_the_provider_keeps_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path)
    with pytest.raises(InvalidTurn, match="keep it in a session"):
        await office.run("Hello", conversation_id="conv_1")


async def test_guardrails_before_approval_are_refused(tmp_path: Path) -> None:
    early = RunConfig(tool_execution=ToolExecutionConfig(pre_approval_tool_input_guardrails=True))
    with pytest.raises(InvalidTurn, match="pre_approval_tool_input_guardrails"):
        Office(tmp_path).skills.run_config(ROOM, early)


@pytest.mark.parametrize("named", [{"model": "a-name"}, {}])
async def test_a_model_that_is_named_is_woven_whoever_names_it(tmp_path: Path, named: dict[str, Any]) -> None:
    office = Office(tmp_path, model=None if named else "a-name")
    base = RunConfig(tracing_disabled=True, model_provider=Provider(office.script), **named)
    await office.run("Is this invoice right?", base=base)
    assert office.script.last.times(INVOICES) == 1


async def test_a_model_of_the_runs_configuration_is_woven(tmp_path: Path) -> None:
    office, script = Office(tmp_path), Script()
    await office.run("Is this invoice right?", base=RunConfig(tracing_disabled=True, model=ScriptedModel(script)))
    assert script.last.times(INVOICES) == 1
    assert office.script.sent == []


async def test_the_hosts_filter_comes_first(tmp_path: Path) -> None:
    def shorten(data: CallModelData[Any]) -> ModelInputData:
        return ModelInputData([{"role": "user", "content": "Hello"}], f"{data.model_data.instructions} Be brief.")

    office = Office(tmp_path)
    base = RunConfig(tracing_disabled=True, call_model_input_filter=shorten)
    await office.run("Is this invoice right?", base=base)
    assert office.script.last.system.startswith(f"{BASE} Be brief.\n\n")
    assert office.script.last.times(INVOICES) == 0


async def test_a_tool_that_runs_at_the_provider_is_hidden_while_it_is_forbidden(tmp_path: Path) -> None:
    office = Office(tmp_path, tools=[WebSearchTool()])
    await office.run("Hello")
    assert "web_search" in office.script.last.tools
    await office.run("Work offline")
    assert "web_search" not in office.script.last.tools


async def test_a_tool_that_runs_at_the_provider_is_hidden_until_its_checkpoint_is_decided(tmp_path: Path) -> None:
    office = Office(tmp_path, tools=[WebSearchTool()])
    await office.run("Be careful")
    assert "web_search" not in office.script.last.tools
    await office.weaver.approvals.decide(ROOM, "careful-search", "web", "approved", by="Ann Lee")
    await office.run("Be careful")
    assert "web_search" in office.script.last.tools


async def test_tools_of_an_mcp_server_are_hidden_and_blocked(tmp_path: Path) -> None:
    server = PostOffice()
    post = Says(asks=(tool_call("post", text="x"),))
    office = Office(tmp_path, post, "Posted.", post, tools=[], mcp_servers=[server])
    await office.run("Hello")
    assert server.posted == ["x"]
    assert "post" in office.script.last.tools
    await office.run("Work offline")
    assert server.posted == ["x"]
    assert "post" not in office.script.last.tools
    assert office.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


async def test_a_checkpoint_of_a_skill_that_this_very_message_brings_pauses(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    assert await office.names(state) == ["pre_filing"]
    assert office.workshop.ran == []


async def test_a_checkpoint_of_a_skill_that_the_model_has_just_loaded_pauses(tmp_path: Path) -> None:
    load = tool_call("read_skill", skill_id="filing")
    office = Office(tmp_path, Says(asks=(load,)), SUBMIT)
    state = await office.paused("Hello")
    assert await office.names(state) == ["pre_filing"]


async def test_a_streamed_run_pauses_and_goes_on(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT, "Submitted.")
    config = office.skills.run_config(ROOM, UNTRACED)
    result = Runner.run_streamed(office.agent, "Prepare the filing and submit it", run_config=config)
    async for _ in result.stream_events():
        pass
    assert len(result.interruptions) == 1
    state = await decided(office.skills, result.to_state(), ROOM, APPROVED)
    result = Runner.run_streamed(office.agent, state, run_config=config)
    async for _ in result.stream_events():
        pass
    assert (result.final_output, office.workshop.ran) == ("Submitted.", ["submit(W-1)"])


async def test_a_stream_that_is_left_early_closes_the_models_own(tmp_path: Path) -> None:
    model = Lasting(Script("One two three."))
    woven: Any = Office(tmp_path, model=model).skills.run_config(ROOM, RunConfig(model=model)).model
    stream = woven.stream_response(None, "Hello", ModelSettings(), [])
    assert (await anext(stream)).delta == "One"
    await stream.aclose()
    assert model.left == 1


async def test_an_agent_that_is_a_tool_has_a_conversation_of_its_own(tmp_path: Path) -> None:
    inner = Script(Says(asks=(tool_call("write", text="x"),)), "Checked.")
    office = Office(tmp_path, Says(asks=(tool_call("check", input="Is this invoice right?"),)), "Done.")
    checker = office.skills.agent(office.bare(name="Checker", model=ScriptedModel(inner)))
    as_tool = checker.as_tool("check", "Checks.", run_config=office.skills.run_config(f"{ROOM}/check", UNTRACED))
    await office.run("Hello", office.skills.agent(office.bare(tools=[as_tool])))
    assert inner.last.times(INVOICES) == 1
    assert office.script.last.times(INVOICES) == 0
    assert office.workshop.ran == []


async def test_a_sub_agent_has_the_skills_and_the_limits_of_its_plan(tmp_path: Path) -> None:
    office = Office(tmp_path)
    request = SpawnRequest("Check it", skills=["invoice-checking"])
    plan = await office.weaver.composition.prepare_spawn(request, parent=ROOM, tools=list(office.tools))
    assert isinstance(plan, SpawnPlan)
    skills, script = Skills(office.weaver, plan=plan), Script(Says(asks=(tool_call("write", text="x"),)))
    agent = skills.agent(office.bare(model=ScriptedModel(script)))
    await Runner.run(agent, "Go", run_config=skills.run_config(plan.conversation, UNTRACED))
    assert script.sent[0].times(INVOICES) == 1
    assert "write" not in script.sent[0].tools
    assert office.workshop.ran == []
    with pytest.raises(InvalidTurn, match=f"belongs to conversation '{plan.conversation}'"):
        skills.run_config(ROOM)


async def planned(office: Office) -> SpawnPlan:
    plan = await office.weaver.composition.prepare_spawn(SpawnRequest("Check it"), parent=ROOM, tools=["search"])
    assert isinstance(plan, SpawnPlan)
    return plan


async def test_an_agent_with_skills_that_becomes_a_sub_agent_has_the_limits_of_its_plan(tmp_path: Path) -> None:
    office = Office(tmp_path, Says(asks=(tool_call("submit", text="x"),)))
    plan = await planned(office)
    skills = Skills(office.weaver, plan=plan)
    await Runner.run(skills.agent(office.agent), "Go", run_config=skills.run_config(plan.conversation, UNTRACED))
    assert [name for name in office.script.sent[0].tools if name in office.tools] == ["search"]
    assert len(office.script.sent[0].tools) == 5
    assert office.workshop.ran == []


@pytest.mark.parametrize("skilled", [True, False])
async def test_a_sub_agent_hands_to_no_agent_without_its_limits(tmp_path: Path, skilled: bool) -> None:
    office = Office(
        tmp_path, Says(asks=(tool_call("transfer_to_billing"),)), Says(asks=(tool_call("submit", text="x"),))
    )
    plan = await planned(office)
    skills = Skills(office.weaver, plan=plan, unguarded=Unguarded.ALLOW)
    billing = office.bare(name="Billing")
    agent = skills.agent(office.bare(handoffs=[office.skills.agent(billing) if skilled else billing]))
    with pytest.raises(InvalidTurn, match="agent 'Billing' and this run are not of one sub-agent"):
        await Runner.run(agent, "Go", run_config=skills.run_config(plan.conversation, UNTRACED))
    assert office.workshop.ran == []


async def test_a_sub_agents_run_can_be_configured_as_its_parents(tmp_path: Path) -> None:
    office = Office(tmp_path)
    plan = await planned(office)
    skills = Skills(office.weaver, plan=plan)
    config = skills.run_config(plan.conversation, office.skills.run_config(ROOM, UNTRACED))
    await Runner.run(skills.agent(office.bare()), "Is this invoice right?", run_config=config)
    assert (await office.weaver.ledger.state(ROOM)).engaged == ()
    assert (await office.weaver.ledger.state(plan.conversation)).engaged != ()


async def test_a_reply_that_is_none_settles_nothing(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    with pytest.raises(InvalidVerdict):
        await decided(office.skills, state, ROOM, {"verdict": "yes"})
    assert await office.names(state) == ["pre_filing"]
    assert (await office.run(state)).interruptions


async def test_a_decision_is_settled_again_after_a_crash(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT, "Submitted.")
    kept = json.dumps((await office.paused()).to_json())
    lost: RunState[Any] = await RunState.from_json(office.agent, json.loads(kept))
    await decided(office.skills, lost, ROOM, APPROVED)
    state: RunState[Any] = await RunState.from_json(office.agent, json.loads(kept))
    result = await office.run(await decided(office.skills, state, ROOM, APPROVED))
    assert result.final_output == "Submitted."
    assert office.workshop.ran == ["submit(W-1)"]


async def test_a_decision_about_a_tool_of_an_mcp_server_is_settled_again_after_a_crash(tmp_path: Path) -> None:
    server = PostOffice()
    mailing = {
        "id": "mailing",
        "description": "d",
        "triggers": ["mail"],
        "checkpoints": [{"name": "p", "before": "post"}],
    }
    skills = Skills(skillweave.open(mailing, counter=WordCounter(), matchers=("triggers",)))
    script = Script(Says(asks=(tool_call("post", text="x"),)))
    agent = skills.agent(Agent(name="Office", model=ScriptedModel(script), mcp_servers=[server]))
    config = skills.run_config(ROOM, UNTRACED)
    kept = (await Runner.run(agent, "Mail it", run_config=config)).to_state().to_json()
    for _ in range(2):
        state: RunState[Any] = await RunState.from_json(agent, kept)
        await decided(skills, state, ROOM, APPROVED)
    await Runner.run(agent, state, run_config=config)
    assert server.posted == ["x"]


async def test_a_reply_about_a_text_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    kept = (await office.paused()).to_json()
    asked: Any = await office.skills.waiting(await RunState.from_json(office.agent, kept), ROOM)
    changed_skill = {**SKILLS[2], "text": {"instructions": "Submit whatever there is."}}
    later = Skills(skillweave.open(changed_skill, ledger=SqliteStore(tmp_path / "ledger.db"), counter=WordCounter()))
    state: RunState[Any] = await RunState.from_json(later.agent(office.bare()), kept)
    with pytest.raises(InvalidVerdict, match="filing"):
        await decided(later, state, ROOM, APPROVED, asked=asked)
    assert (await office.weaver.ledger.state(ROOM)).approvals == ()
    asked = await later.waiting(state, ROOM)
    await decided(later, state, ROOM, APPROVED, asked=asked)
    assert len((await office.weaver.ledger.state(ROOM)).approvals) == 1


async def test_a_reply_is_about_the_calls_that_were_asked_about(tmp_path: Path) -> None:
    two = (tool_call("submit", "a", text="W-1"), tool_call("run", "b", command="deploy x"))
    office = Office(tmp_path, Says(asks=two))

    async def run(command: str) -> str:
        raise AssertionError(command)

    office.agent = office.skills.agent(office.bare(tools=[office.tools["submit"], function_tool(run)]))
    state = await office.paused("Prepare the filing, and deploy")
    asked: Any = [one for one in await office.skills.waiting(state, ROOM) if "'a'" in str(one)]
    result = await office.run(await decided(office.skills, state, ROOM, APPROVED, asked=asked))
    assert office.workshop.ran == ["submit(W-1)"]
    assert [item.call_id for item in result.interruptions] == ["b"]


async def test_a_question_of_another_conversation_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    asked: Any = [{**one, "conversation": "room-2"} for one in await office.skills.waiting(state, ROOM)]
    with pytest.raises(InvalidVerdict, match="conversation 'room-2' is none of 'room-1'"):
        await decided(office.skills, state, ROOM, APPROVED, asked=asked)


@pytest.mark.parametrize("damage", [{"call": None}, {"checkpoints": [{"name": "pre_filing"}]}])
async def test_a_question_that_was_not_kept_whole_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    asked: Any = [{**one, **damage} for one in await office.skills.waiting(state, ROOM)]
    with pytest.raises(InvalidVerdict, match="this question is"):
        await decided(office.skills, state, ROOM, APPROVED, asked=asked)


async def test_an_id_that_no_waiting_call_has_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    with pytest.raises(InvalidVerdict, match="no call 'other' waits here; it is one of call-1"):
        await decided(office.skills, state, ROOM, APPROVED, call_id="other")
    assert (await office.weaver.ledger.state(ROOM)).approvals == ()


async def test_a_call_of_a_nested_agent_is_decided_in_its_own_conversation(tmp_path: Path) -> None:
    inner, room = Script(SUBMIT), f"{ROOM}/check"
    office = Office(tmp_path, Says(asks=(tool_call("check", input="Prepare the filing and submit it"),)))
    checker = office.skills.agent(office.bare(name="Checker", model=ScriptedModel(inner)))
    as_tool = checker.as_tool("check", "Checks.", run_config=office.skills.run_config(room, UNTRACED))
    office.agent = office.skills.agent(office.bare(tools=[as_tool]))
    state = await office.paused("Hello")
    assert await office.skills.waiting(state, ROOM) == []
    await decided(office.skills, state, ROOM, APPROVED)
    assert (await office.run(state)).interruptions
    await office.run(await decided(office.skills, state, room, APPROVED))
    assert office.workshop.ran == ["submit(W-1)"]
    assert len((await office.weaver.ledger.state(room)).approvals) == 1


async def test_an_approval_that_nobody_gave_a_name_to_does_not_run_the_call(tmp_path: Path) -> None:
    office = Office(tmp_path, SUBMIT)
    state = await office.paused()
    state.approve(state.get_interruptions()[0])
    await office.run(state)
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("waits for a person's approval") == 1


async def test_a_decision_can_be_about_one_call(tmp_path: Path) -> None:
    both = (tool_call("submit", "a", text="W-1"), tool_call("run", "b", command="deploy x"))
    office = Office(tmp_path, Says(asks=both), "Done.")
    ran: list[str] = []

    async def run(command: str) -> str:
        ran.append(command)
        return "ok"

    office.agent = office.skills.agent(office.bare(tools=[office.tools["submit"], function_tool(run)]))
    state = await office.paused("Prepare the filing, and deploy")
    assert sorted(await office.names(state)) == ["pre_filing", "production"]
    await decided(office.skills, state, ROOM, REJECTED, call_id="a")
    await decided(office.skills, state, ROOM, APPROVED, call_id="b")
    assert (await office.run(state)).final_output == "Done."
    assert (office.workshop.ran, ran) == ([], ["deploy x"])
    kept = (await office.weaver.ledger.state(ROOM)).approvals
    assert {one.checkpoint: one.verdict.value for one in kept} == {"pre_filing": "rejected", "production": "approved"}


async def test_a_model_keeps_what_the_sdk_asks_of_it(tmp_path: Path) -> None:
    model = Lasting(Script())
    office = Office(tmp_path, model=model)
    await office.run("Hello")
    assert model.cleaned == 1
    woven: Any = office.agent.model
    assert copy.copy(woven).extra == "extra"
    await woven.close()
    assert (model.closed, woven.extra, woven.get_retry_advice("request")) == (1, "extra", "advice")


class Lasting(ScriptedModel):
    """A model with connections."""

    extra = "extra"

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.closed = self.cleaned = self.left = 0

    async def stream_response(self, *args: Any, **named: Any) -> Any:
        try:
            async for event in super().stream_response(*args, **named):
                yield event
        finally:
            self.left += 1

    def get_retry_advice(self, request: Any) -> Any:
        return "advice"

    async def close(self) -> None:
        self.closed += 1

    async def _cleanup_on_run_end(self, owner: object) -> None:
        self.cleaned += 1


def Broken(tool: str, arguments: str) -> Says:  # noqa: N802 - stands beside Says
    """A call whose arguments are not JSON."""
    return Says(asks=(Asks(tool, {"": arguments}),))


class BrokenModel(ScriptedModel):
    """A model that writes the arguments of such calls as they are."""

    async def get_response(self, *args: Any, **named: Any) -> Any:
        response = await super().get_response(*args, **named)
        for item in response.output:
            if item.type == "function_call":
                item.arguments = json.loads(item.arguments)[""]
        return response


class Provider(ModelProvider):
    """Gives the scripted model for any name."""

    def __init__(self, script: Script) -> None:
        self.script = script

    def get_model(self, model_name: str | None) -> Model:
        return ScriptedModel(self.script)


class PostOffice(MCPServer):
    """A server with one tool, in this process."""

    def __init__(self, tool: str = "post") -> None:
        super().__init__()
        self.tool = tool
        self.posted: list[str] = []

    @property
    def name(self) -> str:
        return "post-office"

    async def connect(self) -> None:
        pass

    async def cleanup(self) -> None:
        pass

    async def list_tools(self, run_context: Any = None, agent: Any = None) -> list[types.Tool]:
        schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return [types.Tool(name=self.tool, inputSchema=schema)]

    async def call_tool(self, tool_name: str, arguments: Any, meta: Any = None) -> types.CallToolResult:
        self.posted.append(arguments["text"])
        return types.CallToolResult(content=[types.TextContent(type="text", text="posted")])

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


async def test_an_argument_that_the_tool_does_not_have_is_refused(tmp_path: Path) -> None:
    office = Office(tmp_path, Says(asks=(tool_call("search", text="x", command="ls"),)), "I see.")
    await office.run("Hello")
    assert office.workshop.ran == []
    assert office.script.last.times_in_messages("`command`") >= 1
