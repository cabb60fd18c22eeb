"""What is particular to lists for OpenAI's Responses API."""

from typing import Any

import pytest
from openai.types.responses import Response

from skillweave import Message, Placement, Role, ToolResult
from skillweave.adapters.messages import Call
from skillweave.adapters.messages.responses_style import (
    CustomCall,
    calls,
    place,
    refuse,
    skill_tools,
    system,
    take_out,
    transcript,
    turn,
    unanswered,
    with_tail,
)
from skillweave.disclose.block import TAKEN_OUT, carrier_of, text_digest
from skillweave.errors import InvalidTurn
from skillweave.injection import Drop
from tests.injections import make_injection

BLOCK = "=== Skill Activated: A ===\n## Description\nWhat a is for."
USER = {"role": "user", "content": "Hi"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}
PAY = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "pay", "arguments": '{"to": "Kim"}'}
PAID = {"type": "function_call_output", "call_id": "call_1", "output": "paid"}


def response(*output: Any, **more: Any) -> Response:
    """A response as the SDK reads it."""
    known = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": True}
    return Response.model_validate({**known, "tool_choice": "auto", "tools": [], "output": output, **more})


def said(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def test_each_block_is_a_system_message_at_the_end() -> None:
    assert place([USER], make_injection(BLOCK)) == [USER, {"role": "system", "content": BLOCK}]


def test_what_is_for_one_call_stands_behind_everything() -> None:
    assert with_tail([USER], make_injection(tail="TAIL")) == [USER, {"role": "system", "content": "TAIL"}]


def test_instructions_hold_the_skills_in_call_placement() -> None:
    assert system("Be brief.", make_injection(BLOCK, placement=Placement.CALL)) == f"Be brief.\n\n{BLOCK}"
    assert system("Be brief.", make_injection(BLOCK)) == "Be brief."


def test_the_calls_of_a_response_are_read_and_what_the_model_thought_and_said_is_none() -> None:
    assert calls(response(THOUGHT, said("Let me see."), PAY)) == (Call("call_1", "pay", {"to": "Kim"}),)


def test_the_objects_of_a_response_are_kept_as_the_history() -> None:
    chat = [USER, *response(THOUGHT, said("Let me see."), PAY).output, PAID]
    made = turn(chat, conversation="c")
    assert made.results == (ToolResult("pay", "paid", call="call_1"),)
    assert made.message.text == "Let me see."
    assert place(chat, make_injection(BLOCK))[:5] == chat


def test_all_that_the_model_gave_in_one_reply_is_one_message() -> None:
    roles = [message.role for message in transcript([USER, THOUGHT, said("Let me see."), PAY, PAID])]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL]


def test_texts_in_parts_are_texts_and_other_parts_are_carried() -> None:
    image = {"type": "input_image", "image_url": "data:,", "detail": "auto"}
    chat = [{"role": "user", "content": [{"type": "input_text", "text": "Look"}, image]}]
    assert turn(chat, conversation="c").message == Message(Role.USER, ("Look", image))


def test_the_answer_of_a_custom_tool_is_of_its_own_type() -> None:
    asked = {"type": "custom_tool_call", "call_id": "call_2", "name": "sql", "input": "drop table"}
    (call,) = calls(response(asked))
    assert call == CustomCall("call_2", "sql", {"input": "drop table"})
    told = refuse(call, "no")
    assert told == {"type": "custom_tool_call_output", "call_id": "call_2", "output": "no"}
    assert turn([USER, asked, told], conversation="c").results[0].tool == "sql"


def test_a_reply_that_goes_on_from_what_the_server_keeps_is_refused_with_the_way_out() -> None:
    for kept in ({"previous_response_id": "resp_0"}, {"conversation": {"id": "conv_1"}}):
        with pytest.raises(InvalidTurn, match="send the whole list in every call, without previous_response_id"):
            calls(response(PAY, **kept))


@pytest.mark.parametrize(
    ("item", "words"), [(PAID, "output of call 'call_1'"), ({"type": "item_reference", "id": "msg_0"}, "stands for")]
)
def test_a_list_that_leaves_out_what_the_server_keeps_is_refused(item: Any, words: str) -> None:
    with pytest.raises(InvalidTurn, match=rf"chat\[0\].*{words}.*send the whole list"):
        turn([item, USER], conversation="c")


def test_the_calls_without_an_output_are_told_in_their_order() -> None:
    other = {**PAY, "call_id": "call_2"}
    assert [call.id for call in unanswered([USER, THOUGHT, PAY, other])] == ["call_1", "call_2"]
    assert [call.id for call in unanswered([USER, THOUGHT, PAY, other, PAID])] == ["call_2"]
    assert unanswered([USER]) == ()


def test_an_output_that_goes_keeps_its_place() -> None:
    output = {**PAID, "output": BLOCK}
    drop = Drop("a", carrier_of(text_digest(BLOCK), "t"), 5)
    assert take_out([USER, PAY, output], [drop]) == [USER, PAY, {**PAID, "output": TAKEN_OUT}]
    parts = {**PAID, "output": [{"type": "input_text", "text": BLOCK}]}
    assert take_out([parts], [drop]) == [{**PAID, "output": [{"type": "input_text", "text": TAKEN_OUT}]}]


def test_our_tools_are_declared_without_strictness_which_knows_no_optional_parameters() -> None:
    assert {(tool["type"], tool["strict"]) for tool in skill_tools()} == {("function", False)}
    assert skill_tools()[0]["name"] == "read_skill"
