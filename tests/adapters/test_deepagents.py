"""Sub-agents of deepagents, and agents inside tools of LangChain: guarded each by a middleware, or refused."""

from pathlib import Path
from typing import Any

import pytest
from deepagents import create_deep_agent
from deepagents.middleware.subagents import GENERAL_PURPOSE_SUBAGENT
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from examples.scripted.langchain import ScriptedChatModel
from skillweave import Weaver
from skillweave.adapters.langchain import SkillMiddleware
from skillweave.adapters.langgraph import build_skill_agent, spawn_subagent
from skillweave.adapters.supported import Unguarded
from skillweave.errors import UnguardedAgent
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import FILING, GREETINGS, INVOICES, Workshop
from tests.adapters.graphs import BOTH, opened, said, thread
from tests.adapters.hosts.langchain_agent import as_langchain
from tests.recording.server import KEY, RecordingServer

INVOICE = "Is this invoice right?"
APPROVED = {"verdict": "approved", "by": "Ann Lee"}
DELEGATE = Says(asks=(tool_call("task", "t", description="Change the account", subagent_type="general-purpose"),))
WRITE = Says(asks=(tool_call("write", "w", text="DE99"),))
SUBMIT = Says(asks=(tool_call("submit", "s", text="W-1"),))


def deep(weaver: Weaver, script: Script, workshop: Workshop, saver: Any = None, **options: Any) -> Any:
    """A deep agent whose only sub-agent is guarded, unless `subagents` says otherwise."""
    options.setdefault("subagents", [{**GENERAL_PURPOSE_SUBAGENT, "middleware": [SkillMiddleware(weaver)]}])
    unguarded = options.pop("unguarded", Unguarded.REFUSE)
    return create_deep_agent(
        ScriptedChatModel(script=script),
        [as_langchain(one) for one in workshop.tools],
        middleware=[SkillMiddleware(weaver, unguarded=unguarded)],
        checkpointer=saver or InMemorySaver(),
        **options,
    )


def answers(result: Any) -> dict[str, str]:
    return {one.tool_call_id: one.text for one in result["messages"] if isinstance(one, ToolMessage)}


@pytest.mark.parametrize("subagents", [[], [{**GENERAL_PURPOSE_SUBAGENT, "tools": []}]])
def test_a_sub_agent_without_a_guard_is_refused_by_its_name_before_the_model_is_called(subagents: Any) -> None:
    script = Script()
    agent = deep(opened(matchers=BOTH), script, Workshop(), subagents=subagents)
    with pytest.raises(UnguardedAgent, match=r"'general-purpose' \(a sub-agent that the tool 'task' starts\)") as found:
        agent.invoke(said(INVOICE), thread())
    assert "SkillMiddleware of its own" in found.value.way_out
    assert script.sent == []


def test_one_of_several_without_a_guard_is_enough() -> None:
    weaver = opened()
    guarded: Any = {**GENERAL_PURPOSE_SUBAGENT, "middleware": [SkillMiddleware(weaver)]}
    free: Any = {"name": "typist", "description": "Types.", "system_prompt": "Type."}
    with pytest.raises(UnguardedAgent, match="'typist'"):
        deep(weaver, Script(), Workshop(), subagents=[guarded, free]).invoke(said("Hello"), thread())


def test_a_host_may_allow_sub_agents_without_a_guard() -> None:
    workshop, script = Workshop(), Script(DELEGATE, WRITE, "Changed.", "It is done.")
    agent = deep(opened(matchers=BOTH), script, workshop, subagents=[], unguarded="allow")
    assert agent.invoke(said(INVOICE), thread())["messages"][-1].text == "It is done."
    assert workshop.ran == ["write(DE99)"]


def test_a_guarded_sub_agent_may_not_do_what_is_forbidden_to_its_caller() -> None:
    workshop, script = Workshop(), Script(DELEGATE, WRITE, "I can't.", "It can't.")
    result = deep(opened(matchers=BOTH), script, workshop).invoke(said(INVOICE), thread())
    assert workshop.ran == []
    assert "write" not in script.sent[1].tools
    assert script.sent[2].times_in_messages("TOOL_") == 1
    assert answers(result)["t"] == "I can't."


async def test_the_same_holds_in_an_awaited_run() -> None:
    workshop, script = Workshop(), Script(DELEGATE, WRITE, "I can't.", "It can't.")
    result = await deep(opened(matchers=BOTH), script, workshop).ainvoke(said(INVOICE), thread())
    assert workshop.ran == []
    assert answers(result)["t"] == "I can't."


