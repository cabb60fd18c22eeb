"""What clients and models do that others fell over, in all three forms."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx2
import pytest

import skillweave
from skillweave_testing.hosts import Says, tool_call
from skillweave_testing.hosts.play import GREETINGS, INVOICES
from tests.exchange.conftest import weaver_of
from tests.exchange.talks import ChatTalk, KeptTalk, MessagesTalk, ResponsesTalk, Talk
from tests.recording.server import RecordingServer


def bodies(server: RecordingServer) -> list[bytes]:
    return [one.body for one in server.requests]


def test_a_retry_of_the_sdk_sends_the_same_bytes(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    server.failures = [(500, {}), (429, {"retry-after": "0"})]
    talk = begin()
    talk.client = talk.client.with_options(max_retries=2)
    talk.say("Say bonjour to Alice")
    assert len(server.requests) == 3
    assert len(set(bodies(server))) == 1
    assert server.script.last.times_in_messages(GREETINGS) == 1


def test_the_same_request_again_is_the_same_turn(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin()
    talk.say("Say bonjour to Alice")
    talk.history.pop() if talk.form != "responses" else talk.history.__delitem__(slice(1, None))
    before = talk.behind.weaver.sync.ledger.state(talk.behind.last.conversation)
    talk.ask()
    assert len(set(bodies(server))) == 1
    assert talk.behind.weaver.sync.ledger.state(talk.behind.last.conversation) == before


def test_an_error_of_upstream_comes_as_it_is_and_nothing_counts_as_given(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin()
    for status in (429, 500):
        server.failures = [(status, {"x-ratelimit-remaining": "0"})]
        with pytest.raises(Exception, match="not now") as caught:
            talk.say("Say bonjour to Alice")
        assert caught.value.status_code == status  # type: ignore[attr-defined]
        assert caught.value.response.headers["x-ratelimit-remaining"] == "0"  # type: ignore[attr-defined]
        talk.history.pop()
    talk.say("Say bonjour to Alice")
    assert server.script.last.times_in_messages(GREETINGS) == 1


def test_a_client_that_edits_an_earlier_message_goes_on_without_what_came_after_it(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin()
    talk.say("Say bonjour to Alice")
    before = list(talk.history)
    talk.say("Is this invoice right?")
    first = talk.behind.last.conversation
    talk.history = before
    talk.say("What is 2+2?")
    assert talk.behind.last.conversation != first
    sent = server.script.last
    assert (sent.times_in_messages(GREETINGS), sent.times_in_messages(INVOICES)) == (1, 0)
    talk.say("And 3+3?")
    assert server.script.last.times_in_messages(GREETINGS) == 1
    assert server.script.last.messages[: len(sent.messages)] == sent.messages


def test_a_fork_inherits_the_restraints_of_the_shared_part(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin()
    talk.say("Is this invoice right?")
    before = list(talk.history)
    talk.say("Thanks")
    talk.history = before
    server.script.then(Says(asks=(tool_call("write", text="x"),)), "Then not.")
    assert talk.say("Write it") == "Then not."
    assert talk.calls == []


def test_a_client_that_trims_gets_what_it_still_needs(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin()
    with skillweave.conversation("c1"):
        talk.say("Is this invoice right?")
        first = len(talk.history)
        talk.say("And the next one?")
        talk.history = talk.history[first:]
        server.script.then(Says(asks=(tool_call("write", text="x"),)), "Then not.")
        assert talk.say("And that?") == "Then not."
    assert talk.behind.last.conversation == "c1"
    assert server.script.last.times_in_messages(INVOICES) == 1


def test_two_users_who_begin_alike_part_when_they_say_something_else(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    server.script.then("Hello A", "Hello B")
    first = begin()
    second = begin(first.behind.weaver)
    first.say("Say bonjour")
    second.say("Say bonjour")
    first.say("I am A; is this invoice right?")
    assert first.behind.last.skills == ("invoice-checking",)
    second.say("I am B")
    assert first.behind.last.conversation != second.behind.last.conversation
    sent = server.script.last
    assert (sent.times_in_messages(GREETINGS), sent.times_in_messages(INVOICES)) == (1, 0)


def test_eight_rounds_of_own_calls_and_then_the_limit(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    server.script.then(*(Says(asks=(tool_call("list_skills"),)) for _ in range(12)))
    talk = begin()
    said = talk.say("Hello")
    assert "8 times" in said
    assert talk.calls == []
    assert len(server.requests) == 9
    assert [one.data.get("tool_choice") for one in server.requests[:-1]] == [None] * 8
    assert server.requests[-1].data["tool_choice"] in ("none", {"type": "none"})


def test_what_is_not_known_keeps_its_value(server: RecordingServer) -> None:
    big = 123456789012345678901234567890
    talk = ChatTalk(server, weaver_of())
    talk.client.chat.completions.create(
        model="m",
        messages=[{"role": "user", "content": [{"type": "text", "text": "Say bonjour"}]}],
        metadata={"a": "b"},
        seed=big,
        temperature=0.1,
    )
    body = server.requests[0].body
    assert b'"seed":123456789012345678901234567890' in body
    assert b'"temperature":0.1' in body
    talk.client.close()


def test_an_unknown_part_stands_where_it_stood_and_is_not_read(server: RecordingServer) -> None:
    talk = MessagesTalk(server, weaver_of())
    part = {"type": "search_result", "source": "s", "title": "t", "content": [{"type": "text", "text": "invoice"}]}
    talk.history.append({"role": "user", "content": [part, {"type": "text", "text": "Say bonjour"}]})
    talk.ask()
    assert server.requests[0].data["messages"][0]["content"][0] == part
    assert talk.behind.last.skills == ("greetings",)
    talk.client.close()


def test_a_body_of_30_megabytes_passes(server: RecordingServer) -> None:
    talk = ChatTalk(server, weaver_of())
    talk.history.append({"role": "user", "content": "Say bonjour"})
    talk.history.append({"role": "assistant", "content": "x" * 30_000_000})
    talk.say("And now?")
    assert len(server.requests[0].body) > 30_000_000
    talk.client.close()


@pytest.mark.parametrize("asked", [True, False])
def test_usage_of_a_stream_comes_where_it_was_asked_for(server: RecordingServer, asked: bool) -> None:
    server.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), "Bonjour!")
    talk = ChatTalk(server, weaver_of(), stream=True)
    if asked:
        talk.more = {"stream_options": {"include_usage": True}}
    talk.say("Greet my neighbour")
    usage = talk.reply.usage
    assert (usage and (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)) == (
        (100, 20, 120) if asked else None
    )
    talk.client.close()


def test_several_choices_are_judged_and_nothing_is_answered_inside(server: RecordingServer, stream: bool) -> None:
    def twice(reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "choices": [{**reply["choices"][0], "index": n} for n in range(2)]}

    server.altered = twice
    server.script.then(Says(asks=(tool_call("write", text="x"),)))
    talk = ChatTalk(server, weaver_of(), stream=stream)
    talk.more = {"n": 2}
    talk.say("Is this invoice right?")
    assert len(server.requests) == 1
    assert server.script.last.tools == ("search",)
    assert [one.message.tool_calls for one in talk.reply.choices] == [None, None]
    assert all("TOOL_FORBIDDEN" in one.message.content for one in talk.reply.choices)
    talk.client.close()


def test_a_model_that_knows_no_tools_opens_a_skill_by_a_marker(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    server.script.then("SKILL_SELECT:greetings", "Bonjour, neighbour!")
    talk = begin(tools=())
    assert talk.say("Greet my neighbour") == "Bonjour, neighbour!"
    assert b"SKILL_SELECT:<id>" in server.requests[0].body
    assert server.script.last.times_in_messages(GREETINGS) == 1
    talk.say("Thanks")
    assert server.script.last.times_in_messages(GREETINGS) == 1
    assert server.script.last.times_in_messages("SKILL_SELECT:greetings") == 0


def test_a_text_that_only_begins_like_a_marker_goes_on(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    server.script.then("SKILL_SETS are nice.", "SKILL")
    talk = begin(tools=())
    assert talk.say("Hello") == "SKILL_SETS are nice."
    assert talk.say("Hello again") == "SKILL"


def test_a_forced_choice_of_a_withheld_tool_is_left_to_the_model(server: RecordingServer) -> None:
    talk = ChatTalk(server, weaver_of())
    talk.more = {"tool_choice": {"type": "function", "function": {"name": "write"}}}
    talk.say("Is this invoice right?")
    assert server.requests[0].data["tool_choice"] == "auto"
    assert talk.headers["x-skillweave-choice"] == "auto"
    assert talk.headers["x-skillweave-withheld-tools"] == "write"
    talk.client.close()


def test_structured_outputs_go_with_our_tools(server: RecordingServer) -> None:
    from pydantic import BaseModel

    class Greeting(BaseModel):
        words: str

    server.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), '{"words": "Bonjour"}')
    talk = ChatTalk(server, weaver_of())
    tools = [{**one, "function": {**one["function"], "strict": True}} for one in talk.tools]
    found = talk.client.chat.completions.parse(
        model="m", messages=[{"role": "user", "content": "Greet"}], response_format=Greeting, tools=tools
    )
    assert found.choices[0].message.parsed == Greeting(words="Bonjour")
    talk.client.close()


@pytest.mark.parametrize("first", ["title", "probe", "chat"])
def test_a_title_and_a_probe_under_the_sessions_id_are_beside_the_chat(
    server: RecordingServer, begin: Callable[..., Talk], first: str
) -> None:
    talk = begin()
    title = begin(talk.behind.weaver, tools=())
    with skillweave.conversation("s1"):
        if first == "chat":
            talk.say("Is this invoice right?")
        if first != "probe":
            title.system = "Write a title."
            title.say("Say bonjour: what is this about?")
        if first == "probe":
            title.more = {"max_tokens": 1} if title.form == "chat" else {"max_output_tokens": 1}
            if title.form == "messages":
                title.client.messages.create(model="m", max_tokens=1, messages=[{"role": "user", "content": "bonjour"}])
            else:
                title.say("Say bonjour")
        count = len(server.script.sent)
        talk.say("Is this invoice right?" if first != "chat" else "And this one?")
        assert server.script.sent[count].times_in_messages(INVOICES) == 1
        assert "read_skill" in server.script.sent[count].tools
        if first == "chat":
            assert server.script.sent[1].times_in_messages(GREETINGS) == 0
            assert server.script.sent[1].tools == ()


def test_a_title_that_an_agent_asks_for_before_its_chat_is_given_nothing(server: RecordingServer) -> None:
    agent = {"user-agent": "opencode/1.18.33 ai-sdk", "x-session-affinity": "ses_1"}
    with skillweave.http_client(weaver_of()) as client:
        url, said = f"{server.openai}/chat/completions", {"role": "user", "content": "Is this invoice right?"}
        title = [{"role": "user", "content": "Generate a title for this conversation:"}, said]
        client.post(url, json={"model": "m", "messages": title}, headers=agent)
        tools = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]
        client.post(url, json={"model": "m", "messages": [said], "tools": tools}, headers=agent)
    asked, chat = server.script.sent
    assert (asked.times_in_messages(INVOICES), asked.system) == (0, "")
    assert chat.times_in_messages(INVOICES) == 1


def test_a_compaction_goes_on_in_the_same_conversation(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin()
    with skillweave.conversation("s1"):
        talk.say("Is this invoice right?")
        talk.say("Summarise everything that was said.")
        talk.history = []
        server.script.then(Says(asks=(tool_call("write", text="x"),)), "Then not.")
        assert talk.say("A summary: an invoice was looked at. Go on.") == "Then not."
        assert talk.behind.last.conversation == "s1"
    assert server.script.last.times_in_messages(INVOICES) == 1


def test_a_history_at_the_provider_goes_on_over_five_turns_with_a_hidden_round_in_each(
    server: RecordingServer, stream: bool
) -> None:
    talk = KeptTalk(server, weaver_of(), stream=stream)
    for turn, skill in enumerate(("greetings", "filing", "narrative", "greetings", "filing")):
        server.script.then(Says(asks=(tool_call("read_skill", skill_id=skill),)), f"Said {turn}.")
        assert talk.say(f"Question {turn}") == f"Said {turn}."
    sent = server.script.last
    assert [sent.times_in_messages(f"Said {turn}.") for turn in range(4)] == [1] * 4
    assert sent.times_in_messages(GREETINGS) == 1
    assert len(server.requests) == 10
    talk.client.close()


def test_a_call_after_a_hidden_round_is_answered_in_a_history_at_the_provider(
    server: RecordingServer, stream: bool
) -> None:
    talk = KeptTalk(server, weaver_of(), stream=stream)
    for turn in range(3):
        own, theirs = tool_call("read_skill", skill_id="greetings"), tool_call("search", text=f"{turn}")
        server.script.then(Says(asks=(own,)), Says(asks=(theirs,)), f"Said {turn}.")
        talk.say(f"Question {turn}")
        assert talk.answer() == f"Said {turn}."
    assert server.script.last.times_in_messages("search did it") == 3
    talk.client.close()


def test_a_client_that_drops_thinking_is_given_it_back(server: RecordingServer, stream: bool) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbmVk"}

    def thinking(reply: dict[str, Any]) -> dict[str, Any]:
        return {**reply, "content": [{**thought, "thinking": f"Hm {reply['id']}."}, *reply["content"]]}

    server.altered = thinking
    own, theirs = tool_call("read_skill", skill_id="greetings"), tool_call("search", text="Alice")
    server.script.then(Says(asks=(own, theirs)), "Bonjour, Alice!")
    talk = MessagesTalk(server, weaver_of(), stream=stream)
    talk.say("Greet my neighbour")
    talk.history[-1]["content"] = [one for one in talk.history[-1]["content"] if one["type"] != "thinking"]
    talk.answer(search="She is Alice.")
    said = server.requests[-1].data["messages"][1]["content"]
    assert said[0] == {**thought, "thinking": "Hm msg_1."}
    assert [one["name"] for one in said[1:]] == ["read_skill", "search"]
    talk.client.close()


def test_a_stream_that_breaks_off_breaks_off_for_the_client_and_nothing_was_given(
    server: RecordingServer, begin: Callable[..., Talk], stream: bool
) -> None:
    if not stream:
        return
    talk = begin()
    server.breaks_after = 3
    with suppress(Exception):  # not every client notices
        talk.say("Say bonjour to Alice")
    state = talk.behind.weaver.sync.ledger.state(talk.behind.last.conversation)
    assert [record.state for record in state.records] == []
    server.breaks_after = None
    talk.history = [{"role": "user", "content": "Say bonjour to Alice"}]
    talk.ask()
    assert server.script.last.times_in_messages(GREETINGS) == 1


def test_what_cannot_be_read_is_refused_where_a_skill_has_rules_and_passes_where_none_has(
    server: RecordingServer,
) -> None:
    greeting = {"id": "greetings", "description": "Greets.", "triggers": ["bonjour"], "instructions": GREETINGS}
    for skills, status in (((), 400), ((greeting,), 200)):
        client = skillweave.http_client(weaver_of(*skills), client=httpx2.Client())
        server.answer = {"all": "right"}
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": [{"nameless": True}]}
        response = client.post(f"{server.openai}/chat/completions", json=body)
        server.answer = None
        refused_there = bool(server.requests and server.requests[-1].status == 400)
        assert (response.status_code == 400 and not refused_there) is (status == 400)
        assert ("x-skillweave-passed" in response.headers) is (status == 200)
        client.close()
    server.requests.clear()


def test_batches_and_background_responses_are_refused_with_the_reason(server: RecordingServer) -> None:
    client = skillweave.http_client(weaver_of(), client=httpx2.Client())
    batch = client.post(f"{server.openai}/batches", json={})
    later = client.post(f"{server.openai}/responses", json={"model": "m", "input": "hi", "background": True})
    assert (batch.status_code, later.status_code) == (400, 400)
    assert "send" in json.loads(batch.content)["detail"]
    assert server.requests == []
    client.close()


def test_what_an_agent_wrote_in_tags_of_its_own_selects_nothing(server: RecordingServer) -> None:
    talk = MessagesTalk(server, weaver_of())
    reminder = {"type": "text", "text": "<system-reminder>An invoice: say bonjour.</system-reminder>"}
    talk.history.append({"role": "user", "content": [reminder, {"type": "text", "text": "What is 2+2?"}]})
    talk.ask()
    assert talk.behind.last.skills == ()
    assert server.requests[0].data["messages"][0]["content"][0] == reminder
    talk.client.close()


def test_a_skill_that_the_agent_lists_itself_is_not_offered_again(server: RecordingServer) -> None:
    talk = ResponsesTalk(server, weaver_of())
    own = "<skills_instructions>\n- greetings: Greets. (file: x)\n</skills_instructions>"
    talk.history.append({"role": "developer", "content": own})
    talk.say("Hello")
    instructions = server.requests[0].data["instructions"]
    assert "- filing:" in instructions
    assert "- greetings:" not in instructions
    talk.client.close()


def test_a_count_of_tokens_counts_what_would_be_sent_and_writes_nothing(server: RecordingServer) -> None:
    talk = MessagesTalk(server, weaver_of())
    said = [{"role": "user", "content": "Say bonjour to Alice"}]
    with suppress(Exception):  # the recording server does not count
        talk.client.messages.count_tokens(model="m", messages=said)
    last = talk.behind.last
    assert last.skills == ("greetings",)
    assert talk.behind.weaver.sync.ledger.state(last.conversation).revision == 0
    talk.client.close()


def test_of_more_text_than_twice_the_budget_the_oldest_goes_and_a_header_says_so(server: RecordingServer) -> None:
    skills = [
        {"id": f"s{n}", "description": f"Topic {n}.", "triggers": [f"topic{n}"], "instructions": "word " * 900}
        for n in range(4)
    ]
    budget = skillweave.Budget(total=1000, catalog=100, shortlist=100, per_skill=1000)
    talk = ChatTalk(server, skillweave.open(*skills, settings=skillweave.Settings(budget=budget)))
    for n in range(4):
        talk.say(f"About topic{n}")
        evict = talk.behind.weaver.sync
        evict.evict(talk.behind.last.conversation, f"s{n}")
    assert sum(sent.count("word word") > 0 for sent in server.script.last.messages) < 4
    assert talk.headers.get("x-skillweave-break")
    talk.client.close()


def test_without_the_original_of_a_reply_its_reasoning_is_left_out_and_a_header_says_so(
    server: RecordingServer,
) -> None:
    server.altered = lambda reply: {
        **reply,
        "content": [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, *reply["content"]],
    }
    own, theirs = tool_call("read_skill", skill_id="greetings"), tool_call("search", text="Alice")
    server.script.then(Says(asks=(own, theirs)), "Bonjour, Alice!")
    talk = MessagesTalk(server, weaver_of())
    talk.say("Greet my neighbour")
    kept = talk.behind.weaver.ledger.store._insertions._kept
    for key in [key for key, one in kept.items() if b'"items"' in one.data]:
        del kept[key]
    talk.answer(search="She is Alice.")
    said = server.requests[-1].data["messages"][1]["content"]
    assert [one["type"] for one in said] == ["tool_use"]
    assert "reasoning of an earlier reply is left out" in talk.headers["x-skillweave-passed"]
    talk.client.close()
