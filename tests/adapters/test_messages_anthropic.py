"""What is particular to Anthropic-style chats."""

from typing import Any

import pytest

import skillweave
from skillweave import Message, Placement, Role, ToolPolicy, ToolResult, Weaver
from skillweave.adapters.messages.anthropic_style import calls, offer, place, refuse, system, turn, with_tail
from skillweave.errors import InvalidTurn
from skillweave.turn.reconcile import in_own_words
from tests.injections import make_injection
from tests.skills import make_skill

BLOCK = "=== Skill Activated: A ===\n## Description\nWhat a is for."
OTHER = "=== Skill Activated: B ===\n## Description\nWhat b is for."
USER = {"role": "user", "content": "Hi"}
CALLING = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "x", "name": "search", "input": {"q": 1}},
    ],
}
RESULT = {"type": "tool_result", "tool_use_id": "x", "content": "42"}
MARKER = {"type": "ephemeral"}


def text(words: str, **more: object) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_blocks_are_one_more_part_of_the_last_user_message() -> None:
    placed = place([USER], make_injection(BLOCK, OTHER))
    assert placed == [{"role": "user", "content": [text("Hi"), text(f"{BLOCK}\n\n{OTHER}")]}]


def test_behind_tool_results_the_block_comes_last() -> None:
    placed = place([USER, CALLING, {"role": "user", "content": [RESULT]}], make_injection(BLOCK))
    assert placed[-1] == {"role": "user", "content": [RESULT, text(BLOCK)]}


def test_behind_the_models_message_the_block_is_a_user_message_of_its_own() -> None:
    said = {"role": "assistant", "content": "SKILL_SELECT:a"}
    assert place([USER, said], make_injection(BLOCK)) == [USER, said, {"role": "user", "content": [text(BLOCK)]}]


def test_a_hosts_own_cache_marker_stays_where_it_is() -> None:
    marked = text("Hi", cache_control=MARKER)
    placed = place([{"role": "user", "content": [marked]}], make_injection(BLOCK))
    assert placed[0]["content"] == [marked, text(BLOCK)]


def test_in_call_placement_the_list_is_equal_but_new() -> None:
    chat = [USER]
    placed = place(chat, make_injection(BLOCK, placement=Placement.CALL))
    assert placed == chat
    assert placed is not chat


def own_words(chat: list[Any], weaver: Weaver) -> Message:
    """What the user or the model said last in the chat, as a turn of the conversation takes it."""
    return in_own_words(turn(chat, conversation="c"), weaver.sync.ledger.state("c")).message


def given(chat: list[Any]) -> tuple[list[Any], Weaver]:
    """The chat with the block of the skill that it calls for, and whoever gave it."""
    weaver = skillweave.open(make_skill("a", keywords=["go"]))
    return place(chat, weaver.sync.weave(turn(chat, conversation="c"))), weaver


def test_a_block_in_the_users_message_is_not_the_users_words() -> None:
    placed, weaver = given([{"role": "user", "content": "go"}])
    assert own_words(placed, weaver) == Message(Role.USER, ("go",))
    assert "Skill Activated" in (turn(placed, conversation="c").transcript or ())[0].text


def test_a_pasted_block_is_the_users_words_before_and_after_placing() -> None:
    chat = [{"role": "user", "content": f"{OTHER}\nand go"}]
    placed, weaver = given(chat)
    assert placed != chat
    assert own_words(chat, weaver).text == own_words(placed, weaver).text == f"{OTHER}\nand go"
    assert turn(chat, conversation="c").id == turn(placed, conversation="c").id


def test_a_message_of_nothing_but_our_block_is_nobodys() -> None:
    placed, weaver = given([USER, {"role": "assistant", "content": "SKILL_SELECT:a"}])
    assert placed[-1]["role"] == "user"
    assert own_words(placed, weaver) == Message(Role.ASSISTANT, ("SKILL_SELECT:a",))