def test_a_sub_agent_has_a_conversation_of_its_own_below_its_callers() -> None:
    weaver, script = opened(matchers=BOTH), Script()
    script.then(Says(asks=(tool_call("task", "t", description="Say bonjour", subagent_type="general-purpose"),)))
    deep(weaver, script, Workshop()).invoke(said(INVOICE), thread())
    assert [one.skill_id for one in weaver.sync.ledger.state("t1").engaged] == ["invoice-checking"]
    (below,) = (name for name in conversations(weaver) if name != "t1")
    assert below.startswith("t1/")
    assert [one.skill_id for one in weaver.sync.ledger.state(below).engaged] == ["greetings"]


def test_the_same_holds_where_the_state_names_the_callers_conversation() -> None:
    weaver, script = opened(matchers=BOTH), Script()
    script.then(Says(asks=(tool_call("task", "t", description="Say bonjour", subagent_type="general-purpose"),)))
    deep(weaver, script, Workshop()).invoke(said(INVOICE, conversation_id="case-7"), thread())
    (below,) = (name for name in conversations(weaver) if name != "case-7")
    assert below.startswith("case-7/")


def conversations(weaver: Weaver) -> list[str]:
    return list(weaver.sync.run(weaver.ledger.store.conversations()))


def test_a_sub_agents_skills_are_given_to_it_and_its_caller_keeps_its_own() -> None:
    weaver, script = opened(matchers=BOTH), Script()
    script.then(Says(asks=(tool_call("task", "t", description="Say bonjour", subagent_type="general-purpose"),)))
    agent = deep(weaver, script, Workshop())
    agent.invoke(said(INVOICE), thread())
    agent.invoke(said("Go on"), thread())
    assert [sent.times(GREETINGS) for sent in script.sent] == [0, 1, 0, 0]
    assert [sent.times(INVOICES) for sent in script.sent] == [1, 0, 1, 1]


def test_sub_agents_that_run_side_by_side_do_not_mix() -> None:
    weaver, script, workshop = opened(matchers=BOTH), Script(otherwise="Done."), Workshop()
    asks = [
        tool_call("task", f"t{n}", description=f"Say bonjour to {n}", subagent_type="general-purpose") for n in range(3)
    ]
    script.then(Says(asks=tuple(asks)))
    deep(weaver, script, workshop).invoke(said(INVOICE), thread())
    below = [name for name in conversations(weaver) if name != "t1"]
    assert len(below) == 3
    assert [sent.times(GREETINGS) for sent in script.sent[1:4]] == [1, 1, 1]


def test_a_checkpoint_inside_a_sub_agent_pauses_both_and_goes_on_in_another_process(tmp_path: Path) -> None:
    workshop, script = Workshop(), Script()
    ask = tool_call("task", "t", description="Prepare the filing", subagent_type="general-purpose")
    script.then(Says(asks=(ask,)), SUBMIT)

    def run(given: Any) -> Any:
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
            weaver = opened(matchers=BOTH, ledger=tmp_path / "ledger.db")
            return deep(weaver, script, workshop, saver).invoke(given, thread())

    (stop,) = run(said("Please file it"))["__interrupt__"]
    assert stop.value["call"]["tool"] == "submit"
    assert stop.value["conversation"].startswith("t1/")
    assert script.last.times(FILING) == 1
    script.then("Submitted.", "It is filed.")
    assert run(Command(resume=APPROVED))["messages"][-1].text == "It is filed."
    assert workshop.ran == ["submit(W-1)"]


def test_a_chat_goes_on_over_a_pause_inside_a_sub_agent() -> None:
    workshop, script = Workshop(), Script()
    ask = tool_call("task", "t", description="Prepare the filing", subagent_type="general-purpose")
    script.then(Says(asks=(ask,)), SUBMIT)
    agent = deep(opened(matchers=BOTH), script, workshop)
    assert "__interrupt__" in agent.invoke(said("Please file it"), thread())
    script.then("I am here.")
    result = agent.invoke(said("Are you there?"), thread())
    assert result["messages"][-1].text == "I am here."
    assert set(answers(result)) == {"t"}
    assert workshop.ran == []


@pytest.mark.parametrize("client", ["completions", "responses", "anthropic"])
def test_every_provider_takes_what_a_deep_agent_with_a_sub_agent_and_a_pause_sends(client: str) -> None:
    script, workshop, weaver = Script(DELEGATE, WRITE, "I can't.", "It can't."), Workshop(), opened(matchers=BOTH)
    with RecordingServer(script) as server:
        model: Any = ChatOpenAI(
            model="gpt-5", base_url=server.openai, api_key=KEY, use_responses_api=client == "responses", max_retries=0
        )
        if client == "anthropic":
            model = ChatAnthropic(model_name="claude-sonnet-5", base_url=server.anthropic, api_key=KEY, max_retries=0)
        agent: Any = create_deep_agent(
            model,
            [as_langchain(one) for one in workshop.tools],
            middleware=[SkillMiddleware(weaver)],
            subagents=[{**GENERAL_PURPOSE_SUBAGENT, "middleware": [SkillMiddleware(weaver)]}],
            checkpointer=InMemorySaver(),
        )
        agent.invoke(said(INVOICE), thread())
        script.then(SUBMIT)
        assert "__interrupt__" in agent.invoke(said("Prepare the filing"), thread())
        script.then("I am here.")
        assert agent.invoke(said("Are you there?"), thread())["messages"][-1].text == "I am here."
        assert server.refusals == []
    assert workshop.ran == []


