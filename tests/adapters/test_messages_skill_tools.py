import json
from typing import Any

import pytest

import skillweave
from skillweave import Injection, Settings, ToolAnswer, Weaver
from skillweave.adapters.messages import Call, anthropic_style, openai_style
from skillweave.adapters.messages.lists import take_out
from skillweave.disclose.block import TAKEN_OUT, carrier_of, text_digest
from skillweave.tools import SkillTools
from skillweave.turn.reconcile import in_own_words
from skillweave.turns import Drop
from tests.injections import make_injection
from tests.skills import make_skill

STYLES = {"openai": openai_style, "anthropic": anthropic_style}
GREET = make_skill("greet", keywords=["hello"], instructions="Say hello.")


def weaver_of(*skills: Any) -> Weaver:
    return skillweave.open(*skills, settings=Settings(skill_tools=SkillTools.OFFERED))


def read_greet(weaver: Weaver, transcript: Any = None) -> ToolAnswer:
    return weaver.sync.tools.read_skill("greet", conversation="c", transcript=transcript)


def drops(injection: Injection | None) -> list[Drop]:
    assert injection is not None
    return [Drop(block.skill_id, block.id, block.tokens) for block in injection.blocks]


HEAD = "=== Skill Activated: Greet ==="


def drop_of(text: str) -> Drop:
    return Drop("greet", carrier_of(text_digest(text), "t"), 5)


def openai_call(call_id: str, name: str = "read_skill") -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps({"skill_id": "greet"})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def test_the_declarations_name_the_four_tools_in_both_styles() -> None:
    names = ["read_skill", "list_skills", "read_artifact", "search_skills"]
    assert [tool["function"]["name"] for tool in openai_style.skill_tools()] == names
    assert [tool["name"] for tool in anthropic_style.skill_tools()] == names


def test_the_declarations_are_json_schemas_of_texts() -> None:
    for tool in anthropic_style.skill_tools():
        schema = tool["input_schema"]
        assert schema["type"] == "object"
        assert all(argument["type"] == "string" for argument in schema["properties"].values())
        assert set(schema["required"]) <= set(schema["properties"])
    assert json.loads(json.dumps(openai_style.skill_tools())) == openai_style.skill_tools()


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_the_tools_are_offered_whatever_the_skills_forbid(style: Any) -> None:
    strict = make_skill("strict", keywords=["x"], tools=skillweave.ToolRules(allowed=(), forbidden=("read_skill",)))
    injection = weaver_of(strict).sync.weave("x", conversation="c", named=["strict"])
    assert len(style.offer([*style.skill_tools(), "bash"], injection)) == 4


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_what_was_read_by_a_tool_is_seen_in_the_chat_and_not_given_again(style: Any) -> None:
    weaver = weaver_of(GREET)
    answer = read_greet(weaver)
    if style is openai_style:
        chat = [{"role": "user", "content": "hm"}, openai_call("call-1"), style.answer(Call("call-1", "", {}), answer)]
    else:
        called = {"type": "tool_use", "id": "call-1", "name": "read_skill", "input": {"skill_id": "greet"}}
        result = style.answer(Call("call-1", "", {}), answer)
        chat = [
            {"role": "user", "content": "hm"},
            {"role": "assistant", "content": [called]},
            {"role": "user", "content": [result]},
        ]
    turn = style.turn([*chat, {"role": "user", "content": "hello"}], conversation="c")
    assert weaver.sync.weave(turn).messages == ()


def test_the_transcript_can_be_told_in_the_middle_of_tool_calls() -> None:
    chat = [{"role": "user", "content": "hm"}, openai_call("call-1")]
    assert [message.text for message in openai_style.transcript(chat)] == ["hm", ""]
    assert len(anthropic_style.transcript([{"role": "user", "content": [{"type": "text", "text": "hm"}]}])) == 1


def test_a_tool_result_that_goes_keeps_its_place() -> None:
    answer = read_greet(weaver_of(GREET))
    chat = [openai_call("call-1"), openai_style.answer(Call("call-1", "", {}), answer)]
    assert take_out(chat, drops(answer.injection)) == [
        openai_call("call-1"),
        {"role": "tool", "tool_call_id": "call-1", "content": TAKEN_OUT},
    ]


def test_a_system_message_that_is_nothing_but_the_block_goes_as_a_whole() -> None:
    injection = weaver_of(GREET).sync.weave("hello", conversation="c")
    chat = openai_style.place([{"role": "user", "content": "hello"}], injection)
    assert take_out(chat, drops(injection)) == [{"role": "user", "content": "hello"}]


def test_a_part_of_a_users_message_goes_and_the_users_words_stay() -> None:
    injection = weaver_of(GREET).sync.weave("hello", conversation="c")
    chat = anthropic_style.place([{"role": "user", "content": "hello"}], injection)
    (message,) = take_out(chat, drops(injection))
    texts = [part["text"] for part in message["content"]]
    assert texts == ["hello", TAKEN_OUT]


def test_other_blocks_in_the_same_text_stay() -> None:
    weaver = weaver_of(GREET, make_skill("part", instructions="Say goodbye."))
    first, second = read_greet(weaver), weaver.sync.tools.read_skill("part", conversation="c")
    text = f"{first.text}\n\n{second.text}"
    (message,) = take_out([{"role": "tool", "tool_call_id": "1", "content": text}], drops(first.injection))
    assert message["content"] == second.text


def test_messages_of_others_are_the_same_objects_again() -> None:
    answer = read_greet(weaver_of(GREET))
    other = {"role": "user", "content": "=== Skill Activated: Greet ===\nmine"}
    chat = [other, {"role": "tool", "content": answer.text, "tool_call_id": "1"}]
    after = take_out(chat, drops(answer.injection))
    assert after[0] is other
    assert chat[1]["content"] == answer.text, "the given list stays as it is"


