"""An agent of each framework over its real client classes, as people write one; without a weaver it is a bare one.

Each keeps its conversation in a folder, and one that is made again with the same folder goes on as in a new process.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from skillweave import Placement, Weaver
from skillweave_testing.hosts import Tool
from skillweave_testing.hosts.play import BASE, CONVERSATION
from tests.recording.server import KEY

MODEL = "gpt-5-mini"
CLAUDE = "claude-sonnet-5"


class Clients:
    """The SDKs' own clients of the recording server at an address, which are closed with it."""

    def __init__(self, address: str) -> None:
        self.openai_url, self.anthropic_url = f"{address}/v1", address
        self.openai = AsyncOpenAI(base_url=self.openai_url, api_key=KEY, max_retries=0)
        self.anthropic = AsyncAnthropic(base_url=self.anthropic_url, api_key=KEY, max_retries=0)

    @cached_property
    def google(self) -> Any:
        """Google's client, which takes a second to import."""
        from google.genai import Client
        from google.genai.types import HttpOptions

        return Client(api_key=KEY, http_options=HttpOptions(base_url=self.anthropic_url))

    async def close(self) -> None:
        """Close what was opened."""
        if "google" in vars(self):
            await self.google.aio.aclose()
            self.google.close()
        await self.openai.close()
        await self.anthropic.close()


class WireAgent(ABC):
    """One conversation; `waiting` says whether the last run paused before a call."""

    waiting = False

    @abstractmethod
    async def say(self, text: str) -> str:
        """One message of the user, and as many calls of the model as it takes."""

    @abstractmethod
    async def resume(self, reply: Mapping[str, object]) -> str:
        """Go on after a person's reply about the calls that wait."""


Made = Callable[[Clients, "Weaver | None", Sequence[Tool], Path], WireAgent]
"""Makes an agent, with skills or bare."""


class _Threads(WireAgent):
    """An agent over LangGraph: its threads are in a file of checkpoints."""

    def __init__(self, folder: Path, made: Callable[[Any], Any]) -> None:
        self._file = str(folder / "threads.db")
        self._made = made

    async def say(self, text: str) -> str:
        return await self._run({"messages": [{"role": "user", "content": text}]})

    async def resume(self, reply: Mapping[str, object]) -> str:
        from langgraph.types import Command

        return await self._run(Command(resume=reply))

    async def _run(self, given: Any) -> str:
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        thread: Any = {"configurable": {"thread_id": CONVERSATION}}
        async with AsyncSqliteSaver.from_conn_string(self._file) as saver:
            agent = self._made(saver)
            left = await agent.ainvoke(given, thread)
            self.waiting = bool((await agent.aget_state(thread)).interrupts)
        return str(left["messages"][-1].text)


def _chat_openai(clients: Clients, **more: Any) -> Any:
    from langchain_openai import ChatOpenAI

    # Its own clients are kept for good, with connections that no test could close.
    own = {"root_async_client": clients.openai, "async_client": clients.openai.chat.completions}
    return ChatOpenAI(model=MODEL, base_url=clients.openai_url, api_key=KEY, max_retries=0, **own, **more)


def _responses(clients: Clients) -> Any:
    return _chat_openai(clients, use_responses_api=True)


def _chat_anthropic(clients: Clients) -> Any:
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model=CLAUDE, base_url=clients.anthropic_url, api_key=KEY, max_retries=0, max_tokens=1000)
    vars(model)["_async_client"] = clients.anthropic
    return model


def _as_langchain(tool: Tool) -> Any:
    from langchain_core.tools import StructuredTool

    def run(text: str) -> str:
        return tool.run(text)

    return StructuredTool.from_function(run, name=tool.name, description=tool.description)


def langchain(model: Callable[[Clients], Any], placement: Placement = Placement.HISTORY) -> Made:
    """An agent of `create_agent`."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        from langchain.agents import create_agent

        from skillweave.adapters.langchain import SkillMiddleware

        client, functions = model(clients), [_as_langchain(tool) for tool in tools]
        middleware = [SkillMiddleware(weaver, placement=placement)] if weaver else []
        return _Threads(
            folder,
            lambda saver: create_agent(
                client, functions, system_prompt=BASE, middleware=middleware, checkpointer=saver
            ),
        )

    return made


def langgraph(model: Callable[[Clients], Any]) -> Made:
    """The ready graph; bare, an agent of `create_agent`."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        from skillweave.adapters.langgraph import build_skill_agent

        if weaver is None:
            return langchain(model)(clients, None, tools, folder)
        client, functions = model(clients), [_as_langchain(tool) for tool in tools]
        return _Threads(
            folder,
            lambda saver: build_skill_agent(
                client, weaver, functions, system_prompt=BASE, matchers=None, checkpointer=saver
            ),
        )

    return made


