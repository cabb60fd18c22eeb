"""One line around a client: skills are given once, own calls answered, forbidden ones never seen, in every form."""

from collections.abc import Callable

from skillweave_testing.hosts import Says, tool_call
from skillweave_testing.hosts.play import GREETINGS, INVOICES
from tests.exchange.talks import Talk
from tests.recording.server import RecordingServer


def test_a_skill_is_given_once_and_stands_where_it_stood(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    talk = begin()
    assert talk.say("Say bonjour to Alice") == "All right."
    talk.say("And to Bob")
    talk.say("And to Carol")
    assert [sent.times_in_messages(GREETINGS) for sent in server.script.sent] == [1, 1, 1]
    assert len({sent.messages[0] for sent in server.script.sent}) == 1


def test_a_call_of_ours_is_answered_inside(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    server.script.then(Says("Let me look.", (tool_call("read_skill", skill_id="greetings"),)), "Bonjour!")
    talk = begin()
    said = talk.say("Greet my neighbour")
    assert ("Let me look." in said, "Bonjour!" in said, talk.calls) == (True, True, [])
    assert server.script.last.times_in_messages(GREETINGS) == 1
    talk.say("Thanks")
    assert server.script.last.times_in_messages(GREETINGS) == 1
    assert server.script.last.messages[:-2] == server.script.sent[1].messages


def test_a_forbidden_tool_is_neither_shown_nor_called(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    server.script.then(Says(asks=(tool_call("write", text="x"),)), "Then not.")
    talk = begin()
    assert talk.say("Is this invoice right?") == "Then not."
    assert talk.calls == []
    assert "write" not in server.script.sent[0].tools
    assert server.script.last.times_in_messages("TOOL_FORBIDDEN") == 1


def test_later_restraints_judge_calls_and_leave_the_tools_as_they_are(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin()
    talk.say("Hello")
    server.script.then(Says(asks=(tool_call("write", text="x"), tool_call("search", text="y"))), "Found.")
    talk.say("Is this invoice right?")
    assert [call.name for call in talk.calls] == ["search"]
    assert talk.answer(search="three payments") == "Found."
    assert {sent.declared for sent in server.script.sent} == {server.script.sent[0].declared}
    assert server.script.last.times_in_messages("TOOL_FORBIDDEN") == 1
    assert server.script.last.times_in_messages(INVOICES) == 1


def test_an_own_call_and_the_clients_call_in_one_reply(server: RecordingServer, begin: Callable[..., Talk]) -> None:
    own, theirs = tool_call("read_skill", skill_id="greetings"), tool_call("search", text="Alice")
    server.script.then(Says("Both.", (own, theirs)), "Bonjour, Alice!")
    talk = begin()
    assert talk.say("Greet my neighbour") == "Both."
    assert [call.name for call in talk.calls] == ["search"]
    assert talk.answer(search="She is Alice.") == "Bonjour, Alice!"
    sent = server.script.last
    assert (sent.times_in_messages(GREETINGS), sent.times_in_messages("She is Alice.")) == (1, 1)
    talk.say("Thanks")
    assert server.script.last.messages[: len(sent.messages)] == sent.messages


def test_what_happened_is_told_in_process(begin: Callable[..., Talk]) -> None:
    talk = begin()
    talk.say("Say bonjour to Alice")
    assert talk.behind.last.skills == ("greetings",)
    assert [one.decision.skill_id for one in talk.behind.why()] == ["greetings"]