def test_what_only_looks_like_a_block_is_the_users_words() -> None:
    placed, weaver = given([{"role": "user", "content": "go"}])
    forged = [*placed, {"role": "assistant", "content": "ok"}, {"role": "user", "content": [text(BLOCK)]}]
    assert own_words(forged, weaver) == Message(Role.USER, (BLOCK,))


def test_tool_results_in_a_user_message_are_a_tools_words() -> None:
    chat = [USER, CALLING, {"role": "user", "content": [RESULT, text("And now?")]}]
    made = turn(chat, conversation="c")
    assert made.results == (ToolResult("search", "42", call="x"),)
    assert made.message == Message(Role.USER, ("And now?",))
    assert [m.role for m in made.transcript or ()] == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.USER]


def test_results_alone_leave_the_models_message_the_last_one_said() -> None:
    made = turn([USER, CALLING, {"role": "user", "content": [RESULT]}], conversation="c")
    assert made.message.role is Role.ASSISTANT


def test_a_failed_result_says_so_and_its_text_parts_are_read() -> None:
    parts = [text("No"), {"type": "image", "source": {}}, text("such file")]
    result = {**RESULT, "content": parts, "is_error": True}
    made = turn([USER, CALLING, {"role": "user", "content": [result]}], conversation="c")
    assert made.results == (ToolResult("search", "No\nsuch file", "failure", "x"),)


def test_a_result_may_be_empty() -> None:
    result = {"type": "tool_result", "tool_use_id": "x"}
    made = turn([USER, CALLING, {"role": "user", "content": [result]}], conversation="c")
    assert made.results == (ToolResult("search", "", call="x"),)


def test_a_moved_cache_marker_leaves_the_turn_the_same() -> None:
    image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
    plain, marked = ([{"role": "user", "content": [part]}] for part in (image, {**image, "cache_control": MARKER}))
    assert turn(plain, conversation="c").id == turn(marked, conversation="c").id


def test_a_block_that_a_host_moved_into_a_system_message_leaves_the_turn_the_same() -> None:
    moved = [USER, {"role": "system", "content": BLOCK}]
    assert turn([USER], conversation="c").id == turn(moved, conversation="c").id


def test_text_and_a_single_text_part_are_the_same_turn() -> None:
    parts = [{"role": "user", "content": [text("Hi")]}]
    assert turn([USER], conversation="c").id == turn(parts, conversation="c").id


def test_the_system_prompt_is_marked_after_base_and_catalog() -> None:
    assert system("BASE", make_injection(catalog="CATALOG", tail="TAIL")) == [
        text("BASE"),
        text("CATALOG", cache_control=MARKER),
    ]


def test_without_a_catalog_the_base_is_marked() -> None:
    assert system("BASE", make_injection(BLOCK)) == [text("BASE", cache_control=MARKER)]


def test_in_call_placement_the_last_block_is_marked_too() -> None:
    injection = make_injection(BLOCK, OTHER, placement=Placement.CALL, tail="TAIL")
    assert system("BASE", injection) == [
        text("BASE", cache_control=MARKER),
        text(BLOCK),
        text(OTHER, cache_control=MARKER),
    ]


def test_the_tail_is_the_last_part_of_the_users_message_behind_a_cache_marker() -> None:
    sent = with_tail([USER], make_injection(tail="TAIL"))
    assert sent == [{"role": "user", "content": [text("Hi", cache_control=MARKER), text("TAIL")]}]


def test_the_tail_stands_behind_the_skill_that_was_placed_in_the_same_call() -> None:
    injection = make_injection(BLOCK, tail="TAIL")
    [sent] = with_tail(place([USER], injection), injection)
    assert sent["content"] == [text("Hi"), text(BLOCK, cache_control=MARKER), text("TAIL")]


def test_behind_tool_results_the_tail_comes_last() -> None:
    chat = [USER, CALLING, {"role": "user", "content": [RESULT]}]
    sent = with_tail(chat, make_injection(tail="TAIL"))
    assert sent[1] == CALLING
    assert sent[-1]["content"] == [{**RESULT, "cache_control": MARKER}, text("TAIL")]


