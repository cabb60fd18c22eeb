"""The Agent Framework's client for OpenAI's responses: the service keeps the history, and wants each call answered."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, Content, Message
from agent_framework_openai import OpenAIChatClient
from openai import AsyncOpenAI

from examples.scripted.agent_framework import ScriptedChatClient
from skillweave import Placement, Weaver
from skillweave.adapters.agent_framework import SkillContextProvider, reply_to, spawn_subagent
from skillweave.errors import InvalidTurn, InvalidVerdict
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import BASE, Workshop, weaver_in
from tests.adapters.hosts.agent_framework_agent import function
from tests.recording.server import KEY, RecordingServer

ANN = {"verdict": "approved", "by": "Ann Lee"}
NO = {"verdict": "rejected", "by": "Ann Lee", "note": "The plat is missing."}
TWO = Says(asks=(tool_call("search", "a", text="x"), tool_call("submit", "b", text="W-1")))


class Office:
    """An agent over a service that keeps the history; `restart` goes on as in another process."""

    def __init__(self, weaver: Weaver, server: RecordingServer) -> None:
        self.weaver, self.server, self.script = weaver, server, server.script
        self.workshop, self.clerk = Workshop(), Script()
        self.placement = Placement.CALL
        self.client = AsyncOpenAI(base_url=server.openai, api_key=KEY)
        self.session = AgentSession(session_id="office-1")
        self.agent = self._opened()

    async def say(self, *said: Content | str) -> tuple[str, list[Content]]:
        response = await self.agent.run(Message("user", list(said)), session=self.session)
        return response.text, response.user_input_requests

    async def paused(self, says: Says = TWO, first: str = "Prepare the filing") -> list[Content]:
        await self.say(first)
        self.script.then(says)
        return (await self.say("Submit it"))[1]

    def restart(self) -> None:
        self.session = AgentSession.from_dict(json.loads(json.dumps(self.session.to_dict())))
        self.agent = self._opened()

    @property
    def outputs(self) -> list[str]:
        """The calls that the last request answers."""
        items = self.server.requests[-1].data["input"]
        return [item["call_id"] for item in items if item.get("type") == "function_call_output"]

    def _opened(self) -> Agent[Any]:
        client = OpenAIChatClient("gpt-test", async_client=self.client)
        tools = [function(tool) for tool in self.workshop.tools]
        clerk = ScriptedChatClient(self.clerk)
        tools.append(spawn_subagent(clerk, self.weaver, [function(self.workshop.tools[2])]))
        return Agent(
            client, BASE, tools=tools, context_providers=[SkillContextProvider(self.weaver, placement=self.placement)]
        )


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    with RecordingServer(Script()) as server:
        office = Office(weaver_in(tmp_path), server)
        yield office
        await office.client.close()
        assert server.refusals == []


async def test_history_placement_is_refused_where_the_service_keeps_the_history(office: Office) -> None:
    office.placement = Placement.HISTORY
    office.restart()
    await office.say("Hello")
    with pytest.raises(InvalidTurn, match=r"the service keeps it; use SkillContextProvider\(placement=Placement.CALL"):
        await office.say("Hello again")


async def test_while_one_call_waits_the_others_of_its_reply_do_not_run(office: Office) -> None:
    requests = await office.paused()
    assert [request.function_call.name for request in requests if request.function_call] == ["submit"]
    assert office.workshop.ran == []


async def test_the_resume_runs_all_calls_of_the_reply_and_sends_all_outputs(office: Office) -> None:
    (request,) = await office.paused()
    office.script.then("Done.")
    assert await office.say(reply_to(request, ANN)) == ("Done.", [])
    assert sorted(office.workshop.ran) == ["search(x)", "submit(W-1)"]
    assert office.outputs == ["a", "b"]


async def test_a_resume_in_another_process_sends_all_outputs(office: Office) -> None:
    (request,) = await office.paused()
    kept = json.loads(json.dumps(request.to_dict()))
    office.restart()
    await office.say(reply_to(Content.from_dict(kept), ANN))
    assert office.outputs == ["a", "b"]


async def test_after_a_rejection_the_other_calls_run_and_all_are_answered(office: Office) -> None:
    (request,) = await office.paused()
    await office.say(reply_to(request, NO))
    assert office.workshop.ran == ["search(x)"]
    assert office.outputs == ["a", "b"]
    assert office.script.last.times_in_messages("Ann Lee") >= 1


async def test_two_that_wait_beside_one_that_does_not_may_be_replied_to_one_by_one(office: Office) -> None:
    requests = await office.paused(Says(asks=(*TWO.asks, tool_call("submit", "c", text="W-2"))))
    rest = (await office.say(reply_to(requests[1], ANN)))[1]
    assert [request.id for request in rest] == [requests[0].id]
    assert office.workshop.ran == []
    await office.say(reply_to(rest[0], ANN))
    assert sorted(office.workshop.ran) == ["search(x)", "submit(W-1)", "submit(W-2)"]
    assert office.outputs == ["a", "b", "c"]


async def test_a_tool_of_our_own_is_held_with_the_others(office: Office) -> None:
    load = tool_call("read_skill", "r", skill_id="greetings")
    (request,) = await office.paused(Says(asks=(load, *TWO.asks)))
    await office.say(reply_to(request, ANN))
    assert office.outputs == ["r", "a", "b"]


async def test_another_message_during_a_pause_answers_every_call_that_it_was_not_run(office: Office) -> None:
    await office.paused()
    office.script.then("Of course.")
    assert await office.say("Wait, is the plat there?") == ("Of course.", [])
    assert office.outputs == ["a", "b"]
    assert office.script.last.times_in_messages("not run: the chat went on") == 2
    assert office.workshop.ran == []


async def test_after_another_message_the_old_question_cannot_be_answered_any_more_and_says_so(office: Office) -> None:
    (request,) = await office.paused()
    await office.say("Wait, is the plat there?")
    with pytest.raises(InvalidVerdict, match="went on"):
        await office.say(reply_to(request, ANN))
    assert office.workshop.ran == []
    assert await office.say("And now?") == ("All right.", [])


async def test_a_call_that_was_not_run_may_be_made_and_asked_about_again(office: Office) -> None:
    await office.paused()
    office.script.then("Of course.", Says(asks=(tool_call("submit", "c", text="W-1"),)), "Done.")
    await office.say("Wait, is the plat there?")
    (request,) = (await office.say("It is. Submit it"))[1]
    assert (await office.say(reply_to(request, ANN)))[0] == "Done."
    assert office.workshop.ran == ["submit(W-1)"]


SPAWN = tool_call("spawn_subagent", "s", task="Submit W-1.", skills=["clerk"])
CLERK = {
    "id": "clerk",
    "description": "Submits filings.",
    "text": {"instructions": "Submit it."},
    "tools": {"allowed": ["submit"]},
    "checkpoints": [{"name": "pre_submit", "before": "submit"}],
}


@pytest.mark.parametrize("reply", [ANN, NO])
async def test_what_ran_beside_a_sub_agent_that_came_to_wait_is_sent_with_its_answer(
    office: Office, reply: dict[str, str]
) -> None:
    office.weaver.skills.registry.register(CLERK)
    office.clerk.then(Says(asks=(tool_call("submit", text="W-1"),)), "Submitted.")
    (request,) = await office.paused(Says(asks=(tool_call("search", "a", text="x"), SPAWN)), "Hello")
    assert office.workshop.ran == ["search(x)"]
    office.restart()
    await office.say(reply_to(request, reply))
    assert sorted(office.outputs) == ["a", "s"]
    assert office.workshop.ran == ["search(x)", *(["submit(W-1)"] if reply is ANN else [])]


async def test_another_message_while_a_sub_agent_waits_sends_what_ran_and_what_did_not(office: Office) -> None:
    office.weaver.skills.registry.register(CLERK)
    office.clerk.then(Says(asks=(tool_call("submit", text="W-1"),)))
    await office.paused(Says(asks=(tool_call("search", "a", text="x"), SPAWN)), "Hello")
    await office.say("Wait, is the plat there?")
    assert sorted(office.outputs) == ["a", "s"]
    assert office.script.last.times_in_messages("search did x") == 1
    assert office.script.last.times_in_messages("not run: the chat went on") == 1


async def test_a_call_runs_with_the_arguments_that_a_person_gave_it_and_the_others_as_they_were(office: Office) -> None:
    (request,) = await office.paused()
    office.restart()
    changed = {"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "W-2"}}
    await office.say(reply_to(request, changed))
    assert sorted(office.workshop.ran) == ["search(x)", "submit(W-2)"]
    assert office.outputs == ["a", "b"]


async def test_arguments_that_a_person_gave_are_judged_again(office: Office) -> None:
    (request,) = await office.paused()
    wrong = {"text": "W-2", "nonsense": "x"}
    await office.say(reply_to(request, {"verdict": "modified", "by": "Ann Lee", "arguments": wrong}))
    assert office.workshop.ran == ["search(x)"]
    assert office.outputs == ["a", "b"]
    assert office.script.last.times_in_messages("nonsense") == 1


async def test_a_persons_note_is_the_answer_that_the_model_reads(office: Office) -> None:
    (request,) = await office.paused()
    await office.say(reply_to(request, NO))
    assert office.script.last.times_in_messages("The plat is missing.") == 1


async def test_a_yes_covers_the_call_that_was_shown_and_no_later_one(office: Office) -> None:
    (request,) = await office.paused(Says(asks=(tool_call("submit", "b", text="W-1"),)))
    office.script.then(Says(asks=(tool_call("submit", "c", text="W-9"),)))
    (again,) = (await office.say(reply_to(request, ANN)))[1]
    assert again.additional_properties["call"]["arguments"] == {"text": "W-9"}
    assert office.workshop.ran == ["submit(W-1)"]