class _Pydantic(WireAgent):
    def __init__(self, model: Any, weaver: Weaver | None, tools: Sequence[Tool], file: Path) -> None:
        from pydantic_ai import Agent, DeferredToolRequests

        from skillweave.adapters.pydantic_ai import Skills

        self._weaver = weaver
        self._agent: Any = Agent(
            model,
            instructions=BASE,
            tools=[_as_pydantic(tool) for tool in tools],
            output_type=[str, DeferredToolRequests],
            capabilities=[Skills(weaver)] if weaver else [],
        )
        self._file = file

    async def say(self, text: str) -> str:
        return self._kept(await self._agent.run(text, conversation=self._read()))

    async def resume(self, reply: Mapping[str, object]) -> str:
        from skillweave.adapters.pydantic_ai import approvals

        kept = self._read()
        results = await approvals(self._weaver, kept.deferred_tool_requests, reply)  # type: ignore[arg-type]
        return self._kept(await self._agent.run(conversation=kept, deferred_tool_results=results))

    def _read(self) -> Any:
        from pydantic_ai.conversation import Conversation, ConversationTypeAdapter

        if not self._file.exists():
            return Conversation(conversation_id=CONVERSATION)
        return ConversationTypeAdapter.validate_json(self._file.read_bytes())

    def _kept(self, result: Any) -> str:
        from pydantic_ai.conversation import ConversationTypeAdapter

        self._file.write_bytes(ConversationTypeAdapter.dump_json(result.conversation))
        self.waiting = not isinstance(result.output, str)
        return "" if self.waiting else result.output


def _as_pydantic(tool: Tool) -> Any:
    from pydantic_ai import Tool as PydanticTool

    def run(text: str) -> str:
        return tool.run(text)

    return PydanticTool(run, name=tool.name, description=tool.description)


def pydantic_ai(model: Callable[[Clients], Any]) -> Made:
    """An agent whose conversation is handed from run to run."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        return _Pydantic(model(clients), weaver, tools, folder / "conversation.json")

    return made


def _pydantic_openai(kind: str) -> Callable[[Clients], Any]:
    def model(clients: Clients) -> Any:
        from pydantic_ai.models import openai
        from pydantic_ai.providers.openai import OpenAIProvider

        return getattr(openai, kind)(MODEL, provider=OpenAIProvider(openai_client=clients.openai))

    return model


def _pydantic_anthropic(clients: Clients) -> Any:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    # With as many tokens as the model has, the SDK wants the reply in pieces, which the server does not give.
    settings: Any = {"max_tokens": 1000}
    return AnthropicModel(CLAUDE, provider=AnthropicProvider(anthropic_client=clients.anthropic), settings=settings)


class _OpenAiAgent(WireAgent):
    def __init__(self, model: Any, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> None:
        from agents import Agent

        from skillweave.adapters.openai_agents import Skills

        bare = Agent(name="Office", instructions=BASE, model=model, tools=[_as_function(tool) for tool in tools])
        self._skills: Any = Skills(weaver) if weaver else None
        self._agent = self._skills.agent(bare) if weaver else bare
        self._chat, self._paused = folder / "chat.db", folder / "paused.json"

    async def say(self, text: str) -> str:
        return await self._run(text)

    async def resume(self, reply: Mapping[str, object]) -> str:
        from agents import RunState

        kept = json.loads(self._paused.read_text("utf-8"))
        state: RunState[Any] = await RunState.from_json(self._agent, kept["state"])
        with closing(self._session()) as session:
            await self._skills.decide(state, session, kept["asked"], reply)
        return await self._run(state)

    def _session(self) -> Any:
        from agents import SQLiteSession

        return SQLiteSession(CONVERSATION, self._chat)

    async def _run(self, said: Any) -> str:
        from agents import RunConfig, Runner

        config = RunConfig(tracing_disabled=True)
        with closing(self._session()) as session:
            if self._skills:
                config = self._skills.run_config(session, config)
            result = await Runner.run(self._agent, said, session=session, run_config=config)
            self.waiting = bool(result.interruptions)
            if self.waiting:
                state = result.to_state()
                asked = await self._skills.waiting(state, session)
                self._paused.write_text(json.dumps({"state": state.to_json(), "asked": asked}), "utf-8")
        return str(result.final_output or "")


def _as_function(tool: Tool) -> Any:
    from agents import function_tool

    async def run(text: str) -> str:
        return tool.run(text)

    return function_tool(run, name_override=tool.name, description_override=tool.description)


def openai_agents(kind: str) -> Made:
    """An agent with a session in a file."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        import agents

        return _OpenAiAgent(getattr(agents, kind)(MODEL, clients.openai), weaver, tools, folder)

    return made


