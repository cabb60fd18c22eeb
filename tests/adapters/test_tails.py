"""Where the tail stands in each host: as whose words, behind which cache marker, and where it cannot be."""

import json
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent as FrameworkAgent
from agent_framework import InMemoryHistoryProvider
from agents import Agent as OpenAiAgent
from agents import RunConfig, Runner
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile

from examples.scripted.agent_framework import ScriptedChatClient
from examples.scripted.langchain import ScriptedChatModel
from examples.scripted.openai_agents import ScriptedModel
from examples.scripted.pydantic_ai import scripted_model
from skillweave import Settings, Weaver
from skillweave.adapters.agent_framework import SkillContextProvider
from skillweave.adapters.langchain import SkillMiddleware, Speaker
from skillweave.adapters.langchain_core import with_tail
from skillweave.adapters.openai_agents import Skills as OpenAiSkills
from skillweave.adapters.pydantic_ai import Skills as PydanticSkills
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, Workshop, plain_weaver_in
from tests.adapters.hosts.agent_framework_agent import function
from tests.adapters.hosts.crowd import CROWD, OffersForms
from tests.adapters.hosts.langchain_agent import as_langchain
from tests.adapters.hosts.pydantic_ai_agent import as_pydantic
from tests.adapters.hosts.tails import OVERVIEW, QUESTION, tail_in

SEARCH = Says(asks=(tool_call("search", text="Brandt"),))
MARKER = {"type": "ephemeral"}


@pytest.fixture
def weaver(tmp_path: Path) -> Weaver:
    return plain_weaver_in(tmp_path, CROWD, Settings(), [OffersForms()])


@pytest.fixture
def script() -> Script:
    """A model that searches once, then answers."""
    return Script(SEARCH, "Quite a lot.")


class TestLangChain:
    def test_the_tail_is_a_message_of_its_own_in_the_words_of_the_speaker(self) -> None:
        chat = [HumanMessage("Hi")]
        assert with_tail(chat, "TAIL") == [*chat, HumanMessage("TAIL")]
        assert with_tail(chat, "TAIL", Speaker.SYSTEM) == [*chat, SystemMessage("TAIL")]
        assert with_tail(chat, "") == chat

    @pytest.mark.parametrize("last", [HumanMessage("Hi"), ToolMessage("42", tool_call_id="a")])
    def test_anthropics_cache_marker_stands_in_front_of_the_tail(self, last: BaseMessage) -> None:
        *_, marked, tail = with_tail([HumanMessage("Hello"), last], "TAIL", marker=MARKER)
        assert marked.content == [{"type": "text", "text": last.content, "cache_control": MARKER}]
        assert tail == HumanMessage("TAIL")

    def test_a_marker_of_the_hosts_own_stays(self) -> None:
        mine = {"type": "ephemeral", "ttl": "1h"}
        last = HumanMessage([{"type": "text", "text": "Hi", "cache_control": mine}])
        assert with_tail([last], "TAIL", marker=MARKER)[0] == last

    def test_behind_the_models_own_words_nothing_is_marked(self) -> None:
        said = AIMessage("Let me see.")
        assert with_tail([said], "TAIL", marker=MARKER)[0] == said

    def test_the_middleware_takes_the_marker_from_the_call(self, weaver: Weaver, script: Script) -> None:
        self._say(weaver, script, ScriptedChatModel(script=script), Caches())
        [first, second] = script.sent
        assert "cache_control" in first.messages[-2]
        assert QUESTION in first.messages[-2]
        assert "cache_control" in second.messages[-2]
        assert "search did Brandt" in second.messages[-2]
        assert tail_in(first) == tail_in(second) != ""

    def test_a_service_that_keeps_what_it_is_sent_is_sent_the_tail_once(self, weaver: Weaver, script: Script) -> None:
        self._say(weaver, script, KeptByService(script=script))
        assert [bool(tail_in(sent)) for sent in script.sent] == [True, False]

    def _say(
        self, weaver: Weaver, script: Script, model: ScriptedChatModel, *others: AgentMiddleware[Any, Any, Any]
    ) -> None:
        tools = [as_langchain(tool) for tool in Workshop().tools]
        agent: Any = create_agent(model, tools, middleware=[*others, SkillMiddleware(weaver)])
        agent.invoke({"messages": [HumanMessage(QUESTION)]}, {"configurable": {"thread_id": "t"}})


class Caches(AgentMiddleware[Any, Any, Any]):
    """Sets what the middleware for Anthropic's cache sets in each call."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={**request.model_settings, "cache_control": MARKER}))


class KeptByService(ScriptedChatModel):
    """A model whose service keeps the chat, by the name that OpenAI's has for it."""

    use_previous_response_id: bool = True

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def bind(self, **kwargs: Any) -> Any:
        return self


