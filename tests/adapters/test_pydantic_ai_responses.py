"""Pydantic AI's own model for OpenAI's responses, where the service keeps the history and is sent only what is new."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

import skillweave
from examples.scripted.pydantic_ai import scripted_model
from skillweave import Placement, Weaver
from skillweave.adapters.pydantic_ai import Skills, approvals
from skillweave_testing import WordCounter
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import GREETINGS, INVOICES, Workshop, weaver_in
from tests.adapters.hosts.crowd import TOPICS, long_text
from tests.adapters.hosts.pydantic_ai_agent import as_pydantic
from tests.adapters.hosts.room import NARROW
from tests.recording.server import KEY, RecordingServer

BOTH = pytest.mark.parametrize("placement", Placement)
TWO = Says(asks=(tool_call("search", "a", text="x"), tool_call("submit", "b", text="W-1")))


class Office:
    """An agent in one conversation that the service keeps."""

    def __init__(self, server: RecordingServer) -> None:
        self.server, self.script, self.workshop = server, server.script, Workshop()
        self.client = AsyncOpenAI(base_url=server.openai, api_key=KEY)
        self.messages: list[ModelMessage] = []

    def open(self, weaver: Weaver, placement: Placement) -> None:
        self.weaver = weaver
        model = OpenAIResponsesModel("gpt-test", provider=OpenAIProvider(openai_client=self.client))
        self.agent: Agent[Any, Any] = Agent(
            model,
            tools=[as_pydantic(tool) for tool in self.workshop.tools],
            output_type=[str, DeferredToolRequests],
            capabilities=[Skills(weaver, placement=placement)],
            model_settings={"openai_previous_response_id": "auto"},
        )

    async def say(self, text: str | None, **more: Any) -> Any:
        run = await self.agent.run(text, message_history=self.messages, conversation_id="c", **more)
        self.messages = run.all_messages()
        return run.output


@pytest.fixture
async def office() -> AsyncIterator[Office]:
    with RecordingServer(Script()) as server:
        office = Office(server)
        yield office
        await office.client.close()
        assert server.refusals == []


@BOTH
async def test_a_skill_that_comes_later_reaches_the_model_once(
    office: Office, tmp_path: Path, placement: Placement
) -> None:
    office.open(weaver_in(tmp_path), placement)
    for text in ("Is this invoice right?", "Go on", "Say bonjour", "Go on"):
        office.script.then(Says(asks=(tool_call("search", text=text),)), "Found.")
        await office.say(text)
    assert [one.data.get("previous_response_id") is None for one in office.server.requests] == [True, *[False] * 7]
    assert [sent.times(INVOICES) for sent in office.script.sent] == [1] * 8
    assert [sent.times(GREETINGS) for sent in office.script.sent] == [0] * 4 + [1] * 4


async def test_what_makes_room_leaves_what_the_service_keeps_too(office: Office) -> None:
    """The framework sees that the history changed, and sends it anew."""
    office.open(
        skillweave.open(*TOPICS, settings=NARROW, counter=WordCounter(), matchers=("triggers",)), Placement.HISTORY
    )
    await topics(office.say)
    assert [number for number in range(1, 5) if office.script.last.times(long_text(number))] == [3, 4]


@pytest.mark.parametrize("setting", ["openai_conversation_id", "openai_previous_response_id"])
async def test_no_room_is_made_where_the_service_would_keep_the_text_all_the_same(setting: str) -> None:
    script, messages = Script(), list[ModelMessage]()
    weaver = skillweave.open(*TOPICS, settings=NARROW, counter=WordCounter(), matchers=("triggers",))
    agent = Agent(scripted_model(script), capabilities=[Skills(weaver)])

    async def say(text: str) -> None:
        run = await agent.run(
            text,
            message_history=messages,
            conversation_id="c",
            model_settings={setting: "kept-1"},  # type: ignore[misc]
        )
        messages[:] = run.all_messages()

    await topics(say)
    assert [number for number in range(1, 5) if script.last.times(long_text(number))] == [1, 2]


async def topics(say: Callable[[str], Awaitable[Any]]) -> None:
    for number in range(1, 5):
        for text in (f"About matter{number}", "Go on", "Thanks", "And then?"):
            await say(text)


@BOTH
async def test_a_call_that_waits_and_what_ran_beside_it_are_answered_together(
    office: Office, tmp_path: Path, placement: Placement
) -> None:
    office.open(weaver_in(tmp_path), placement)
    await office.say("Prepare the filing")
    office.script.then(TWO, "Done.")
    requests = await office.say("Submit it")
    results = await approvals(office.weaver, requests, {"verdict": "approved", "by": "Ann Lee"})
    assert await office.say(None, deferred_tool_results=results) == "Done."
    assert sorted(office.workshop.ran) == ["search(x)", "submit(W-1)"]


@BOTH
async def test_another_message_during_a_pause_goes_on(office: Office, tmp_path: Path, placement: Placement) -> None:
    office.open(weaver_in(tmp_path), placement)
    await office.say("Prepare the filing")
    office.script.then(TWO, "Of course.")
    await office.say("Submit it")
    assert await office.say("Wait, is the plat there?") == "Of course."
    assert office.script.last.times_in_messages("not run: the chat went on") == 1
