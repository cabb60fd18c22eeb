"""The clients that can be wrapped: async ones, both HTTP packages, frameworks that take a client, and those refused."""

import json
import subprocess
import sys

import httpx
import httpx2
import pytest
from anthropic import AnthropicBedrock, AsyncAnthropic
from openai import AsyncAzureOpenAI, AsyncOpenAI, OpenAI

import skillweave
from skillweave.errors import InvalidValue
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import GREETINGS
from tests.exchange.conftest import weaver_of
from tests.recording.server import KEY, RecordingServer

SAID = [{"role": "user", "content": "Say bonjour to Alice"}]
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}]


def test_an_async_client_of_openai_streams_through_a_hidden_round(server: RecordingServer) -> None:
    import asyncio

    server.script.then(Says("One.", (tool_call("read_skill", skill_id="filing"),)), "Two.")

    async def run() -> list[str]:
        async with skillweave.wrap(AsyncOpenAI(base_url=server.openai, api_key=KEY), weaver_of()) as client:
            assert type(client) is AsyncOpenAI
            said = await client.chat.completions.create(model="m", messages=SAID, tools=TOOLS, stream=True)
            return [chunk.choices[0].delta.content or "" async for chunk in said if chunk.choices]

    assert "".join(asyncio.run(run())) == "One.\n\nTwo."
    assert server.script.last.times_in_messages(GREETINGS) == 1


async def test_an_async_client_of_anthropic_answers_at_once_and_streamed(server: RecordingServer) -> None:
    async with skillweave.wrap(AsyncAnthropic(base_url=server.anthropic, api_key=KEY), weaver_of()) as client:
        reply = await client.messages.create(model="m", max_tokens=9, messages=SAID)
        async with client.messages.stream(model="m", max_tokens=9, messages=SAID) as events:
            assert (await events.get_final_text()) == reply.content[0].text
    assert server.script.last.times_in_messages(GREETINGS) == 1


async def test_azures_paths_are_known(server: RecordingServer) -> None:
    made = AsyncAzureOpenAI(azure_endpoint=server.anthropic, api_key=KEY, api_version="v", max_retries=0)
    async with skillweave.wrap(made, weaver_of()) as client:
        with pytest.raises(Exception, match="404"):
            await client.chat.completions.create(model="m", messages=SAID)
        assert skillweave.wrapped(client).last.skills == ("greetings",)


@pytest.mark.parametrize("family", [httpx, httpx2])
def test_an_http_client_of_either_package_goes_through(server: RecordingServer, family: object) -> None:
    with skillweave.http_client(weaver_of(), client=family.Client()) as client:  # type: ignore[attr-defined]
        url, body = f"{server.openai}/chat/completions", {"model": "m", "messages": SAID}
        plain = client.post(url, json=body, headers={"X-Skillweave-Conversation": "c1"})
        assert plain.json()["choices"][0]["message"]["content"] == "All right."
        with client.stream("POST", url, json={**body, "stream": True}) as streamed:
            assert "All rig" in streamed.read().decode()
    assert plain.headers["x-skillweave-conversation"] == "c1"
    assert not [name for name in server.requests[0].headers if name.startswith("x-skillweave")]


async def test_an_async_http_client_goes_through(server: RecordingServer) -> None:
    async with skillweave.http_client(weaver_of(), client=httpx.AsyncClient()) as client:
        url, body = f"{server.openai}/chat/completions", {"model": "m", "messages": SAID}
        assert (await client.post(url, json=body)).json()["choices"]
    assert server.script.last.times_in_messages(GREETINGS) == 1


def test_langchains_model_takes_the_client(server: RecordingServer) -> None:
    from langchain_openai import ChatOpenAI

    with skillweave.http_client(weaver_of()) as client:
        model = ChatOpenAI(model="m", base_url=server.openai, api_key=KEY, http_client=client)
        assert model.invoke("Say bonjour to Alice").content == "All right."
    assert server.script.last.times_in_messages(GREETINGS) == 1


def test_what_cannot_be_wrapped_is_refused_by_name() -> None:
    with pytest.raises(InvalidValue, match="openai or anthropic"):
        skillweave.wrap(object(), weaver_of())
    with pytest.raises(InvalidValue, match="AnthropicBedrock calls its models in a form that is not served"):
        skillweave.wrap(AnthropicBedrock(aws_region="x", api_key="k"), weaver_of())
    with pytest.raises(InvalidValue, match="was not wrapped"):
        skillweave.wrapped(OpenAI(api_key=KEY))


def test_an_id_can_be_required(server: RecordingServer) -> None:
    client = skillweave.wrap(
        OpenAI(base_url=server.openai, api_key=KEY, max_retries=0), weaver_of(), require_conversation=True
    )
    with pytest.raises(Exception, match="X-Skillweave-Conversation"):
        client.chat.completions.create(model="m", messages=SAID)
    with skillweave.conversation("c1"):
        client.chat.completions.create(model="m", messages=SAID)
    assert len(server.requests) == 1
    client.close()


def test_importing_and_wrapping_needs_nothing_but_the_sdk() -> None:
    code = (
        "import sys; import skillweave; from openai import OpenAI; "
        "skillweave.wrap(OpenAI(api_key='k'), {'id': 'a', 'description': 'b', 'instructions': 'c'}); "
        "unwanted = {'httpx', 'fastapi', 'starlette', 'anthropic', 'langchain'} & set(sys.modules); "
        "import json; print(json.dumps(sorted(unwanted)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_two_clients_of_one_ledger_are_one(tmp_path: object) -> None:
    file = f"{tmp_path}/state.db"
    with RecordingServer(Script()) as server:
        history = list(SAID)
        for said in ("Thanks", "Bye"):
            client = skillweave.wrap(OpenAI(base_url=server.openai, api_key=KEY), weaver_of(ledger=file))
            reply = client.chat.completions.create(model="m", messages=history)
            history += [
                {"role": "assistant", "content": reply.choices[0].message.content},
                {"role": "user", "content": said},
            ]
            client.close()
            skillweave.wrapped(client).weaver.sync.close()
        assert [sent.times_in_messages(GREETINGS) for sent in server.script.sent] == [1, 1]


async def test_pydantic_ais_provider_takes_the_client(server: RecordingServer) -> None:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with skillweave.http_client(weaver_of(), client=httpx2.AsyncClient()) as client:
        provider = OpenAIProvider(base_url=server.openai, api_key=KEY, http_client=client)
        assert (await Agent(OpenAIChatModel("m", provider=provider)).run("Say bonjour to Alice")).output == "All right."
    assert server.script.last.times_in_messages(GREETINGS) == 1


async def test_the_agents_sdk_takes_the_client(server: RecordingServer) -> None:
    from agents import Agent, OpenAIResponsesModel, RunConfig, Runner

    async with skillweave.http_client(weaver_of(), client=httpx2.AsyncClient()) as client:
        model = OpenAIResponsesModel("m", AsyncOpenAI(base_url=server.openai, api_key=KEY, http_client=client))
        agent = Agent("clerk", model=model)
        found = await Runner.run(agent, "Say bonjour to Alice", run_config=RunConfig(tracing_disabled=True))
    assert found.final_output == "All right."
    assert server.script.last.times_in_messages(GREETINGS) == 1
