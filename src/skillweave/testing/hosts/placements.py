"""What "once" means in each placement, as tests (spec 5.3, 7)."""

import pytest

from skillweave.testing.hosts.play import CONVERSATION, HostContract, Play
from skillweave.testing.hosts.script import Says, tool_call
from skillweave.testing.hosts.skills import INVOICES, heading

HEADING = heading("invoice-checking")


@pytest.mark.asyncio
class HistoryPlacementContract(HostContract):
    """Skill text stands in the history: given once while it is there, again when it is gone."""

    async def test_over_several_turns_the_skill_is_given_once(self, play: Play) -> None:
        for text in ("Is this invoice right?", "Go on", "Another invoice", "Go on"):
            await play.agent.say(text)
        assert all(sent.times(HEADING) == 1 for sent in play.script.sent if sent.times(HEADING))
        assert play.script.last.times_in_messages(INVOICES) == 1

    async def test_the_host_keeps_the_text_once(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.say("Another invoice")
        assert sum(message.count(HEADING) for message in await play.agent.kept()) == 1

    async def test_after_a_compaction_the_skill_is_given_again(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.compact("They talked about the payment of Brandt.")
        await play.agent.say("And the second page?")
        assert play.script.last.times_in_messages(INVOICES) == 1

    async def test_without_a_compaction_it_is_not_given_again(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.say("And the second page?")
        state = await play.weaver.state(CONVERSATION)
        assert len([record for record in state.records if record.key == "skill:invoice-checking"]) == 1
        assert play.script.last.times(HEADING) == 1

    async def test_an_evicted_skill_is_shown_again(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        assert await play.weaver.evict(CONVERSATION, "invoice-checking")
        await play.agent.say("Is the invoice right now?")
        assert play.script.last.times(HEADING) == 2

    async def test_after_a_restart_the_skill_is_not_given_again(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.restart()
        await play.agent.say("Is the invoice right now?")
        assert play.script.last.times(HEADING) == 1

    async def test_a_skill_that_was_read_with_a_tool_is_not_given_again(self, play: Play) -> None:
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="invoice-checking"),)), "Read.")
        await play.agent.say("Hello")
        await play.agent.say("Is this invoice right?")
        assert play.script.last.times(HEADING) == 1


@pytest.mark.asyncio
class CallPlacementContract(HostContract):
    """Skill text stands in the system prompt of each call, and nothing of it in the history."""

    async def test_the_skill_is_in_every_call_once(self, play: Play) -> None:
        for text in ("Is this invoice right?", "Go on", "Another invoice"):
            await play.agent.say(text)
        given = [sent.system.count(HEADING) for sent in play.script.sent]
        assert given == [1] * len(given)

    async def test_the_history_holds_nothing_of_it(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.say("Go on")
        assert all(sent.times_in_messages(HEADING) == 0 for sent in play.script.sent)
        assert sum(message.count(HEADING) for message in await play.agent.kept()) == 0

    async def test_a_compaction_changes_nothing(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.agent.compact("They talked about the payment of Brandt.")
        await play.agent.say("And the second page?")
        assert play.script.last.times(INVOICES) == 1

    async def test_an_evicted_skill_that_is_wanted_is_in_the_next_call(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        await play.weaver.evict(CONVERSATION, "invoice-checking")
        await play.agent.say("Is the invoice right now?")
        assert play.script.last.times(HEADING) == 1

    async def test_after_a_restart_the_skill_is_still_in_the_call(self, play: Play) -> None:
        await play.agent.say("Is this invoice right?")
        play.restart()
        await play.agent.say("Go on")
        assert play.script.last.times(HEADING) == 1

    async def test_a_skill_that_was_read_with_a_tool_stands_in_the_next_calls_once(self, play: Play) -> None:
        play.script.then(Says(asks=(tool_call("read_skill", skill_id="invoice-checking"),)), "Read.")
        await play.agent.say("Hello")
        assert play.script.last.system.count(HEADING) == 1
        assert play.script.last.times_in_messages(HEADING) == 0
        await play.agent.say("Go on")
        assert play.script.last.times(HEADING) == 1
