"""The part of the adapters' contract that is about checkpoints: what a person says, and which calls run."""

import pytest

from skillweave import Settings, ToolCall
from skillweave_testing.hosts import Says, tool_call
from skillweave_testing.hosts.play import (
    AUDIT_SKILL,
    CONVERSATION,
    FILING,
    FILING_FOR_ALL,
    FILING_SKILL,
    HostContract,
    Play,
)

APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "The plat is missing."}
SUBMIT = Says(asks=(tool_call("submit", "the-call", text="W-1"),))
AGAIN = Says(asks=(tool_call("submit", "another-call", text="W-1"),))
OTHER = Says(asks=(tool_call("submit", "a-third-call", text="W-2"),))
BOTH = Says(asks=(tool_call("submit", "first", text="W-1"), tool_call("submit", "second", text="W-2")))


@pytest.mark.asyncio
class CheckpointContract(HostContract):
    """A tool behind a checkpoint waits for a person, in this process or a later one; a verdict is about one call."""

    async def test_a_tool_behind_a_checkpoint_waits_for_a_person(self, play: Play) -> None:
        await play.agent.say("Prepare the filing")
        play.script.then(SUBMIT)
        await play.agent.say("Submit it")
        assert list(play.agent.waiting) == ["pre_filing"]
        assert play.workshop.ran == []

    async def test_an_approved_call_runs_once(self, play: Play) -> None:
        await self.paused(play)
        play.script.then("Submitted.")
        assert await play.agent.resume(APPROVED) == "Submitted."
        assert play.workshop.ran == ["submit(W-1)"]
        assert list(play.agent.waiting) == []

    async def test_the_verdict_is_kept_with_the_persons_name(self, play: Play) -> None:
        await self.paused(play)
        await play.agent.resume(APPROVED)
        kept = (await play.weaver.ledger.state(CONVERSATION)).approvals
        assert [(one.skill_id, one.checkpoint, one.verdict.value, one.by) for one in kept] == [
            ("filing", "pre_filing", "approved", "Ann Lee")
        ]

    async def test_a_yes_to_one_call_is_none_to_the_same_call_later(self, play: Play) -> None:
        await self.paused(play)
        await play.agent.resume(APPROVED)
        play.script.then(AGAIN)
        await play.agent.say("Submit it again")
        assert list(play.agent.waiting) == ["pre_filing"]
        assert play.workshop.ran == ["submit(W-1)"]

    async def test_a_yes_pays_once_though_the_model_writes_the_very_same_call_again(self, play: Play) -> None:
        await self.paused(play)
        await play.agent.resume(APPROVED)
        play.script.then(SUBMIT, "It was done before.")
        await play.agent.say("Submit it again")
        assert play.workshop.ran == ["submit(W-1)"]

    async def test_a_yes_is_void_once_the_user_has_said_something_else(self, play: Play) -> None:
        await self.paused(play)
        play.script.then("I won't.")
        await play.agent.say("Stop, do not submit it!")
        call = ToolCall("the-call", "submit", {"text": "W-1"})
        await play.weaver.approvals.decide(CONVERSATION, "filing", "pre_filing", "approved", by="Ann Lee", call=call)
        play.script.then(SUBMIT, "I won't.")
        await play.agent.say("What now?")
        assert play.workshop.ran == []

    async def test_a_checkpoint_about_the_conversation_is_not_asked_again(self, play: Play) -> None:
        await self.paused_for_the_conversation(play)
        await play.agent.resume(APPROVED)
        play.script.then(OTHER, "Again.")
        await play.agent.say("Submit the other one")
        assert list(play.agent.waiting) == []
        assert play.workshop.ran == ["submit(W-1)", "submit(W-2)"]

    async def test_of_two_waiting_calls_the_one_that_was_approved_runs_and_the_other_not(self, play: Play) -> None:
        await play.agent.say("Prepare the filing")
        play.script.then(BOTH)
        await play.agent.say("Submit both")
        assert list(play.agent.waiting) == ["pre_filing", "pre_filing"]
        play.script.then("One of them.")
        await play.agent.resume({**APPROVED, "call": "first"})
        assert list(play.agent.waiting) == ["pre_filing"]
        await play.agent.resume({**REJECTED, "call": "second"})
        assert list(play.agent.waiting) == []
        assert play.workshop.ran == ["submit(W-1)"]

    async def test_a_rejected_call_does_not_run_and_its_answer_is_the_persons_note(self, play: Play) -> None:
        await self.paused(play)
        play.script.then("I won't.")
        assert await play.agent.resume(REJECTED) == "I won't."
        assert play.workshop.ran == []
        assert play.script.last.times_in_messages("Ann Lee") >= 1
        assert play.script.last.times_in_messages("The plat is missing.") >= 1

    async def test_a_rejected_call_is_denied_when_it_comes_again_and_nobody_is_asked(self, play: Play) -> None:
        await self.paused(play)
        await play.agent.resume(REJECTED)
        play.script.then(AGAIN, "I can't.")
        await play.agent.say("Submit it all the same")
        assert list(play.agent.waiting) == []
        assert play.workshop.ran == []

    async def test_after_a_rejected_call_its_skill_stays_and_another_call_asks(self, play: Play) -> None:
        await self.paused(play)
        await play.agent.resume(REJECTED)
        play.script.then(OTHER)
        await play.agent.say("Submit the other one")
        assert list(play.agent.waiting) == ["pre_filing"]
        assert "filing" in [one.skill_id for one in (await play.weaver.ledger.state(CONVERSATION)).engaged]

    async def test_a_modified_call_runs_with_the_new_arguments(self, play: Play) -> None:
        await self.paused(play)
        play.script.then("Submitted.")
        changed = {"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "W-9"}}
        assert await play.agent.resume(changed) == "Submitted."
        assert play.workshop.ran == ["submit(W-9)"]

    async def test_a_modified_call_is_judged_again(self, play: Play) -> None:
        play.begin_among((FILING_SKILL, AUDIT_SKILL), Settings())
        refused = ToolCall("earlier", "submit", {"text": "W-9"})
        await play.weaver.approvals.decide(CONVERSATION, "audit", "audit_release", "rejected", by="Kim", call=refused)
        await self.paused(play)
        play.script.then("I can't.")
        await play.agent.resume({"verdict": "modified", "by": "Ann Lee", "arguments": {"text": "W-9"}})
        assert play.workshop.ran == []
        assert play.script.last.times_in_messages("Kim") >= 1

    async def test_a_skill_that_was_rejected_as_a_whole_leaves_and_its_tool_stays_denied(self, play: Play) -> None:
        await self.paused_for_the_conversation(play)
        await play.agent.resume(REJECTED)
        play.script.then(AGAIN, "I can't.")
        await play.agent.say("Submit it all the same")
        assert play.workshop.ran == []
        assert "filing" not in [one.skill_id for one in (await play.weaver.ledger.state(CONVERSATION)).engaged]
        assert "submit" not in play.script.last.tools

    async def test_a_restart_in_the_middle_of_a_checkpoint_loses_nothing(self, play: Play) -> None:
        await self.paused(play)
        play.restart()
        play.script.then("Submitted.")
        assert await play.agent.resume(APPROVED) == "Submitted."
        assert play.workshop.ran == ["submit(W-1)"]
        assert play.script.last.times(FILING) == 1

    async def test_other_calls_of_the_same_reply_run_once(self, play: Play) -> None:
        await play.agent.say("Prepare the filing")
        play.script.then(Says(asks=(tool_call("search", "a", text="x"), tool_call("submit", "b", text="W-1"))))
        await play.agent.say("Submit it")
        play.script.then("Done.")
        assert await play.agent.resume(APPROVED) == "Done."
        assert sorted(play.workshop.ran) == ["search(x)", "submit(W-1)"]

    async def paused(self, play: Play) -> None:
        """Go to where the filing waits for a person."""
        await play.agent.say("Prepare the filing")
        play.script.then(SUBMIT)
        await play.agent.say("Submit it")
        assert list(play.agent.waiting) == ["pre_filing"]

    async def paused_for_the_conversation(self, play: Play) -> None:
        """Go to where it waits, with a checkpoint whose verdict holds for the whole conversation."""
        play.begin_among((FILING_FOR_ALL,), Settings())
        await self.paused(play)
