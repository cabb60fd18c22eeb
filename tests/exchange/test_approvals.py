"""Calls at a checkpoint: a person is asked while the reply is held, and a yes lets one call through."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import skillweave
from skillweave_testing.hosts import Says, tool_call
from tests.exchange.conftest import weaver_of
from tests.exchange.talks import ChatTalk, Talk
from tests.recording.server import RecordingServer

SUBMIT = Says("Now.", (tool_call("submit", text="F1"), tool_call("search", text="x")))
TOOLS = ("search", "submit")


def asked(*answers: Any) -> tuple[list[Mapping[str, Any]], Callable[[Mapping[str, Any]], Any]]:
    """The questions that came, and the person who answers them."""
    questions: list[Mapping[str, Any]] = []
    said = list(answers)

    def approve(question: Mapping[str, Any]) -> Any:
        questions.append(question)
        return said.pop(0)

    return questions, approve


def test_a_yes_lets_the_call_through_once(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    questions, approve = asked({"verdict": "approved", "by": "Kim"}, None)
    talk = begin(weaver_of(), tools=TOOLS, approve=approve)
    server.script.then(SUBMIT)
    talk.say("Please assemble the filing.")
    assert [call.name for call in talk.calls] == ["submit", "search"]
    assert questions[0]["call"]["arguments"] == {"text": "F1"}
    server.script.then(Says(asks=(tool_call("submit", text="F1"),)), "Then not.")
    assert talk.answer() == "Then not."
    assert len(questions) == 2


def test_a_no_is_told_to_the_model_and_the_call_never_comes(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    _, approve = asked({"verdict": "rejected", "by": "Kim", "note": "page 3 is missing"})
    talk = begin(weaver_of(), tools=TOOLS, approve=approve)
    server.script.then(SUBMIT, "I add it.")
    talk.say("Please assemble the filing.")
    assert [call.name for call in talk.calls] == ["search"]
    assert talk.answer() == "I add it."
    assert server.script.last.times_in_messages("page 3 is missing") == 1


def test_a_verdict_with_new_arguments_goes_out_with_these(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    _, approve = asked({"verdict": "modified", "by": "Kim", "arguments": {"text": "F2"}})
    talk = begin(weaver_of(), tools=TOOLS, approve=approve)
    server.script.then(SUBMIT)
    talk.say("Please assemble the filing.")
    assert [(call.name, call.arguments["text"]) for call in talk.calls] == [("submit", "F2"), ("search", "x")]
    talk.answer()
    assert server.script.last.times_in_messages("F1") == 0


def test_without_anybody_to_ask_the_call_is_denied_with_the_reason(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin(tools=TOOLS)
    server.script.then(Says(asks=(tool_call("submit", text="F1"),)), "Then not.")
    assert talk.say("Please assemble the filing.") == "Then not."
    assert server.script.last.times_in_messages("nobody could be asked") == 1


def test_an_answer_that_is_no_verdict_fails_and_is_no_yes(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin(tools=TOOLS, approve=asked("perhaps")[1])
    server.script.then(Says(asks=(tool_call("submit", text="F1"),)), "Then not.")
    with pytest.raises(Exception, match=r"verdict 'perhaps' is none|Connection error"):
        talk.say("Please assemble the filing.")
    assert talk.calls == []


def test_an_async_function_may_ask(server: RecordingServer) -> None:
    async def approve(_: Mapping[str, Any]) -> str:
        return "approved"

    talk = ChatTalk(server, skillweave.open(*_skills()), TOOLS, approve=approve)
    server.script.then(SUBMIT)
    talk.say("Please assemble the filing.")
    assert [call.name for call in talk.calls] == ["submit", "search"]
    talk.client.close()


def _skills() -> Any:
    from skillweave_testing.hosts.play import SKILLS

    return SKILLS
