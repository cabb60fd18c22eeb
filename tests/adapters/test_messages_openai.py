"""What is particular to OpenAI-style chats."""

from typing import Any

import pytest

from skillweave import Message, Placement, Role, ToolPolicy, ToolResult
from skillweave.adapters.messages.openai_style import calls, offer, place, refuse, system, turn, with_tail
from tests.injections import make_injection

BLOCK = "=== Skill Activated: A ===\n## Description\nWhat a is for."
OTHER = "=== Skill Activated: B ===\n## Description\nWhat b is for."
USER = {"role": "user", "content": "Hi"}


class Dumping:
    """An SDK's object: no dict, but dumps one."""

    def __init__(self, **fields: object) -> None:
        self._fields = fields

    def model_dump(self) -> dict[str, object]:
        return self._fields


def calling(*names: str) -> dict[str, Any]:
    functions = [{"id": f"id-{n}", "type": "function", "function": {"name": n, "arguments": "{}"}} for n in names]
    return {"role": "assistant", "content": None, "tool_calls": functions}


def test_each_block_is_a_system_message_at_the_end() -> None:
    assert place([USER], make_injection(BLOCK, OTHER)) == [
        USER,
        {"role": "system", "content": BLOCK},
        {"role": "system", "content": OTHER},
    ]


def test_in_call_placement_the_list_is_equal_but_new() -> None:
    chat = [USER]
    placed = place(chat, make_injection(BLOCK, placement=Placement.CALL))
    assert placed == chat
    assert placed is not chat


def test_a_developer_message_is_a_system_message() -> None:
    made = turn([{"role": "developer", "content": "Be brief."}, USER], conversation="c")
    assert [message.role for message in made.transcript or ()] == [Role.SYSTEM, Role.USER]


def test_text_parts_are_text_and_other_parts_are_carried() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    made = turn([{"role": "user", "content": [{"type": "text", "text": "Look"}, image]}], conversation="c")
    assert made.message == Message(Role.USER, ("Look", image))


def test_the_models_message_is_the_turns_message_when_it_is_the_last() -> None:
    made = turn([USER, {"role": "assistant", "content": "SKILL_SELECT:a"}], conversation="c")
    assert made.message == Message(Role.ASSISTANT, ("SKILL_SELECT:a",))


def test_a_message_of_the_model_needs_no_content_beside_its_calls() -> None:
    message = {key: value for key, value in calling("search").items() if key != "content"}
    made = turn([USER, message, {"role": "tool", "tool_call_id": "id-search", "content": "42"}], conversation="c")
    assert made.results == (ToolResult("search", "42", call="id-search"),)


def test_how_an_answer_begins_is_no_status_and_it_brings_the_arguments_that_the_rules_are_asked_about() -> None:
    message = calling("search")
    (call,) = calls(message)
    verdict = ToolPolicy(forbidden_tools=("search",)).authorize("search")
    made = turn([USER, message, refuse(call, verdict)], conversation="c")
    assert [(result.tool, result.status, result.arguments) for result in made.results] == [
        ("search", "success", call.arguments)
    ]


def test_a_call_that_could_not_be_read_is_invalid() -> None:
    function = {"name": "search", "arguments": "{no"}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": function}]}
    (call,) = calls(message)
    made = turn([USER, message, refuse(call, call.problem or "")], conversation="c")
    assert [(result.tool, result.status) for result in made.results] == [("search", "invalid")]


def test_a_result_whose_call_is_gone_goes_by_the_messages_own_name() -> None:
    chat = [USER, {"role": "tool", "tool_call_id": "lost", "name": "search", "content": "42"}]
    assert turn(chat, conversation="c").results == (ToolResult("search", "42", call="lost"),)


def test_a_function_message_of_old_is_a_result() -> None:
    chat = [USER, {"role": "assistant", "content": None}, {"role": "function", "name": "search", "content": "42"}]
    assert turn(chat, conversation="c").results == (ToolResult("search", "42"),)


def test_objects_of_an_sdk_are_read_as_what_they_dump() -> None:
    function = Dumping(name="search", arguments='{"q": 1}')
    reply = Dumping(role="assistant", content=None, tool_calls=[Dumping(id="x", type="function", function=function)])
    chat = [USER, reply, {"role": "tool", "tool_call_id": "x", "content": "42"}]
    assert turn(chat, conversation="c").results == (ToolResult("search", "42", call="x"),)
    assert place(chat, make_injection(BLOCK))[1] is reply


def test_a_hosts_system_prompt_does_not_change_the_turns_id() -> None:
    def at(time: str) -> str:
        return turn([{"role": "system", "content": f"It is {time}."}, USER], conversation="c").id

    assert at("10:03") == at("10:04") == turn([USER], conversation="c").id


def test_the_same_chat_in_another_conversation_is_another_turn() -> None:
    assert turn([USER], conversation="c").id != turn([USER], conversation="d").id


def test_what_the_model_called_makes_a_difference_to_the_turns_id() -> None:
    first, second = (
        [USER, calling(name), {"role": "tool", "tool_call_id": f"id-{name}", "content": "42"}] for name in ("a", "b")
    )
    assert turn(first, conversation="c").id != turn(second, conversation="c").id


