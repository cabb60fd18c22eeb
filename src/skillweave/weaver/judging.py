"""Verdicts of people: at checkpoints, and on tools that a skill wants to run unasked (spec 4.3, 5.5)."""

from collections.abc import Callable
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.errors import CheckpointNotFound, InvalidVerdict
from skillweave.events.cause import Cause
from skillweave.registry import Snapshot
from skillweave.skill import Skill
from skillweave.state.approvals import CONSENT, decide, decided, digests_shown, require_words, waits, withdraw
from skillweave.state.state import Approval, ApprovalVerdict, State
from skillweave.state.transitions import reject, resume
from skillweave.weaver.engine import Engine
from skillweave.weaver.leaving import Left, skill_left


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a person says: the verdict, the person's name, a remark, and the digest of the skill as it was shown."""

    verdict: ApprovalVerdict
    by: str
    note: str = ""
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Judgement(Portable):
    """A verdict as it was kept, and what it changed.

    `replaced` is the earlier verdict on the same content; `left` says what a rejection took out of the conversation;
    `resumed` are the ids of held turns that wait for nobody any more and have 60 s to deliver.
    """

    approval: Approval
    replaced: Approval | None = None
    left: Left | None = None
    resumed: tuple[str, ...] = ()


async def judge(engine: Engine, conversation: str, skill_id: str, checkpoint: str, opinion: Opinion) -> Judgement:
    """Keep the verdict on the skill as it is now, with what follows from it, in one step.

    Raises SkillNotFound and CheckpointNotFound, naming the known ones; InvalidVerdict for nobody's verdict, one on
    another content than the present one, and one that cannot be kept.
    """
    snapshot, skill = await _known(engine, skill_id, opinion)
    if checkpoint == CONSENT:
        raise InvalidVerdict(f"{CONSENT!r} is kept for consent to preapproved tools; call `weaver.consent`")
    before = tuple(one.before for one in skill.checkpoints if one.name == checkpoint and one.before is not None)
    if all(one.name != checkpoint for one in skill.checkpoints):
        raise CheckpointNotFound(skill_id, checkpoint, (one.name for one in skill.checkpoints))
    return await _kept(engine, conversation, snapshot, _approval(skill, checkpoint, opinion, before, snapshot))


async def agree(engine: Engine, conversation: str, skill_id: str, opinion: Opinion) -> Judgement:
    """Keep consent to the tools that the skill preapproves; raises like `judge`, and where it preapproves none."""
    snapshot, skill = await _known(engine, skill_id, opinion)
    if skill.tools is None or not skill.tools.preapproved:
        raise InvalidVerdict(f"skill {skill_id!r} preapproves no tools, so there is nothing to consent to")
    return await _kept(engine, conversation, snapshot, _approval(skill, CONSENT, opinion, (), snapshot))


async def forget_verdict(engine: Engine, conversation: str, skill_id: str, checkpoint: str) -> tuple[Approval, ...]:
    """Withdraw every verdict on the checkpoint; raises like `judge` where there is none and there can be none."""
    snapshot = await engine.snapshot()

    def step(state: State, _: float) -> tuple[State, tuple[Approval, ...]]:
        after = withdraw(state, skill_id, checkpoint)
        return after, tuple(approval for approval in state.approvals if approval not in after.approvals)

    withdrawn, _ = await engine.step(conversation, step, cause=Cause.EVICTED)
    if not withdrawn:
        names = [*(one.name for one in snapshot[skill_id].checkpoints), CONSENT]
        if checkpoint not in names:
            raise CheckpointNotFound(skill_id, checkpoint, names)
    return withdrawn


async def _known(engine: Engine, skill_id: str, opinion: Opinion) -> tuple[Snapshot, Skill]:
    require_words(opinion.by, opinion.note)
    snapshot = await engine.snapshot()
    return snapshot, snapshot[skill_id]


def _approval(
    skill: Skill, checkpoint: str, opinion: Opinion, before: tuple[str, ...], snapshot: Snapshot
) -> Callable[[State, float], Approval]:
    def approval(state: State, now: float) -> Approval:
        shown = digests_shown(state.engaged, snapshot).get(skill.id, skill.digest)
        _require_shown(skill, opinion, shown, consent=checkpoint == CONSENT)
        return Approval(
            skill.id,
            checkpoint,
            skill.digest,
            opinion.verdict,
            opinion.by,
            now,
            opinion.note,
            before,
            shown="" if shown == skill.digest else shown,
        )

    return approval


def _require_shown(skill: Skill, opinion: Opinion, shown: str, *, consent: bool) -> None:
    # Consent is about the tools that the skill names, whatever arguments stand in its text.
    right = {shown, skill.digest} if consent else {shown}
    if opinion.digest is not None and opinion.digest not in right:
        raise InvalidVerdict(
            f"skill {skill.id!r} has changed since it was shown ({opinion.digest[:12]}, now {shown[:12]}); "
            "show it again, then decide"
        )


async def _kept(
    engine: Engine, conversation: str, snapshot: Snapshot, approval_at: Callable[[State, float], Approval]
) -> Judgement:
    def step(state: State, now: float) -> tuple[State, Judgement]:
        return _judged(state, approval_at(state, now), snapshot, now)

    judgement, _ = await engine.step(conversation, step, cause=Cause.REJECTED)
    return judgement


def _judged(state: State, approval: Approval, snapshot: Snapshot, now: float) -> tuple[State, Judgement]:
    after = decide(state, approval)
    left = None
    if approval.verdict is ApprovalVerdict.REJECTED:
        after = reject(after, approval.skill_id)
        left = skill_left(approval.skill_id, snapshot, state, after)
    let_through = decided(after.approvals)
    held = after
    shown = digests_shown(after.engaged, snapshot)

    def still_waits(skill_id: str) -> bool:
        skill = snapshot.skills.get(skill_id)
        return skill is not None and waits(skill, let_through, shown.get(skill_id))

    after = resume(after, still_waits, now)
    resumed = {new.holder: None for old, new in zip(held.records, after.records, strict=True) if old != new}
    replaced = [one for one in state.approvals if one not in after.approvals and _same_subject(one, approval)]
    kept = next(one for one in after.approvals if _same_subject(one, approval))
    return after, Judgement(kept, replaced[0] if replaced else None, left, tuple(resumed))


def _same_subject(one: Approval, other: Approval) -> bool:
    return (one.skill_id, one.checkpoint, one.digest) == (other.skill_id, other.checkpoint, other.digest)
