"""Twelve turns with all that may happen: the next request begins with what the provider has cached of the last one."""

from collections.abc import Callable
from typing import Any

from skillweave_testing.hosts import Says, tool_call
from skillweave_testing.hosts.play import SKILLS
from tests.adapters.hosts.crowd import CROWD, OffersForms
from tests.adapters.recording.prefix import share
from tests.exchange.conftest import weaver_of
from tests.exchange.talks import Talk
from tests.recording.server import RecordingServer

FILING = next(one for one in SKILLS if one["id"] == "filing")


def search(text: str) -> Any:
    return tool_call("search", text=text)


def play(talk: Talk, server: RecordingServer) -> None:
    """Twelve messages: own, parallel, denied and mixed calls, a call at a checkpoint, offers, an eviction."""
    say = server.script.then
    talk.say("What can you do?")
    say(Says(asks=(search("a"), search("b"))), "Quite a lot.")
    talk.say("Is there anything left in the drawer?")
    talk.answer()
    say(Says("Let me see.", (tool_call("read_skill", skill_id="form-007"),)), "Field 7.")
    talk.say("Fill in form 7, please.")
    say(Says(asks=(tool_call("read_skill", skill_id="form-011"), search("c"))), "Field 11.")
    talk.say("And form 11?")
    talk.answer()
    talk.say("Is this invoice right?")
    say(Says(asks=(tool_call("search_skills", query="tax"),)), Says(asks=(search("d"),)), "None.")
    talk.say("What about taxes?")
    talk.answer()
    talk.say("Please assemble the filing.")
    say(Says(asks=(tool_call("submit", text="F1"), search("e"))), "It waits.")
    talk.say("Submit it.")
    talk.answer()
    talk.say("Say bonjour to Alice")
    conversation = talk.behind.last.conversation
    talk.behind.weaver.sync.evict(conversation, "greetings")
    talk.say("Say bonjour to Bob")
    say(Says(asks=(tool_call("read_skill", skill_id="nothing-like-it"),)), "Sorry.")
    talk.say("Is there anything else in the drawer?")
    talk.say("Thanks, that is all.")


def test_every_request_begins_with_the_one_before_up_to_the_tail(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin(
        weaver_of(*CROWD, FILING, matchers=["triggers", "lexical", "explicit", OffersForms()]),
        tools=("search", "submit"),
    )
    play(talk, server)
    found = share(server.script.sent)
    assert found.breaks == ()
    assert found.calls == len(server.script.sent) > 18
    assert "X-Skillweave-Break" not in talk.headers


def test_what_is_given_twelve_times_wanted_stands_there_once(
    server: RecordingServer, begin: Callable[..., Talk]
) -> None:
    talk = begin(
        weaver_of(*CROWD, FILING, matchers=["triggers", "lexical", "explicit", OffersForms()]),
        tools=("search", "submit"),
    )
    play(talk, server)
    assert server.script.last.times_in_messages("Begin with field 7 and") == 1
    assert server.script.last.times_in_messages("Assemble the filing, then submit it.") == 1
