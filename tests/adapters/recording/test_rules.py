"""The recording server refuses what the providers refuse, through their own clients."""

from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import errors as genai_errors
from google.genai.types import HttpOptions

from skillweave_testing.hosts import Says, Script, tool_call
from tests.recording.server import KEY, RecordingServer

Json = dict[str, Any]

ASK = Says(asks=(tool_call("search", "call_1", text="Brandt"), tool_call("search", "call_2", text="Kim")))


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with RecordingServer(Script(), thinks=True) as server:
        yield server


def user(text: str = "Hi") -> Json:
    return {"role": "user", "content": text}


CHAT_TOOLS: list[Json] = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
TOOLS: list[Json] = [{"name": "search", "input_schema": {"type": "object"}}]


class TestChatCompletions:
    def test_a_whole_tool_loop_is_taken_and_kept_byte_for_byte(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = self._ask(server, [user()], tools=CHAT_TOOLS).choices[0].message
        assert [call.function.name for call in reply.tool_calls] == ["search", "search"]
        self._ask(server, [user(), reply, self._result("call_1"), self._result("call_2")], tools=CHAT_TOOLS)
        assert [one.status for one in server.requests] == [200, 200]
        assert server.requests[0].body.startswith(b'{"model":"m","messages":[{"role":"user","content":"Hi"}],')

    @pytest.mark.parametrize(
        ("messages", "words"),
        [
            (["call"], "call_1, call_2"),
            (["call", "call_1"], "call_2"),
            (["call", "call_1", "user", "call_2"], "call_2"),
            (["call", "call_1", "call_2", "call_2"], "must be a response"),
            (["call_1"], "must be a response"),
            (["call", "call_1", "call_2", "call", "call_1", "call_2"], "used before"),
        ],
    )
    def test_each_call_is_answered_once_right_behind_it(
        self, server: RecordingServer, messages: list[str], words: str
    ) -> None:
        asks: Json = {"type": "function", "function": {"name": "search", "arguments": "{}"}}
        call: Json = {"role": "assistant", "tool_calls": [{"id": one, **asks} for one in ("call_1", "call_2")]}
        known = {"call": call, "user": user()}
        sent = [user(), *(known.get(one) or self._result(one) for one in messages)]
        with pytest.raises(openai.BadRequestError, match=words):
            self._ask(server, sent)
        assert words in server.refusals[0]

    @pytest.mark.parametrize(
        ("message", "words"),
        [
            ({"role": "tool", "content": "x", "tool_call_id": "a", "status": "error"}, "Unrecognized .*status"),
            ({"role": "robot", "content": "x"}, "'robot'"),
            ({"role": "user", "content": None}, "got null"),
            ({"role": "assistant", "content": "x", "tool_calls": []}, "too short"),
        ],
    )
    def test_a_message_of_another_form_is_refused(self, server: RecordingServer, message: Json, words: str) -> None:
        with pytest.raises(openai.BadRequestError, match=words):
            self._ask(server, [user(), message])

    @pytest.mark.parametrize(
        "extra", [{"tools": []}, {"parallel_tool_calls": True}, {"tools": [*CHAT_TOOLS, *CHAT_TOOLS]}]
    )
    def test_tools_that_are_none_are_refused(self, server: RecordingServer, extra: Json) -> None:
        with pytest.raises(openai.BadRequestError):
            self._ask(server, [user()], **extra)

    def _ask(self, server: RecordingServer, messages: list[Any], **more: Any) -> Any:
        with openai.OpenAI(base_url=server.openai, api_key=KEY, max_retries=0) as client:
            return client.chat.completions.create(model="m", messages=messages, **more)

    def _result(self, call: str) -> Json:
        return {"role": "tool", "tool_call_id": call, "content": "three payments"}


class TestResponses:
    def test_a_whole_tool_loop_is_taken(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = self._ask(server, [user()])
        assert [item.type for item in reply.output] == ["reasoning", "function_call", "function_call"]
        self._ask(server, [user(), *reply.output, self._output("call_2"), self._output("call_1")])
        assert server.refusals == []

    def test_the_server_keeps_what_came_before(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = self._ask(server, [user("Who?")])
        outputs = [self._output("call_1"), self._output("call_2")]
        assert self._ask(server, outputs, previous_response_id=reply.id).output_text == "All right."
        assert server.script.last.times("Who?") == 1

    def test_a_kept_call_without_its_output_is_refused(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = self._ask(server, [user()])
        with pytest.raises(openai.BadRequestError, match="No tool output found for function call call_2"):
            self._ask(server, [self._output("call_1")], previous_response_id=reply.id)

    def test_an_unknown_response_is_refused(self, server: RecordingServer) -> None:
        with pytest.raises(openai.BadRequestError, match="'resp_99' not found") as refused:
            self._ask(server, [user()], previous_response_id="resp_99")
        assert refused.value.code == "previous_response_not_found"

    def test_what_the_model_thought_belongs_to_what_it_said(self, server: RecordingServer) -> None:
        reply = self._ask(server, [user()])
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
            self._ask(server, [user(), *reply.output[1:], user()])
        with pytest.raises(openai.BadRequestError, match="without its required following item"):
            self._ask(server, [user(), reply.output[0], user()])

    def test_thoughts_that_were_not_stored_are_not_found(self, server: RecordingServer) -> None:
        reply = self._ask(server, [user()], store=False)
        with pytest.raises(openai.NotFoundError, match="not stored"):
            self._ask(server, [user(), *reply.output, user()])

    @pytest.mark.parametrize(
        ("items", "words"),
        [
            ([{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}], "No tool output found"),
            ([{"type": "function_call_output", "call_id": "a", "output": "x"}], "No tool call found"),
            ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "'input_text'"),
            ([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}], "'output_text'"),
            ([{"role": "tool", "content": "x"}], "Invalid value: 'tool'"),
            ([{"role": "user", "content": "x", "cache_control": {}}], "Unknown parameter: 'input.0..cache_control'"),
            ([{"type": "reasoning", "id": "msg_1", "summary": []}], "begins with 'rs'"),
        ],
    )
    def test_items_of_another_form_are_refused(self, server: RecordingServer, items: list[Json], words: str) -> None:
        with pytest.raises(openai.BadRequestError, match=words):
            self._ask(server, items)

    def _ask(self, server: RecordingServer, items: list[Any], **more: Any) -> Any:
        with openai.OpenAI(base_url=server.openai, api_key=KEY, max_retries=0) as client:
            return client.responses.create(model="m", input=items, **more)

    def _output(self, call: str) -> Json:
        return {"type": "function_call_output", "call_id": call, "output": "three payments"}


class TestAnthropicMessages:
    def test_a_whole_tool_loop_is_taken(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = self._ask(server, [user()], tools=TOOLS)
        assert reply.stop_reason == "tool_use"
        results = [self._result("call_2"), self._result("call_1"), {"type": "text", "text": "Go on."}]
        chat = [user(), {"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
        self._ask(server, chat, tools=TOOLS)
        assert server.refusals == []

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (["call_1"], "without `tool_result` blocks immediately after: call_2"),
            (["text", "call_1", "call_2"], "without `tool_result` blocks immediately after"),
            (["call_1", "call_2", "call_3"], "unexpected `tool_use_id`"),
            (["call_1", "call_1", "call_2"], "several"),
        ],
    )
    def test_each_call_is_answered_once_at_the_begin_of_the_next_message(
        self, server: RecordingServer, content: list[str], words: str
    ) -> None:
        calls = [{"type": "tool_use", "id": one, "name": "search", "input": {}} for one in ("call_1", "call_2")]
        blocks = [self._result(one) if "call" in one else {"type": "text", "text": one} for one in content]
        chat: list[Json] = [user(), {"role": "assistant", "content": calls}, {"role": "user", "content": blocks}]
        with pytest.raises(anthropic.BadRequestError, match=words):
            self._ask(server, chat, tools=TOOLS)

    @pytest.mark.parametrize(
        ("messages", "words"),
        [
            ([{"role": "assistant", "content": "Hi"}], "expected 'user'"),
            ([user(), user()], "expected 'assistant'"),
            ([user(), {"role": "assistant", "content": "Hi"}, {"role": "system", "content": "x"}], "expected 'user'"),
            ([user(), {"role": "assistant", "content": "Hi"}], "must end with a user message"),
            ([user(" ")], "non-whitespace"),
            ([{"role": "user", "content": []}], "non-empty"),
            ([{"role": "user", "content": "x", "id": "1"}], "Extra inputs"),
        ],
    )
    def test_messages_of_another_form_are_refused(
        self, server: RecordingServer, messages: list[Json], words: str
    ) -> None:
        with pytest.raises(anthropic.BadRequestError, match=words):
            self._ask(server, messages)

    def test_more_than_four_cache_markers_are_refused(self, server: RecordingServer) -> None:
        marked = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
        with pytest.raises(anthropic.BadRequestError, match="Found 5"):
            self._ask(server, [{"role": "user", "content": [marked] * 5}])

    @pytest.mark.parametrize("tools", [[*TOOLS, *TOOLS], [{"name": "a b", "input_schema": {"type": "object"}}]])
    def test_tools_with_bad_names_are_refused(self, server: RecordingServer, tools: list[Json]) -> None:
        with pytest.raises(anthropic.BadRequestError, match="ame"):
            self._ask(server, [user()], tools=tools)

    def _ask(self, server: RecordingServer, messages: list[Any], **more: Any) -> Any:
        with anthropic.Anthropic(base_url=server.anthropic, api_key=KEY, max_retries=0) as client:
            return client.messages.create(model="m", max_tokens=9, messages=messages, **more)

    def _result(self, call: str) -> Json:
        return {"type": "tool_result", "tool_use_id": call, "content": "three payments"}


class TestGemini:
    async def test_a_whole_tool_loop_is_taken(self, server: RecordingServer) -> None:
        server.script.then(ASK)
        reply = await self._ask(server, [self._said("Hi")])
        assert [call.name for call in reply.function_calls] == ["search", "search"]
        asked = reply.candidates[0].content.model_dump(mode="json", exclude_none=True)
        await self._ask(server, [self._said("Hi"), asked, self._results(2)])
        assert server.refusals == []

    @pytest.mark.parametrize("turns", [["call"], ["call", 1], ["call", 3], [2], ["call", "Hm.", 2]])
    async def test_as_many_results_as_calls_stand_right_behind_them(
        self, server: RecordingServer, turns: list[Any]
    ) -> None:
        call = {"role": "model", "parts": [{"function_call": {"name": "search", "args": {}}}] * 2}
        kinds = {int: self._results, str: lambda turn: call if turn == "call" else self._said(turn)}
        with pytest.raises(genai_errors.ClientError, match=r"function response turn|function call turn"):
            await self._ask(server, [self._said("Hi"), *(kinds[type(turn)](turn) for turn in turns)])

    async def _ask(self, server: RecordingServer, contents: list[Any]) -> Any:
        client = genai.Client(api_key=KEY, http_options=HttpOptions(base_url=server.anthropic))
        try:
            return await client.aio.models.generate_content(model="m", contents=contents)
        finally:
            await client.aio.aclose()
            client.close()

    def _said(self, text: str) -> Json:
        return {"role": "user", "parts": [{"text": text}]}

    def _results(self, number: int) -> Json:
        result = {"function_response": {"name": "search", "response": {"result": "three payments"}}}
        return {"role": "user", "parts": [result] * number}
