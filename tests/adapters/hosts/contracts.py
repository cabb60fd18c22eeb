"""What our own adapters promise beyond the contract: calls of the ledger, the end of a call, and room for skills."""

from collections import Counter

import pytest

from skillweave_testing.hosts import Says, contracts, tool_call
from skillweave_testing.hosts.checkpoints import AGAIN, APPROVED
from skillweave_testing.hosts.play import HostContract, Play, ledger_of
from tests.adapters.hosts.crowd import begin_in_crowd
from tests.adapters.hosts.room import CallRoomContract, RoomContract
from tests.adapters.hosts.tails import OVERVIEW, QUESTION, CallTailContract, HistoryTailContract, TailContract


@pytest.mark.asyncio
class LedgerCallsContract(HostContract):
    """How often an adapter calls the ledger: on one behind a network, each call is a round trip."""

    @pytest.mark.parametrize("text", ["What is 2+2?", "Is this invoice right?", "Say bonjour"])
    async def test_a_first_message_costs_two_loads_and_one_write_at_most(self, play: Play, text: str) -> None:
        await say_within(play, text, load=2, swap=1, append=1)

    async def test_a_later_message_costs_two_loads_and_one_write_at_most(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        for text in ("Go on", "Another invoice", "Say bonjour", "Go on"):
            await say_within(play, text, load=2, swap=1, append=1)

    @pytest.mark.parametrize("tool", ["search", "write"])
    async def test_a_tool_call_costs_one_load_at_most(self, play: Play, tool: str) -> None:
        await play.agent.say("Is this invoice right?")
        asked = tuple(tool_call(tool, text=str(number)) for number in range(5))
        play.script.then(Says(asks=asked), "Done.")
        await say_within(play, "Do it five times", load=3 + len(asked), swap=2, append=2)

    async def test_a_tool_call_in_a_reply_of_its_own_costs_one_load_at_most(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.script.then(*(Says(asks=(tool_call("search", text=str(number)),)) for number in range(5)), "Done.")
        await say_within(play, "Do it five times", load=7 + 5, swap=6, append=6)


class AdapterContract(contracts.AdapterContract, LedgerCallsContract, TailContract):
    pass


class HistoryPlacementContract(contracts.HistoryPlacementContract, HistoryTailContract, RoomContract):
    pass


class CallPlacementContract(contracts.CallPlacementContract, CallTailContract, CallRoomContract):
    pass


@pytest.mark.asyncio
class CheckpointContract(contracts.CheckpointContract):
    async def test_a_call_that_was_approved_before_costs_one_load_at_most(self, play: Play) -> None:
        await self.paused_for_the_conversation(play)
        await play.agent.resume(APPROVED)
        play.script.then(AGAIN, "Again.")
        await say_within(play, "Submit it again", load=3 + 1, swap=2, append=3)


@pytest.mark.asyncio
class StreamingContract(contracts.StreamingContract):
    async def test_a_streamed_call_ends_with_what_is_for_one_call_and_keeps_nothing_of_it(self, play: Play) -> None:
        begin_in_crowd(play)
        await play.agent.stream(QUESTION)
        assert OVERVIEW in play.script.last.messages[-1]
        assert not [message for message in await play.agent.kept() if OVERVIEW in message]


class SyncContract(contracts.SyncContract):
    def test_a_blocking_call_ends_with_what_is_for_one_call(self, play: Play) -> None:
        begin_in_crowd(play)
        play.agent.say_sync(QUESTION)
        assert OVERVIEW in play.script.last.messages[-1]
        play.agent.say_sync("Thanks")
        assert play.script.last.times_in_messages(OVERVIEW) == 0


async def say_within(play: Play, text: str, **most: int) -> None:
    """Say it, and require that the ledger is called at most so often, by method."""
    before = ledger_of(play.weaver).asked.copy()
    await play.agent.say(text)
    calls = ledger_of(play.weaver).asked - before
    assert not calls - Counter(most), f"{dict(calls)} calls of the ledger, at most {most}"
