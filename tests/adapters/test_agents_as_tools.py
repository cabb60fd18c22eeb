"""A guarded agent that is used as a tool is a sub-agent of its caller, in every framework and across them."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent as FrameworkAgent
from agents import Agent as SdkAgent
from agents import Runner as SdkRunner
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.runners import Runner as AdkRunner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.agent_tool import AgentTool
from google.adk.tools.function_tool import FunctionTool
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import Tool as PydanticTool

from examples.scripted.agent_framework import ScriptedChatClient
from examples.scripted.google_adk import ScriptedLlm
from examples.scripted.langchain import ScriptedChatModel
from examples.scripted.openai_agents import ScriptedModel
from examples.scripted.pydantic_ai import scripted_model
from skillweave import Weaver
from skillweave.adapters.agent_framework import SkillContextProvider
from skillweave.adapters.bridge import CALLER
from skillweave.adapters.google_adk import SkillPlugin
from skillweave.adapters.langchain import SkillMiddleware
from skillweave.adapters.langgraph import build_skill_agent
from skillweave.adapters.openai_agents import Skills as SdkSkills
from skillweave.adapters.pydantic_ai import Skills as PydanticSkills
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, Workshop, weaver_in
from tests.adapters.hosts.agent_framework_agent import function
from tests.adapters.hosts.google_adk_agent import as_adk, said
from tests.adapters.hosts.langchain_agent import as_langchain
from tests.adapters.hosts.openai_agents_agent import UNTRACED, declared
from tests.adapters.hosts.pydantic_ai_agent import as_pydantic

pytestmark = [pytest.mark.asyncio, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

INVOICE = "Is this invoice right?"
ASK = Says(asks=(tool_call("clerk", request="Change the account"),))
ASK_OF_THE_SDK = Says(asks=(tool_call("clerk", input="Change the account"),))
WRITE = Says(asks=(tool_call("write", text="x"),))
Run = Callable[[str], Awaitable[Any]]


class Desk:
    """One agent after the other, each of which has the one below it as its tool; the last has the workshop's tools.

    `scripts` are what the agents' models say, from the top.
    """

    def __init__(self, folder: Path, *scripts: Script) -> None:
        self.weaver: Weaver = weaver_in(folder)
        self.workshop = Workshop()
        self.scripts = scripts

    def pydantic_ai(self) -> Run:
        tools: list[Any] = [as_pydantic(one) for one in self.workshop.tools]
        for level, script in reversed(list(enumerate(self.scripts))):
            skills = PydanticSkills(self.weaver, conversation=f"level-{level}")
            agent: Any = PydanticAgent(scripted_model(script), tools=tools, capabilities=[skills])
            tools = [PydanticTool(_asking(agent.run, "output"), name="clerk")]
        return agent.run  # type: ignore[no-any-return]

    def openai_agents(self) -> Run:
        skills, tools = SdkSkills(self.weaver), [declared(one) for one in self.workshop.tools]
        for level, script in reversed(list(enumerate(self.scripts))):
            bare: Any = SdkAgent(name=f"level-{level}", instructions=BASE, model=ScriptedModel(script), tools=tools)
            agent = skills.agent(bare)
            tools = [agent.as_tool("clerk", "Asks.", run_config=skills.run_config(f"level-{level}", UNTRACED))]
        return lambda text: SdkRunner.run(agent, text, run_config=skills.run_config("level-0", UNTRACED))

    def agent_framework(self) -> Run:
        tools: list[Any] = [function(one) for one in self.workshop.tools]
        for level, script in reversed(list(enumerate(self.scripts))):
            providers = [SkillContextProvider(self.weaver, conversation=f"level-{level}")]
            agent = FrameworkAgent(ScriptedChatClient(script), BASE, tools=tools, context_providers=providers)
            agent.name = f"level-{level}"
            tools = [agent.as_tool(name="clerk", arg_name="request")]
        return agent.run

    def google_adk(self) -> Run:
        tools: list[Any] = [as_adk(one) for one in self.workshop.tools]
        for script in reversed(self.scripts):
            agent = LlmAgent(name="clerk", model=ScriptedLlm(script=script), tools=tools, description="Asks.")
            tools = [AgentTool(agent)]
        app = App(name="office", root_agent=agent, plugins=[SkillPlugin(self.weaver)])
        runner = AdkRunner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

        async def run(text: str) -> list[Any]:
            return [one async for one in runner.run_async(user_id="Ann", session_id="s-1", new_message=said(text))]

        return run

    def langchain(self) -> Run:
        tools: list[Any] = [as_langchain(one) for one in self.workshop.tools]
        for level, script in reversed(list(enumerate(self.scripts))):
            middleware = [SkillMiddleware(self.weaver)]
            agent = create_agent(ScriptedChatModel(script=script), tools, middleware=middleware)
            run = _in_thread(agent, f"level-{level}")
            tools = [StructuredTool.from_function(coroutine=_asking(run, "name"), name="clerk", description="Asks.")]
        return run

    def langgraph(self) -> Run:
        tools: list[Any] = [as_langchain(one) for one in self.workshop.tools]
        for level, script in reversed(list(enumerate(self.scripts))):
            run = _in_thread(build_skill_agent(ScriptedChatModel(script=script), self.weaver, tools), f"level-{level}")
            tools = [StructuredTool.from_function(coroutine=_asking(run, "name"), name="clerk", description="Asks.")]
        return run


def _asking(run: Run, attribute: str) -> Callable[[str], Awaitable[str]]:
    async def clerk(request: str) -> str:
        """Asks the clerk."""
        return str(getattr(await run(request), attribute, ""))

    return clerk


def _in_thread(agent: Any, thread: str) -> Run:
    async def run(text: str) -> Any:
        told = {"messages": [HumanMessage(text)], "conversation_id": thread}
        return (await agent.ainvoke(told))["messages"][-1]

    return run


EACH = pytest.mark.parametrize(
    ("framework", "ask"),
    [
        (Desk.pydantic_ai, ASK),
        (Desk.openai_agents, ASK_OF_THE_SDK),
        (Desk.agent_framework, ASK),
        (Desk.google_adk, ASK),
        (Desk.langchain, ASK),
        (Desk.langgraph, ASK),
    ],
    ids=["pydantic-ai", "openai-agents", "agent-framework", "google-adk", "langchain", "langgraph"],
)


@EACH
async def test_what_the_callers_skills_forbid_is_neither_shown_nor_run(
    tmp_path: Path, framework: Callable[[Desk], Run], ask: Says
) -> None:
    desk = Desk(tmp_path, Script(ask, "It can't."), Script(WRITE, "I can't."))
    await framework(desk)(INVOICE)
    assert "write" not in desk.scripts[1].sent[0].tools
    assert "search" in desk.scripts[1].sent[0].tools
    assert len(desk.scripts[1].sent) == 2
    assert desk.workshop.ran == []


@EACH
async def test_where_no_skill_forbids_it_the_agent_inside_may(
    tmp_path: Path, framework: Callable[[Desk], Run], ask: Says
) -> None:
    desk = Desk(tmp_path, Script(ask, "Done."), Script(WRITE, "Done."))
    await framework(desk)("Hello")
    assert desk.workshop.ran == ["write(x)"]


@EACH
async def test_the_rules_of_an_agent_hold_two_levels_below_it(
    tmp_path: Path, framework: Callable[[Desk], Run], ask: Says
) -> None:
    desk = Desk(tmp_path, Script(ask), Script(ask), Script(WRITE))
    await framework(desk)(INVOICE)
    assert "write" not in desk.scripts[2].sent[0].tools
    assert desk.workshop.ran == []


async def test_an_agent_of_another_framework_inside_a_tool_is_held_too(tmp_path: Path) -> None:
    inner = Desk(tmp_path, Script(WRITE))
    tool = PydanticTool(_asking(inner.openai_agents(), "final_output"), name="clerk")
    skills = PydanticSkills(inner.weaver, conversation="above")
    outer: Any = PydanticAgent(scripted_model(Script(ASK)), tools=[tool], capabilities=[skills])
    await outer.run(INVOICE)
    assert "write" not in inner.scripts[0].sent[0].tools
    assert inner.workshop.ran == []


def _adk(weaver: Weaver, script: Script, tool: Any, name: str) -> Run:
    agent = LlmAgent(name="lead", model=ScriptedLlm(script=script), tools=[tool])
    app = App(name=name, root_agent=agent, plugins=[SkillPlugin(weaver)])
    runner = AdkRunner(app=app, session_service=InMemorySessionService(), auto_create_session=True)

    async def run(text: str) -> list[Any]:
        return [one async for one in runner.run_async(user_id="Ann", session_id="s-1", new_message=said(text))]

    return run


INSIDE_ADK = pytest.mark.parametrize("inner", [Desk.pydantic_ai, Desk.google_adk], ids=["pydantic-ai", "google-adk"])


@INSIDE_ADK
async def test_an_agent_that_a_function_of_an_adk_agent_runs_is_held(
    tmp_path: Path, inner: Callable[[Desk], Run]
) -> None:
    desk = Desk(tmp_path, Script(WRITE))
    await _adk(desk.weaver, Script(ASK), _asking(inner(desk), "output"), "above")(INVOICE)
    assert "write" not in desk.scripts[0].sent[0].tools
    assert desk.workshop.ran == []
    assert CALLER.get() is None


@INSIDE_ADK
async def test_an_agent_tools_caller_holds_what_a_function_inside_it_runs(
    tmp_path: Path, inner: Callable[[Desk], Run]
) -> None:
    desk = Desk(tmp_path, Script(WRITE))
    clerk = FunctionTool(_asking(inner(desk), "output"))
    between = LlmAgent(name="clerk", model=ScriptedLlm(script=Script(ASK)), tools=[clerk], description="Asks.")
    await _adk(desk.weaver, Script(ASK), AgentTool(between), "above")(INVOICE)
    assert "write" not in desk.scripts[0].sent[0].tools
    assert desk.workshop.ran == []
