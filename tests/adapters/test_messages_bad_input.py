"""Chats that are not chats: one clear line that names the place."""

from typing import Any

import pytest

from skillweave.errors import InvalidTurn
from tests.chatting import ALL_SHAPES, Says, Style

USER = {"role": "user", "content": "Hi"}


@pytest.fixture(params=ALL_SHAPES)
def style(request: pytest.FixtureRequest) -> Style:
    """Each style in turn."""
    return ALL_SHAPES[request.param]().style


def circle() -> dict[str, Any]:
    part: dict[str, Any] = {"type": "image"}
    part["image"] = part
    return part


@pytest.mark.parametrize(
    ("chat", "said"),
    [
        ("Hi", "the chat is a str"),
        (None, "the chat is a NoneType"),
        (USER, "the chat is a dict"),
        ([], "the chat is empty"),
        ([USER, "Hi"], r"chat\[1\] is a str"),
        ([USER, None], r"chat\[1\] is a NoneType"),
        ([USER, {"content": "Hi"}], r"chat\[1\] has no role"),
        ([USER, {"role": "bot", "content": "Hi"}], r"chat\[1\] has the unknown role 'bot'; use one of .*user"),
        ([USER, {"role": ["user"], "content": "Hi"}], r"chat\[1\] has the unknown role"),
        ([USER, {"role": "user"}], r"chat\[1\] has no content"),
        ([USER, {"role": "user", "content": None}], r"chat\[1\] has no content"),
        ([USER, {"role": "assistant"}], r"chat\[1\] has no content"),
        ([USER, {"role": "user", "content": 7}], r"chat\[1\] has content of type int"),
        ([USER, {"role": "user", "content": ["Hi"]}], r"chat\[1\]\.content\[0\] is a str"),
        ([USER, {"role": "user", "content": [{"text": "Hi"}]}], r"chat\[1\]\.content\[0\] is a dict without a type"),
        ([USER, {"role": "user", "content": [circle()]}], r"chat\[1\] cannot be written as JSON"),
        ([USER, {"role": "user", "content": [{"type": "x", ("a",): 1}]}], r"chat\[1\] cannot be written as JSON"),
    ],
)
def test_what_is_no_chat_is_refused_with_its_place(style: Style, chat: Any, said: str) -> None:
    with pytest.raises(InvalidTurn, match=said) as raised:
        style.turn(chat, conversation="c")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("shapes", "kind"), [("openai", "text"), ("responses", "input_text"), ("anthropic", "text")])
def test_a_text_part_without_text_is_refused_with_its_place(shapes: str, kind: str) -> None:
    with pytest.raises(InvalidTurn, match=r"chat\[0\]\.content\[0\] is a text part without"):
        ALL_SHAPES[shapes]().style.turn([{"role": "user", "content": [{"type": kind}]}], conversation="c")


@pytest.mark.parametrize(
    ("shapes", "kind", "right"),
    [("openai", "input_text", "text"), ("anthropic", "output_text", "text"), ("responses", "text", "input_text")],
)
def test_a_text_part_of_another_interface_is_refused_by_its_type(shapes: str, kind: str, right: str) -> None:
    chat = [{"role": "user", "content": [{"type": kind, "text": "Hi"}]}]
    with pytest.raises(
        InvalidTurn, match=rf"chat\[0\]\.content\[0\] is of type '{kind}'.* of type '{right}'.*responses_style"
    ):
        ALL_SHAPES[shapes]().style.turn(chat, conversation="c")


@pytest.mark.parametrize("shapes", ALL_SHAPES)
@pytest.mark.parametrize("others", ALL_SHAPES)
def test_a_reply_of_another_interface_names_the_style_that_reads_it(shapes: str, others: str) -> None:
    style, reply = ALL_SHAPES[shapes]().style, ALL_SHAPES[others]().reply(Says(calls=(("pay", {}),)), ["x"])
    reply = {"type": "message", **reply} if others == "anthropic" else reply
    if shapes == others:
        assert [call.name for call in style.calls(reply)] == ["pay"]
        return
    with pytest.raises(InvalidTurn, match=rf"{others}_style\.calls reads, not {shapes}_style\.calls"):
        style.calls(reply)


@pytest.mark.parametrize("shapes", ALL_SHAPES)
def test_calls_that_nobody_answered_are_refused_by_name(shapes: str) -> None:
    made = ALL_SHAPES[shapes]()
    chat = made.heard([USER], made.reply(Says(calls=(("pay", {}), ("search", {}))), ["x", "y"]))
    answered = made.answered(chat, [made.ran(made.style.calls(made.reply(Says(calls=(("pay", {}),)), ["x"]))[0], "ok")])
    with pytest.raises(InvalidTurn, match=r"chat\[1\] calls 'pay' and no result follows"):
        made.style.turn(chat, conversation="c")
    with pytest.raises(InvalidTurn, match=r"chat\[1\] calls 'search' and no result follows"):
        made.style.turn(answered, conversation="c")


def test_a_tool_that_names_nothing_is_refused_with_its_place(style: Style) -> None:
    with pytest.raises(InvalidTurn, match=r"tools\[1\] names no tool"):
        style.turn([USER], conversation="c", tools=["pay", {"description": "?"}])


def test_an_option_that_does_not_exist_is_an_error_and_not_ignored(style: Style) -> None:
    with pytest.raises(TypeError, match="'tool'"):
        style.turn([USER], conversation="c", tool=["pay"])


def test_a_conversation_needs_a_name(style: Style) -> None:
    with pytest.raises(InvalidTurn, match="conversation"):
        style.turn([USER], conversation="")


@pytest.mark.parametrize("text", ["\ud800", "\x00", "x" * 1_000_000])
def test_any_text_makes_a_turn(style: Style, text: str) -> None:
    made = style.turn([{"role": "user", "content": text}], conversation="c")
    assert made.message.text == text
    assert len(made.id) < 50
