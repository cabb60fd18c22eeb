"""Calls that wait for a person in plain lists: they are told, and the chat may go on over them."""

from typing import Any

import pytest

from skillweave.adapters.messages import NOT_RUN, anthropic_style
from tests.chatting import ALL_SHAPES, Request, Says, Shapes

TWO = Says("Let me see.", (("pay", {"to": "Kim"}), ("search", {})))


@pytest.fixture(params=ALL_SHAPES)
def shapes(request: pytest.FixtureRequest) -> Shapes:
    """The shapes of each style in turn."""
    return ALL_SHAPES[request.param]()


def asked(shapes: Shapes) -> list[Any]:
    """A chat whose last message calls two tools."""
    return shapes.heard([shapes.user("Pay Kim.")], shapes.reply(TWO, ["x", "y"]))


def test_the_calls_that_nobody_answered_are_told_in_their_order(shapes: Shapes) -> None:
    assert [call.name for call in shapes.style.unanswered(asked(shapes))] == ["pay", "search"]


def test_in_an_empty_chat_nothing_is_unanswered(shapes: Shapes) -> None:
    assert shapes.style.unanswered([]) == ()
    assert shapes.style.go_on([], "Hi") == [{"role": "user", "content": "Hi"}]


def test_what_was_answered_is_not_told(shapes: Shapes) -> None:
    pay, search = shapes.style.unanswered(asked(shapes))
    assert shapes.style.unanswered(shapes.answered(asked(shapes), [shapes.ran(search, "42")])) == (pay,)


def test_a_chat_goes_on_over_calls_that_wait_and_the_provider_takes_it(shapes: Shapes) -> None:
    chat = shapes.style.go_on(asked(shapes), "Wait. What is 2+2?")
    shapes.check(Request([] if shapes.style is anthropic_style else "", chat, []))
    turn = shapes.style.turn(chat, conversation="c")
    assert turn.message.text == "Wait. What is 2+2?"
    assert [(result.tool, result.content) for result in turn.results] == [("pay", NOT_RUN), ("search", NOT_RUN)]


def test_only_the_calls_without_an_answer_are_not_run(shapes: Shapes) -> None:
    _, search = shapes.style.unanswered(asked(shapes))
    chat = shapes.style.go_on(shapes.answered(asked(shapes), [shapes.ran(search, "42")]), "And now?")
    shapes.check(Request([] if shapes.style is anthropic_style else "", chat, []))
    results = shapes.style.turn(chat, conversation="c").results
    assert {(result.tool, result.content) for result in results} == {("search", "42"), ("pay", NOT_RUN)}


def test_where_nothing_waits_the_words_stand_as_they_are(shapes: Shapes) -> None:
    chat = shapes.heard([shapes.user("Hi")], shapes.reply(Says("Hello."), []))
    assert shapes.style.go_on(chat, "And now?") == [*chat, {"role": "user", "content": "And now?"}]


def test_in_anthropics_style_words_behind_a_users_message_join_it() -> None:
    result = {"type": "tool_result", "tool_use_id": "x", "content": "42"}
    chat = [{"role": "user", "content": [result]}]
    (message,) = anthropic_style.go_on(chat, "And now?")
    assert message["content"] == [result, {"type": "text", "text": "And now?"}]