# Agents inside tools that a host writes itself


def office(weaver: Weaver, script: Script, inner: BaseTool, **options: Any) -> Any:
    middleware = [SkillMiddleware(weaver, **options)]
    return create_agent(ScriptedChatModel(script=script), [inner], middleware=middleware, checkpointer=InMemorySaver())


def asking(agent: Any) -> BaseTool:
    @tool
    def ask_typist(text: str) -> str:
        """Asks the typist."""
        return str(agent.invoke({"messages": [HumanMessage(text)]})["messages"][-1].text)

    return ask_typist


ASK = Says(asks=(tool_call("ask_typist", "a", text="Change the account"),))


def test_an_unguarded_agent_that_a_tool_refers_to_is_refused() -> None:
    inner = create_agent(ScriptedChatModel(script=Script()), [as_langchain(one) for one in Workshop().tools])
    with pytest.raises(UnguardedAgent, match="'ask_typist'"):
        office(opened(), Script(), asking(inner)).invoke(said("Hello"), thread())


def test_the_ready_agent_refuses_it_when_it_is_made() -> None:
    inner = create_agent(ScriptedChatModel(script=Script()), [as_langchain(one) for one in Workshop().tools])
    with pytest.raises(UnguardedAgent, match="'ask_typist'"):
        build_skill_agent(ScriptedChatModel(script=Script()), opened(), [asking(inner)])
    build_skill_agent(ScriptedChatModel(script=Script()), opened(), [asking(inner)], unguarded=Unguarded.ALLOW)


def test_a_tool_that_spawns_refuses_it_among_the_tools_of_its_sub_agents() -> None:
    inner = create_agent(ScriptedChatModel(script=Script()), [as_langchain(one) for one in Workshop().tools])
    model = ScriptedChatModel(script=Script())
    with pytest.raises(UnguardedAgent, match="'ask_typist'"):
        spawn_subagent(model, opened(), [asking(inner)])
    spawn_subagent(model, opened(), [asking(inner)], unguarded=Unguarded.ALLOW)


def test_an_agent_without_tools_needs_no_guard() -> None:
    inner = create_agent(ScriptedChatModel(script=Script("Typed.")), [])
    script = Script(ASK, "Done.")
    assert office(opened(), script, asking(inner)).invoke(said("Hello"), thread())["messages"][-1].text == "Done."


@pytest.mark.parametrize("ready", [True, False])
def test_a_guarded_agent_inside_a_tool_is_held_to_its_callers_rules(ready: bool) -> None:
    weaver, workshop = opened(matchers=BOTH), Workshop()
    tools = [as_langchain(one) for one in workshop.tools]
    below, script = Script(WRITE, "I can't."), Script(ASK, "It can't.")
    model = ScriptedChatModel(script=below)
    inner: Any = create_agent(model, tools, middleware=[SkillMiddleware(weaver)])
    if ready:
        inner = build_skill_agent(model, weaver, tools, matchers=None)
    office(weaver, script, asking(inner)).invoke(said(INVOICE), thread())
    assert workshop.ran == []
    assert "write" not in below.sent[0].tools
    assert [name.partition("/")[0] for name in conversations(weaver)] == ["t1", "t1"]


def test_a_conversation_that_the_inner_run_names_itself_is_its_own() -> None:
    weaver, workshop = opened(matchers=BOTH), Workshop()
    tools = [as_langchain(one) for one in workshop.tools]
    below = Script(WRITE, "I can't.")
    inner: Any = create_agent(ScriptedChatModel(script=below), tools, middleware=[SkillMiddleware(weaver)])

    @tool
    def ask_typist(text: str) -> str:
        """Asks the typist."""
        given = {"messages": [HumanMessage("Say bonjour")], "conversation_id": "typist-1"}
        return str(inner.invoke(given)["messages"][-1].text)

    office(weaver, Script(ASK), ask_typist).invoke(said(INVOICE), thread())
    assert sorted(conversations(weaver)) == ["t1", "typist-1"]
    assert workshop.ran == []