class TestAgentFramework:
    async def test_the_tail_is_a_message_of_the_user(self, weaver: Weaver, script: Script) -> None:
        await self._say(weaver, script)
        assert [tail_in(sent) for sent in script.sent] == [tail_in(script.last)] * 2
        assert '"role": "user"' in script.last.messages[-1]

    async def test_a_service_that_keeps_the_history_is_sent_the_tail_once(self, weaver: Weaver, script: Script) -> None:
        await self._say(weaver, script, client=Keeping)
        assert [bool(tail_in(sent)) for sent in script.sent] == [True, False]

    async def test_where_each_call_is_written_into_the_history_there_is_no_tail(
        self, weaver: Weaver, script: Script
    ) -> None:
        session = await self._say(weaver, script, require_per_service_call_history_persistence=True)
        assert [tail_in(sent) for sent in script.sent] == ["", ""]
        assert OVERVIEW not in str(session.to_dict())

    async def _say(
        self, weaver: Weaver, script: Script, client: type[ScriptedChatClient] = ScriptedChatClient, **agent: Any
    ) -> Any:
        tools = [function(tool) for tool in Workshop().tools]
        providers: list[Any] = [InMemoryHistoryProvider("chat"), SkillContextProvider(weaver)]
        made: Any = FrameworkAgent(client(script), BASE, tools=tools, context_providers=providers, **agent)
        session = made.create_session(session_id="office-1")
        await made.run(QUESTION, session=session)
        return session


class Keeping(ScriptedChatClient):
    """A service that keeps the history: each reply says in which conversation it stands."""

    async def _replied(self, *sent: Any) -> Any:
        response = await super()._replied(*sent)
        response.conversation_id = "conversation-1"
        return response


class TestOpenAiAgents:
    async def test_the_tail_is_the_last_item_of_the_calls_input(self, weaver: Weaver) -> None:
        script = Script("Quite a lot.")
        skills = OpenAiSkills(weaver)
        agent = skills.agent(OpenAiAgent(name="Office", instructions=BASE, model=ScriptedModel(script)))
        config = skills.run_config("office-1", RunConfig(tracing_disabled=True))
        result = await Runner.run(agent, QUESTION, run_config=config)
        assert [json.loads(item)["role"] for item in script.last.messages] == ["user", "user"]
        assert json.loads(script.last.messages[-1])["content"] == tail_in(script.last)
        assert OVERVIEW not in str(result.to_input_list())


class TestPydanticAi:
    @pytest.mark.parametrize("inline", [True, False])
    async def test_the_tail_is_the_users_words_and_leaves_the_instructions_as_they_are(
        self, weaver: Weaver, script: Script, inline: bool
    ) -> None:
        await self._say(weaver, script, profile=ModelProfile(supports_inline_system_prompts=inline))
        assert '"part_kind": "user-prompt"' in script.last.messages[-1]
        assert tail_in(script.last).startswith(OVERVIEW)
        assert [sent.system for sent in script.sent] == [BASE, BASE]

    @pytest.mark.parametrize(
        ("settings", "ttl"),
        [
            ({"anthropic_cache": True}, "5m"),
            ({"bedrock_cache_messages": "1h"}, "1h"),
            ({"cache": "12h"}, "1h"),
            ({"cache": {}}, "5m"),
            ({"cache": {"retention": "1h"}}, "1h"),
        ],
    )
    async def test_where_the_conversation_is_cached_a_cache_point_stands_in_front(
        self, weaver: Weaver, script: Script, settings: Any, ttl: str
    ) -> None:
        await self._say(weaver, script, model_settings=settings)
        point, tail = json.loads(script.last.messages[-1])["content"]
        assert (point, tail) == ({"kind": "cache-point", "ttl": ttl}, tail_in(script.last))

    @pytest.mark.parametrize(
        "settings",
        [{}, {"cache": False}, {"cache": {"messages": False}}, {"anthropic_cache": False, "cache": True}],
    )
    async def test_where_it_is_not_cached_there_is_none(self, weaver: Weaver, script: Script, settings: Any) -> None:
        await self._say(weaver, script, model_settings=settings)
        assert json.loads(script.last.messages[-1])["content"] == [tail_in(script.last)]

    async def test_the_messages_of_the_run_do_not_have_it(self, weaver: Weaver, script: Script) -> None:
        result = await self._say(weaver, script)
        assert tail_in(script.last)
        assert OVERVIEW not in result.all_messages_json().decode()

    @pytest.mark.parametrize("setting", ["openai_previous_response_id", "openai_conversation_id"])
    async def test_a_service_that_keeps_what_it_is_sent_is_sent_the_tail_once(
        self, weaver: Weaver, script: Script, setting: str
    ) -> None:
        settings: Any = {setting: "auto"}
        await self._say(weaver, script, model_settings=settings)
        assert [bool(tail_in(sent)) for sent in script.sent] == [True, False]

    async def _say(self, weaver: Weaver, script: Script, profile: ModelProfile | None = None, **agent: Any) -> Any:
        model: Any = scripted_model(script)
        if profile is not None:
            model = FunctionModel(model.function, stream_function=model.stream_function, profile=profile)
        tools = [as_pydantic(tool) for tool in Workshop().tools]
        made = PydanticAgent(model, instructions=BASE, tools=tools, capabilities=[PydanticSkills(weaver)], **agent)
        return await made.run(QUESTION, conversation_id="office-1")
