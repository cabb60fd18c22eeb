"""Twelve turns with all that may happen: the next request begins with what the provider has cached of the last one."""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_server.parts import service_in
from tests.skillweave_server.running import served_service

import skillweave
from skillweave.loop_thread import LoopThread
from skillweave_server.gateways import Gateway
from skillweave_server.upstreams import providers_of
from skillweave_testing.hosts import Says, tool_call
from skillweave_testing.hosts.play import SKILLS
from tests.adapters.hosts.crowd import CROWD, OffersForms
from tests.adapters.recording.prefix import share
from tests.exchange.talks import TALKS, Talk
from tests.recording.server import RecordingServer

MATCHERS = ["triggers", "lexical", "explicit", OffersForms()]
TOOLS = ("search", "submit")
FILING = next(one for one in SKILLS if one["id"] == "filing")


class Play:
    """A conversation through one of the doors, and how its weaver forgets a skill."""

    def __init__(self, talk: Talk, evict: Callable[[str, str], object]) -> None:
        self.talk, self._evict = talk, evict

    def evict(self, skill_id: str) -> None:
        """Forgets that the skill was given."""
        self._evict(self.talk.conversation, skill_id)


@contextmanager
def wrapped(kind: type[Talk], server: RecordingServer, folder: Path, stream: bool) -> Iterator[Play]:
    """A wrapped client."""
    weaver = skillweave.open(*CROWD, FILING, matchers=MATCHERS)
    yield Play(kind(server, weaver, TOOLS, stream=stream), weaver.sync.evict)


@contextmanager
def at_gateway(kind: type[Talk], server: RecordingServer, folder: Path, stream: bool) -> Iterator[Play]:
    """A client of the gateway, which knows its address alone."""
    service, thread, stack = service_in(folder, (*CROWD, FILING), matchers=MATCHERS), LoopThread(), AsyncExitStack()
    service.gateway = Gateway(providers_of([f"p={server.anthropic}"], [], {}), approval_seconds=0.01)
    url = thread.run(stack.enter_async_context(served_service(service)))
    talk = kind(server, None, TOOLS, stream=stream, gateway=f"{url}/gateway/p")
    yield Play(talk, lambda *given: thread.run(service.weaver("").evict(*given)))
    thread.run(stack.aclose())
    thread.stop()


DOORS = [(door, kind) for door in (wrapped, at_gateway) for kind in TALKS]


@pytest.fixture(params=DOORS, ids=[f"{door.__name__}-{kind.form}" for door, kind in DOORS])
def played(request: pytest.FixtureRequest, server: RecordingServer, tmp_path: Path, stream: bool) -> Iterator[Talk]:
    """The conversation when it is over."""
    door, kind = request.param
    with door(kind, server, tmp_path, stream) as made, contextlib.closing(made.talk.client):
        play(made, server)
        yield made.talk


def search(text: str) -> Any:
    return tool_call("search", text=text)


def play(made: Play, server: RecordingServer) -> None:
    """Twelve messages: own, parallel, denied and mixed calls, a call at a checkpoint, offers, an eviction."""
    say, talk = server.script.then, made.talk
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
    made.evict("greetings")
    talk.say("Say bonjour to Bob")
    say(Says(asks=(tool_call("read_skill", skill_id="nothing-like-it"),)), "Sorry.")
    talk.say("Is there anything else in the drawer?")
    talk.say("Thanks, that is all.")


def test_every_request_begins_with_the_one_before_up_to_the_tail(server: RecordingServer, played: Talk) -> None:
    found = share(server.script.sent)
    assert found.breaks == ()
    assert found.calls == len(server.script.sent) > 18
    assert not [headers for headers in played.told if "x-skillweave-break" in headers]


def test_what_is_given_twelve_times_wanted_stands_there_once(server: RecordingServer, played: Talk) -> None:
    assert server.script.last.times_in_messages("Begin with field 7 and") == 1
    assert server.script.last.times_in_messages("Assemble the filing, then submit it.") == 1
