"""The contract about room: what has been idle for long leaves the history before a new skill would not fit."""

from itertools import pairwise

import pytest

from skillweave import Budget, CatalogMode, Settings
from skillweave_testing.hosts import Says, Sent, tool_call
from skillweave_testing.hosts.play import HostContract, Play, heading
from tests.adapters.hosts.crowd import TOPICS, long_text
from tests.adapters.hosts.tails import broken

NARROW = Settings(catalog=CatalogMode.NEVER, budget=Budget(total=600))
"""Room for two of the long texts."""


@pytest.mark.asyncio
class RoomContract(HostContract):
    """In a conversation of five topics each new one finds room, in hosts whose history an adapter may change."""

    async def test_every_topic_gets_its_skill_in_the_call_that_asks_for_it(self, play: Play) -> None:
        given = [sent for sent, asked in await _five_topics(play) if asked]
        assert [sent.times(long_text(number)) for number, sent in enumerate(given, 1)] == [1] * 5

    async def test_what_leaves_is_gone_from_the_call_and_from_the_hosts_history(self, play: Play) -> None:
        await _five_topics(play)
        kept = "".join(await play.agent.kept())
        left = [number for number in range(1, 6) if long_text(number) in kept]
        assert left == ([4, 5] if self.keeps_texts else [])
        assert [number for number in range(1, 6) if play.script.last.times(long_text(number))] == [4, 5]

    async def test_no_call_holds_more_than_the_budget(self, play: Play) -> None:
        for sent, _ in await _five_topics(play):
            assert sum(sent.times(long_text(number)) for number in range(1, 6)) <= 2

    async def test_only_the_calls_in_which_something_leaves_break_the_cache(self, play: Play) -> None:
        calls = [sent for sent, _ in await _five_topics(play)]
        held = [{number for number in range(1, 6) if sent.times(long_text(number))} for sent in calls]
        leaving = [number for number, (before, after) in enumerate(pairwise(held), 1) if before - after]
        assert len(leaving) == 3
        assert broken(calls) == leaving

    async def test_a_topic_that_comes_back_is_given_again(self, play: Play) -> None:
        await _five_topics(play)
        await play.agent.say("Once more matter1, please")
        assert play.script.last.times(long_text(1)) == 1
        assert play.script.last.times(heading("topic-1")) == 1

    async def test_a_text_that_a_tool_gave_leaves_too_and_its_call_keeps_an_answer(self, play: Play) -> None:
        play.begin_among(TOPICS, NARROW)
        play.script.then(Says(asks=(tool_call("read_skill", "first", skill_id="topic-1"),)), "Read.")
        await play.agent.say("Hello")
        for text in ("Go on", "Go on", "About matter2", "Go on", "Go on", "About matter3"):
            await play.agent.say(text)
        assert play.script.last.times(long_text(1)) == 0
        assert play.script.last.times(long_text(3)) == 1
        assert play.script.last.times_in_messages("was taken out to make room") == 1

    async def test_a_skill_that_the_model_opens_when_there_is_no_room_is_in_its_next_call(self, play: Play) -> None:
        play.begin_among(TOPICS, NARROW)
        for text in ("About matter1", "Go on", "About matter2", "Go on", "Go on"):
            await play.agent.say(text)
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="topic-3"),)), "Read.")
        await play.agent.say("Something else")
        assert play.script.last.times(long_text(3)) == 1
        assert play.script.last.times(long_text(1)) == 0


@pytest.mark.asyncio
class CallRoomContract(HostContract):
    """In call placement what has been idle for long is simply not in the next call."""

    async def test_every_topic_gets_its_skill_in_the_call_that_asks_for_it(self, play: Play) -> None:
        given = [sent for sent, asked in await _five_topics(play) if asked]
        assert [sent.times(long_text(number)) for number, sent in enumerate(given, 1)] == [1] * 5

    async def test_no_call_holds_more_than_the_budget(self, play: Play) -> None:
        for sent, _ in await _five_topics(play):
            assert sum(sent.times(long_text(number)) for number in range(1, 6)) <= 2


async def _five_topics(play: Play) -> list[tuple[Sent, bool]]:
    """Ask for one topic after the other, with three other messages after each; what was sent, and whether it asked."""
    play.begin_among(TOPICS, NARROW)
    calls = []
    for number in range(1, 6):
        for text in (f"About matter{number}", "Go on", "Thanks", "And then?"):
            await play.agent.say(text)
            calls.append((play.script.last, "matter" in text))
    return calls