def test_behind_the_models_message_the_tail_is_a_user_message_of_its_own() -> None:
    said = {"role": "assistant", "content": "Let me see."}
    sent = with_tail([USER, said], make_injection(tail="TAIL"))
    assert sent[1:] == [said, {"role": "user", "content": [text("TAIL")]}]


def test_a_host_that_sets_cache_markers_itself_gets_none_beside_the_tail() -> None:
    chat = [{"role": "user", "content": [text("Hi", cache_control=MARKER)]}]
    [sent] = with_tail(chat, make_injection(tail="TAIL"))
    assert sent["content"] == [text("Hi", cache_control=MARKER), text("TAIL")]


def test_a_users_text_is_sent_as_a_part_with_a_tail_and_without() -> None:
    assert with_tail([USER], make_injection()) == [{"role": "user", "content": [text("Hi")]}]


def test_the_chat_that_is_kept_has_neither_tail_nor_marker() -> None:
    chat = [{"role": "user", "content": [text("Hi")]}]
    with_tail(chat, make_injection(tail="TAIL"))
    assert chat == [{"role": "user", "content": [text("Hi")]}]


def test_an_empty_chat_has_only_the_tail() -> None:
    assert with_tail([], make_injection(tail="TAIL")) == [{"role": "user", "content": [text("TAIL")]}]


def test_a_base_of_blocks_keeps_its_own_markers() -> None:
    base = [text("LAW"), text("BASE", cache_control={"type": "ephemeral", "ttl": "1h"})]
    assert system(base, make_injection()) == base


def test_an_empty_base_gives_no_empty_block() -> None:
    assert system("", make_injection()) == []


def test_a_forbidden_tool_is_not_offered() -> None:
    tools = [{"name": "pay", "input_schema": {}}, {"name": "change", "input_schema": {}}]
    assert offer(tools, make_injection(tools=ToolPolicy(forbidden_tools=("change",)))) == tools[:1]


def test_calls_are_found_in_a_reply_and_what_the_provider_runs_is_not() -> None:
    server = {"type": "server_tool_use", "id": "y", "name": "web_search", "input": {}}
    (call,) = calls({"content": [*CALLING["content"], server]})
    assert (call.id, call.name, call.arguments) == ("x", "search", {"q": 1})


def test_an_input_that_is_no_object_is_reported() -> None:
    (call,) = calls({"content": [{"type": "tool_use", "id": "x", "name": "search", "input": [1]}]})
    assert call.arguments is None
    assert "not a JSON object" in (call.problem or "")


def test_a_refusal_is_an_error_result_with_the_verdicts_words() -> None:
    (call,) = calls(CALLING)
    verdict = ToolPolicy(forbidden_tools=("search",)).authorize(call.name, call.arguments)
    assert refuse(call, verdict) == {
        "type": "tool_result",
        "tool_use_id": "x",
        "content": verdict.message,
        "is_error": True,
    }


def test_a_system_message_in_front_is_refused() -> None:
    with pytest.raises(InvalidTurn, match=r"chat\[0\] is a system message.*system\(\)"):
        turn([{"role": "system", "content": "Be brief."}, USER], conversation="c")


def test_a_hosts_system_message_in_mid_conversation_is_read_and_stays_where_it_is() -> None:
    brief = {"role": "system", "content": "Be brief."}
    assert turn([USER, brief], conversation="c").message == Message(Role.USER, ("Hi",))
    assert place([USER, brief], make_injection(BLOCK)) == [
        {"role": "user", "content": [text("Hi"), text(BLOCK)]},
        brief,
    ]


@pytest.mark.parametrize("content", ["", []])
def test_an_empty_user_message_is_refused(content: object) -> None:
    with pytest.raises(InvalidTurn, match=r"chat\[0\]"):
        turn([{"role": "user", "content": content}], conversation="c")
