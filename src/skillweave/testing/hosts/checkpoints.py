"""Checkpoints inside a framework that can pause, as tests (spec 5.5, 7)."""

import pytest

from skillweave.testing.hosts.play import CONVERSATION, HostContract, Play
from skillweave.testing.hosts.script import Says, tool_call
from skillweave.testing.hosts.skills import FILING

APPROVED = {"verdict": "approved", "by": "Ann Lee"}
REJECTED = {"verdict": "rejected", "by": "Ann Lee", "note": "The plat is missing."}
SUBMIT = Says(asks=(tool_call("submit", "the-call", text="W-1"),))


@pytest.mark.asyncio
class CheckpointContract(HostContract):
    """A tool behind a checkpoint waits for a person, in this process or a later one."""

    async def test_a_tool_behind_a_checkpoint_waits_for_a_person(self, play: Play) -> None:
        await play.agent.say("Prepare the filing")
        play.script.then(SUBMIT)
        await play.agent.say("Submit it")
        assert list(play.agent.waiting) == ["pre_filing"]
        assert play.workshop.ran == []

    async def test_an_approved_call_runs_once(self, play: Play) -> None:
        await self._paused(play)
        play.script.then("Submitted.")
        assert await play.agent.resume(APPROVED) == "Submitted."
        assert play.workshop.ran == ["submit(W-1)"]
        assert list(play.agent.waiting) == []

    async def test_the_verdict_is_kept_with_the_persons_name(self, play: Play) -> None:
        await self._paused(play)
        await play.agent.resume(APPROVED)
        kept = (await play.weaver.state(CONVERSATION)).approvals
        assert [(one.skill_id, one.checkpoint, one.verdict.value, one.by) for one in kept] == [
            ("filing", "pre_filing", "approved", "Ann Lee")
        ]

    async def test_an_approved_checkpoint_is_not_asked_again(self, play: Play) -> None:
        await self._paused(play)
        await play.agent.resume(APPROVED)
        play.script.then(SUBMIT, "Again.")
        await play.agent.say("Submit it again")
        assert list(play.agent.waiting) == []
        assert play.workshop.ran == ["submit(W-1)", "submit(W-1)"]

    async def test_a_rejected_call_does_not_run_and_the_model_is_told(self, play: Play) -> None:
        await self._paused(play)
        play.script.then("I won't.")
        assert await play.agent.resume(REJECTED) == "I won't."
        assert play.workshop.ran == []
        assert play.script.last.times_in_messages("Ann Lee") >= 1

    async def test_a_rejected_skill_leaves_and_its_tool_stays_denied(self, play: Play) -> None:
        await self._paused(play)
        await play.agent.resume(REJECTED)
        play.script.then(SUBMIT, "I can't.")
        await play.agent.say("Submit it all the same")
        assert play.workshop.ran == []
        assert "filing" not in [one.skill_id for one in (await play.weaver.state(CONVERSATION)).engaged]
        assert "submit" not in play.script.last.tools

    async def test_a_restart_in_the_middle_of_a_checkpoint_loses_nothing(self, play: Play) -> None:
        await self._paused(play)
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

    async def _paused(self, play: Play) -> None:
        await play.agent.say("Prepare the filing")
        play.script.then(SUBMIT)
        await play.agent.say("Submit it")
        assert list(play.agent.waiting) == ["pre_filing"]
