"""The verbs about what is in force in a conversation: leaving, waiting, and people's verdicts."""

from skillweave.errors import InvalidVerdict
from skillweave.events.event import Cause
from skillweave.state.state import Approval, ApprovalVerdict, State
from skillweave.state.transitions import confirm, held_keys, hold, release
from skillweave.weaver.engine import Engine
from skillweave.weaver.judging import Judgement, Opinion, agree, forget_verdict, judge
from skillweave.weaver.leaving import Left, disengage_skill, unload_text


class Engagements:
    """The part of a Weaver that changes what is in force without a turn."""

    _engine: Engine

    async def disengage(self, conversation: str, skill_id: str) -> Left:
        """The skill no longer applies: from the next turn on neither its tool rules nor its checkpoints are in force.

        Its text may stay; wanted again, it is not given twice. A host that drops messages but sends no transcripts
        calls `unload` instead. A later match engages the skill again. Raises SkillNotFound for an id that neither the
        registry nor the conversation knows.
        """
        return await disengage_skill(self._engine, conversation, skill_id)

    async def unload(self, conversation: str, key: str) -> Left:
        """A text is to go: all texts of a skill, which is disengaged too, or the one text of another ledger key.

        `key` is a skill's id, or `artifact:{skill}/{id}`, `section:{skill}/{number}`,
        `document:{skill}/{id}#{number}`, `context:{entity}:{section}`.
        The texts count until a transcript shows them gone, and are given anew when wanted. Raises like `disengage`.
        """
        return await unload_text(self._engine, conversation, key)

    async def hold(self, conversation: str, turn_id: str) -> tuple[str, ...]:
        """What this turn claimed waits for a person and does not expire; the keys that wait, empty for no claims.

        The `delivery` then neither confirms nor releases it. A verdict that leaves no claimed skill of the turn
        waiting gives it 60 s more; `confirm`, `release` and `clear` end it, in any process.
        """

        def step(state: State, _: float) -> tuple[State, tuple[str, ...]]:
            after = hold(state, turn_id)
            return after, held_keys(after, turn_id)

        keys, _ = await self._engine.step(conversation, step, cause=Cause.RELEASED, turn_id=turn_id)
        return keys

    async def confirm(self, conversation: str, turn_id: str) -> bool:
        """What this turn claimed was delivered; False when it has no open claims."""
        return await self._engine.change(conversation, lambda state, now: confirm(state, turn_id, now))

    async def release(self, conversation: str, turn_id: str) -> bool:
        """What this turn claimed was not delivered and is given again when wanted; False when it has no open claims."""
        return await self._engine.change(
            conversation, lambda state, _: release(state, turn_id), cause=Cause.RELEASED, turn_id=turn_id
        )

    async def decide(
        self,
        conversation: str,
        skill_id: str,
        checkpoint: str,
        verdict: ApprovalVerdict | str,
        *,
        by: str,
        note: str = "",
        digest: str | None = None,
    ) -> Judgement:
        """Keep a person's verdict on the skill as it is now: approved, rejected or modified.

        Approved and modified checkpoints don't ask again until the skill changes. A rejection disengages and unloads
        the skill and keeps it out, and denies the tool that the checkpoint stood before, until another verdict. `by`
        names the person, `note` is kept with the verdict; `digest` is the pending checkpoint's, so that nobody decides
        about a text that was not shown. Raises SkillNotFound, CheckpointNotFound, and InvalidVerdict for a verdict
        that is none, nobody's, too long, or about a skill that has changed since.
        """
        opinion = Opinion(_verdict_of(verdict), by, note, digest)
        return await judge(self._engine, conversation, skill_id, checkpoint, opinion)

    async def consent(self, conversation: str, skill_id: str, *, by: str, digest: str | None = None) -> Judgement:
        """A person agrees that the tools that the skill preapproves run unasked, until the skill changes.

        It is kept as a verdict under the checkpoint name `skillweave.state.approvals.CONSENT`, which `reconsider`
        takes too. Raises like `decide`, and for a skill that preapproves nothing.
        """
        opinion = Opinion(ApprovalVerdict.APPROVED, by, digest=digest)
        return await agree(self._engine, conversation, skill_id, opinion)

    async def reconsider(self, conversation: str, skill_id: str, checkpoint: str) -> tuple[Approval, ...]:
        """Withdraw every verdict on a checkpoint and tell which there were: it asks again, a rejected skill may return.

        Empty when nobody had decided. Raises SkillNotFound and CheckpointNotFound where nobody can have.
        """
        return await forget_verdict(self._engine, conversation, skill_id, checkpoint)


def _verdict_of(verdict: ApprovalVerdict | str) -> ApprovalVerdict:
    try:
        return ApprovalVerdict(verdict)
    except ValueError:
        raise InvalidVerdict(f"verdict {verdict!r:.40} is none; choose from {', '.join(ApprovalVerdict)}") from None