class _FrameworkAgent(WireAgent):
    def __init__(
        self, client: Any, weaver: Weaver | None, tools: Sequence[Tool], folder: Path, placement: Placement
    ) -> None:
        from agent_framework import Agent, AgentSession, Content

        from skillweave.adapters.agent_framework import SkillContextProvider

        providers = [SkillContextProvider(weaver, placement=placement)] if weaver else []
        functions = [_as_framework_tool(tool) for tool in tools]
        self._agent = Agent(client, BASE, tools=functions, context_providers=providers)
        self._file = folder / "session.json"
        if self._file.exists():
            kept = json.loads(self._file.read_text("utf-8"))
            self._session = AgentSession.from_dict(kept["session"])
            self._requests = [Content.from_dict(request) for request in kept["requests"]]
        else:
            self._session, self._requests = self._agent.create_session(session_id=CONVERSATION), []

    async def say(self, text: str) -> str:
        return await self._run(text)

    async def resume(self, reply: Mapping[str, object]) -> str:
        from agent_framework import Message

        from skillweave.adapters.agent_framework import reply_to

        return await self._run(Message("user", [reply_to(request, reply) for request in self._requests]))

    async def _run(self, said: Any) -> str:
        response = await self._agent.run(said, session=self._session)
        self._requests = response.user_input_requests
        self.waiting = bool(self._requests)
        kept = {"session": self._session.to_dict(), "requests": [one.to_dict() for one in self._requests]}
        self._file.write_text(json.dumps(kept), "utf-8")
        return str(response.text)


def _as_framework_tool(tool: Tool) -> Any:
    from agent_framework import FunctionTool

    def call(text: str) -> str:
        return tool.run(text)

    return FunctionTool(name=tool.name, description=tool.description, func=call)


def agent_framework(kind: str, placement: Placement = Placement.CALL) -> Made:
    """An agent with a session that is written down after each run."""

    def made(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
        import agent_framework_openai

        client = getattr(agent_framework_openai, kind)(MODEL, async_client=clients.openai)
        return _FrameworkAgent(client, weaver, tools, folder, placement)

    return made


class _AdkAgent(WireAgent):
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def say(self, text: str) -> str:
        before = dict(self._inner.asked())
        words: str = await self._inner.say(text)
        # The framework keeps a question among its events that the chat went on over.
        self.waiting = bool(dict(self._inner.asked()).keys() - before.keys())
        return words

    async def resume(self, reply: Mapping[str, object]) -> str:
        latest = list(dict(self._inner.asked()).values())[-1]
        words: str = await self._inner.resume({**reply, "call": latest["payload"]["call"]["id"]})
        return words


def google_adk(clients: Clients, weaver: Weaver | None, tools: Sequence[Tool], folder: Path) -> WireAgent:
    """An agent whose session is written down after each run."""
    from google.adk.agents import LlmAgent
    from google.adk.models import Gemini
    from google.adk.plugins.base_plugin import BasePlugin

    from skillweave.adapters.google_adk import SkillPlugin
    from tests.adapters.hosts.google_adk_agent import GoogleAdkAgent, as_adk

    class Agent(GoogleAdkAgent):
        def __init__(self) -> None:
            model = Gemini(model="gemini-2.5-flash", client=clients.google)
            functions: list[Any] = [as_adk(tool) for tool in tools]
            self.agent = LlmAgent(name="Office", model=model, instruction=BASE, tools=functions)
            own = SkillPlugin(weaver, conversation=lambda context: CONVERSATION) if weaver else BasePlugin("none")
            self.plugin: Any = own
            self.file = folder / "session.json"
            self.before, self.said = [], ""

    return _AdkAgent(Agent())


FRAMEWORKS: Mapping[str, Made] = {
    "langgraph, chat completions": langgraph(_chat_openai),
    "langgraph, responses": langgraph(_responses),
    "langgraph, anthropic": langgraph(_chat_anthropic),
    "langchain, chat completions": langchain(_chat_openai),
    "langchain, responses": langchain(_responses),
    "langchain, anthropic": langchain(_chat_anthropic),
    "langchain in the call, chat completions": langchain(_chat_openai, Placement.CALL),
    "pydantic_ai, chat completions": pydantic_ai(_pydantic_openai("OpenAIChatModel")),
    "pydantic_ai, responses": pydantic_ai(_pydantic_openai("OpenAIResponsesModel")),
    "pydantic_ai, anthropic": pydantic_ai(_pydantic_anthropic),
    "openai_agents, chat completions": openai_agents("OpenAIChatCompletionsModel"),
    "openai_agents, responses": openai_agents("OpenAIResponsesModel"),
    "agent_framework, chat completions": agent_framework("OpenAIChatCompletionClient"),
    "agent_framework, responses": agent_framework("OpenAIChatClient"),
    "agent_framework in the history, chat completions": agent_framework(
        "OpenAIChatCompletionClient", Placement.HISTORY
    ),
    "google_adk, gemini": google_adk,
}