def test_a_block_that_a_user_pasted_is_the_users_message() -> None:
    assert turn([{"role": "user", "content": BLOCK}], conversation="c").message.text == BLOCK


def test_the_system_prompt_as_text_holds_base_catalog_and_what_is_in_force() -> None:
    injection = make_injection(BLOCK, placement=Placement.CALL, catalog="CATALOG", tail="TAIL")
    assert system("BASE", injection) == f"BASE\n\nCATALOG\n\n{BLOCK}"


def test_the_tail_is_a_system_message_behind_everything_else() -> None:
    injection = make_injection(BLOCK, tail="TAIL")
    assert [one["content"] for one in with_tail(place([USER], injection), injection)] == ["Hi", BLOCK, "TAIL"]
    assert with_tail([USER], injection)[-1] == {"role": "system", "content": "TAIL"}


def test_without_a_tail_the_chat_is_sent_as_it_is() -> None:
    assert with_tail([USER], make_injection(BLOCK)) == [USER]


def test_the_chat_that_is_kept_does_not_have_the_tail() -> None:
    chat = [USER]
    with_tail(chat, make_injection(tail="TAIL"))
    assert chat == [USER]


def test_in_history_placement_the_system_prompt_holds_no_block() -> None:
    assert system("BASE", make_injection(BLOCK, catalog="CATALOG")) == "BASE\n\nCATALOG"


def test_an_empty_system_prompt_stays_empty() -> None:
    assert system("", make_injection()) == ""


def test_a_system_message_stays_a_message_of_its_role() -> None:
    message = system({"role": "developer", "content": "BASE"}, make_injection(catalog="CATALOG"))
    assert message == {"role": "developer", "content": "BASE\n\nCATALOG"}


def test_a_system_message_of_parts_gets_a_part_more() -> None:
    base = {"role": "system", "content": [{"type": "text", "text": "BASE"}]}
    assert system(base, make_injection(catalog="CATALOG"))["content"] == [
        {"type": "text", "text": "BASE"},
        {"type": "text", "text": "CATALOG"},
    ]
    assert system(base, make_injection()) == base


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "change"}},
        {"type": "function", "name": "change"},
        {"type": "custom", "custom": {"name": "change"}},
        {"type": "change"},
        "change",
    ],
)
def test_a_forbidden_tool_is_not_offered_however_it_is_declared(tool: object) -> None:
    kept = {"type": "function", "function": {"name": "pay"}}
    assert offer([tool, kept], make_injection(tools=ToolPolicy(forbidden_tools=("change",)))) == [kept]


def test_without_tools_nothing_is_offered() -> None:
    assert offer(None, make_injection()) == []


def test_the_names_of_the_declared_tools_are_the_hosts_grant() -> None:
    made = turn([USER], conversation="c", tools=[{"type": "function", "function": {"name": "pay"}}, "search"])
    assert made.tools == ("pay", "search")


def test_calls_are_found_in_a_response_and_in_its_message() -> None:
    message = calling("pay", "search")
    assert [call.name for call in calls(message)] == ["pay", "search"]
    assert calls({"choices": [{"message": message}]}) == calls(message)


@pytest.mark.parametrize("reply", [None, "text", {}, {"choices": []}, {"role": "assistant", "content": "Hi"}])
def test_a_reply_without_calls_has_none(reply: object) -> None:
    assert calls(reply) == ()


def test_arguments_are_read_from_their_json() -> None:
    (call,) = calls({"tool_calls": [{"id": "x", "function": {"name": "pay", "arguments": '{"n": 1}'}}]})
    assert (call.id, call.name, call.arguments, call.problem) == ("x", "pay", {"n": 1}, None)


def test_a_custom_tools_input_is_its_argument() -> None:
    (call,) = calls({"tool_calls": [{"id": "x", "type": "custom", "custom": {"name": "run", "input": "ls"}}]})
    assert (call.name, call.arguments) == ("run", {"input": "ls"})


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"n": ', "not JSON"),
        ("[1]", "not an object"),
        ("[" * 200_000, "nested too deeply"),
        ('{"n": ' + "1" * 10_000 + "}", "a number that is too long"),
        (7, "of type int"),
    ],
)
def test_broken_arguments_are_reported_and_cannot_be_run_by_mistake(written: object, said: str) -> None:
    (call,) = calls({"tool_calls": [{"id": "x", "function": {"name": "pay", "arguments": written}}]})
    assert call.arguments is None
    assert said in (call.problem or "")


def test_a_call_without_a_name_is_reported() -> None:
    (call,) = calls({"tool_calls": [{"id": "x", "function": {"arguments": "{}"}}]})
    assert call.problem is not None


def test_no_arguments_are_an_empty_object() -> None:
    (call,) = calls({"tool_calls": [{"id": "x", "function": {"name": "pay", "arguments": ""}}]})
    assert (call.arguments, call.problem) == ({}, None)


def test_a_refusal_answers_the_call_with_the_verdicts_words() -> None:
    (call,) = calls(calling("change"))
    verdict = ToolPolicy(forbidden_tools=("change",)).authorize(call.name, call.arguments)
    assert refuse(call, verdict) == {"role": "tool", "tool_call_id": "id-change", "content": verdict.message}
