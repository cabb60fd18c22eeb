"""Items of the Responses API as they are read: who said what, what the model asks for, and what was answered."""

from typing import Any

import pytest
from openai.types.responses import ResponseFunctionToolCall

from skillweave import Role
from skillweave.adapters.chat import turn_from
from skillweave.adapters.messages.responses_style import host_messages
from skillweave.errors import InvalidTurn

USER = {"role": "user", "content": "Look it up"}


def call(call_id: str, name: str = "search", arguments: str = "{}") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, said: Any = "found") -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": said}


def spoken(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_a_text_is_what_the_user_said() -> None:
    (piece,) = host_messages("Hello")
    assert (piece.message.role, piece.message.text) == (Role.USER, "Hello")


def test_all_that_the_model_said_in_one_reply_is_one_message() -> None:
    thought = {"type": "reasoning", "id": "r", "summary": []}
    user, reply, *results = host_messages(
        [USER, thought, spoken("I will."), call("a"), call("b"), output("a"), output("b")]
    )
    assert [piece.message.role for piece in (user, reply, *results)] == ["user", "assistant", "tool", "tool"]
    assert reply.message.text == "I will."
    assert [one.id for one in reply.calls] == ["a", "b"]


def test_words_beside_calls_are_what_was_said_last() -> None:
    turn = turn_from(host_messages([USER, spoken("SKILL_SELECT:greetings"), call("a"), output("a")]), "room")
    assert turn.message.text == "SKILL_SELECT:greetings"
    assert [(one.tool, one.content, one.call) for one in turn.results] == [("search", "found", "a")]


def test_a_result_in_parts_is_read_as_its_texts() -> None:
    picture = {"type": "input_image", "image_url": "data:"}
    *_, result = host_messages([USER, call("a"), output("a", [{"type": "input_text", "text": "one"}, picture])])
    assert result.result is not None
    assert result.result.content == "one"


def test_a_custom_call_is_a_call_with_its_input() -> None:
    asked = {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** x"}
    answer = {"type": "custom_tool_call_output", "call_id": "c", "output": "done"}
    turn = turn_from(host_messages([USER, asked, answer]), "room")
    assert [(one.tool, one.content) for one in turn.results] == [("patch", "done")]


def test_what_runs_at_the_provider_needs_no_answer() -> None:
    searched = {"type": "web_search_call", "id": "ws", "status": "completed"}
    assert turn_from(host_messages([USER, searched, spoken("Found.")]), "room").message.text == "Found."


def test_a_call_without_an_answer_is_named() -> None:
    with pytest.raises(InvalidTurn, match=r"input\[1\] calls 'search' and no result follows"):
        turn_from(host_messages([USER, call("a")]), "room")


def test_an_object_of_the_sdk_is_read_like_its_data() -> None:
    asked = ResponseFunctionToolCall(type="function_call", call_id="a", name="search", arguments="{}")
    assert host_messages([USER, asked])[1].calls == host_messages([USER, call("a")])[1].calls


def test_skill_text_in_a_message_or_a_result_is_nobodys_words() -> None:
    block = "=== Skill Activated: Greetings ===\n## Description\nGreets."
    said, _, result = host_messages(
        [{"role": "system", "content": block}, call("a"), output("a", f"Here it is.\n\n{block}")]
    )
    assert said.host_part is None
    assert said.message.text == block
    assert result.host_part is not None
    assert result.host_part.text == "Here it is."


def test_skill_text_that_a_user_pastes_is_the_users_words() -> None:
    block = "=== Skill Activated: Greetings ===\n## Description\nGreets."
    assert turn_from(host_messages(block), "room").message.text == block


@pytest.mark.parametrize("role", ["system", "developer"])
def test_a_message_of_the_host_is_nobodys_words(role: str) -> None:
    turn = turn_from(host_messages([USER, {"role": role, "content": "Be brief."}]), "room")
    assert turn.message.text == "Look it up"


def test_the_same_items_are_the_same_turn() -> None:
    first, second = (
        turn_from(host_messages([USER, call("a"), output("a", said)]), "room") for said in ("found", "found")
    )
    other = turn_from(host_messages([USER, call("a"), output("a", "nothing")]), "room")
    assert first.id == second.id != other.id