def test_a_text_that_was_given_twice_goes_once_for_each_time_that_it_may_go() -> None:
    """The older one is outdated, because it was evicted; the newer one is needed."""
    weaver = weaver_of(GREET)
    first = read_greet(weaver)
    weaver.sync.evict("c", "greet")
    again = read_greet(weaver)
    assert first.text == again.text
    chat = [{"role": "tool", "tool_call_id": n, "content": text} for n, text in enumerate((first.text, again.text))]
    assert [one["content"] for one in take_out(chat, drops(first.injection))] == [TAKEN_OUT, again.text]
    both = [*drops(first.injection), *drops(again.injection)]
    assert [one["content"] for one in take_out(chat, both)] == [TAKEN_OUT, TAKEN_OUT]


def test_a_longer_block_that_begins_with_the_words_of_the_one_that_goes_stays_whole() -> None:
    longer = f"{HEAD}\nSay hello. And goodbye."
    text = f"words of the host\r\n\r\n{longer}\r\n\r\n{HEAD}\r\nSay hello."
    (message,) = take_out([{"role": "tool", "tool_call_id": "1", "content": text}], [drop_of(f"{HEAD}\nSay hello.")])
    assert message["content"] == f"words of the host\n\n{longer}"


def test_a_part_that_is_an_object_of_an_sdk_is_taken_out_too() -> None:
    class Dumped:
        def __init__(self, text: str) -> None:
            self.text = text

        def model_dump(self) -> dict[str, str]:
            return {"type": "text", "text": self.text}

    other = Dumped("other words")
    chat = [{"role": "user", "content": [other, Dumped(f"{HEAD}\nSay hello.")]}]
    (message,) = take_out(chat, [drop_of(f"{HEAD}\nSay hello.")])
    assert message["content"] == [other, {"type": "text", "text": TAKEN_OUT}]


@pytest.mark.parametrize(
    "odd", [None, 7, "text", b"bytes", {"role": "user"}, {"content": None}, {"content": [None, 3]}]
)
def test_what_is_no_message_is_left_as_it_is(odd: Any) -> None:
    assert take_out([odd], [drop_of(f"{HEAD}\nSay hello.")]) == [odd]


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_the_line_that_takes_the_place_of_a_text_is_nobodys_words(style: Any) -> None:
    triggered = make_skill("make-room", keywords=["make room", "skill text"])
    weaver = weaver_of(GREET, triggered)
    injection = weaver.sync.weave("hello", conversation="c")
    chat = style.place([{"role": "user", "content": [{"type": "text", "text": "hello"}]}], injection)
    before = style.turn(chat, conversation="c")
    after = style.turn(take_out(chat, drops(injection)), conversation="c")
    assert in_own_words(after, weaver.sync.ledger.state("c")).message.text == "hello"
    assert after.id == before.id, "it is the same turn again, with more room"


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_a_turn_stays_the_same_when_an_answer_of_our_tools_is_taken_out(style: Any) -> None:
    answer = read_greet(weaver_of(GREET))
    if style is openai_style:
        chat = [{"role": "user", "content": "hm"}, openai_call("call-1"), style.answer(Call("call-1", "", {}), answer)]
    else:
        called = {"type": "tool_use", "id": "call-1", "name": "read_skill", "input": {"skill_id": "greet"}}
        chat = [
            {"role": "user", "content": "hm"},
            {"role": "assistant", "content": [called]},
            {"role": "user", "content": [style.answer(Call("call-1", "", {}), answer)]},
        ]
    chat.append({"role": "user", "content": "And now?"})
    before = style.turn(chat, conversation="c")
    assert style.turn(take_out(chat, drops(answer.injection)), conversation="c").id == before.id


def test_what_was_taken_out_is_seen_to_be_gone() -> None:
    weaver = weaver_of(GREET)
    answer = read_greet(weaver)
    chat: list[Any] = [openai_call("call-1"), openai_style.answer(Call("call-1", "", {}), answer)]
    chat = take_out(chat, drops(answer.injection))
    assert read_greet(weaver, openai_style.transcript(chat)).text == answer.text


def test_a_drop_of_something_unknown_changes_nothing() -> None:
    chat = [{"role": "user", "content": "hello"}]
    assert take_out(chat, [Drop("x", "no-carrier", 5)]) == chat


def test_what_makes_room_and_what_was_rejected_leave_in_the_step_in_which_others_are_placed() -> None:
    idle, rejected = f"{HEAD}\nSay hello.", f"{HEAD}\nSay goodbye."
    chat = [{"role": "user", "content": "hello"}, *({"role": "system", "content": one} for one in (idle, rejected))]
    injection = make_injection(f"{HEAD}\nSay nothing.", drop=[drop_of(idle)], rejected=[drop_of(rejected)])
    assert [one["content"] for one in openai_style.place(chat, injection)] == ["hello", f"{HEAD}\nSay nothing."]
    assert len(chat) == 3


def test_in_anthropics_style_a_line_stands_where_a_part_left() -> None:
    idle = f"{HEAD}\nSay hello."
    chat = [{"role": "user", "content": [{"type": "text", "text": "hello"}, {"type": "text", "text": idle}]}]
    (message,) = anthropic_style.place(chat, make_injection(drop=[drop_of(idle)]))
    assert [part["text"] for part in message["content"]] == ["hello", TAKEN_OUT]


def test_a_text_that_is_to_leave_for_two_reasons_leaves_once() -> None:
    text = f"{HEAD}\nSay hello."
    chat = [{"role": "system", "content": text}, {"role": "system", "content": text}]
    assert take_out(chat, [drop_of(text), drop_of(text)]) == [{"role": "system", "content": text}]
