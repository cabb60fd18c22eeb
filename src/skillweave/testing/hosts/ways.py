"""The ways in which a framework runs an agent, where it has them: streaming, and without an event loop."""

import pytest

from skillweave.testing.hosts.play import HostContract, Play
from skillweave.testing.hosts.script import Says, tool_call
from skillweave.testing.hosts.skills import INVOICES

ALL_OF_IT = (Says(asks=(tool_call("search", text="Brandt"), tool_call("write", text="x"))), "Done.")


@pytest.mark.asyncio
class StreamingContract(HostContract):
    """For frameworks that stream."""

    async def test_a_streamed_reply_comes_whole_and_with_the_skill(self, play: Play) -> None:
        play.script.then(*["It is right."] * 2)
        assert "It is right." in await play.agent.stream("Is this invoice right?")
        assert play.script.last.times(INVOICES) == 1

    async def test_a_streamed_run_judges_tool_calls(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.script.then(*ALL_OF_IT)
        assert "Done." in await play.agent.stream("Do it")
        assert play.workshop.ran == ["search(Brandt)"]
        assert play.script.last.times_in_messages("TOOL_FORBIDDEN") == 1

    async def test_a_streamed_turn_and_an_awaited_one_share_the_conversation(self, play: Play) -> None:
        await play.agent.stream("Is this invoice right?")
        await play.agent.say("Go on")
        assert play.script.last.times(INVOICES) == 1


class SyncContract(HostContract):
    """For frameworks that also run without an event loop."""

    def test_a_blocking_run_selects(self, play: Play) -> None:
        play.agent.say_sync("Is this invoice right?")
        play.agent.say_sync("Go on")
        assert play.script.last.times(INVOICES) == 1

    def test_a_blocking_run_judges_tool_calls_and_answers_ours(self, play: Play) -> None:
        play.agent.say_sync("Is this invoice right?")
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="greetings"),)), *ALL_OF_IT)
        assert play.agent.say_sync("Do it") == "Done."
        assert play.workshop.ran == ["search(Brandt)"]
        assert play.script.last.times_in_messages("TOOL_FORBIDDEN") == 1
