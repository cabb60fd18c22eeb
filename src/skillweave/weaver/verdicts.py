"""What changes a conversation without a turn: skills that leave, claims that wait, verdicts of people (spec 5.5)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from skillweave.codec import Portable
from skillweave.errors import CheckpointNotFound, InvalidVerdict, SkillNotFound
from skillweave.events.event import Cause
from skillweave.injection import Drop
from skillweave.registry import Snapshot
from skillweave.relations.rules import all_requirements
from skillweave.skill import Skill
from skillweave.state.approvals import CONSENT, decide, decided, digests_shown, require_words, waits, withdraw
from skillweave.state.state import (
    ARTIFACT,
    DOCUMENT,
    SKILL,
    Approval,
    ApprovalVerdict,
    Record,
    State,
    confirm,
    disengage,
    evict,
    held_keys,
    hold,
    reject,
    release,
    resume,
    skill_key,
    skill_of,
    unload,
)
from skillweave.weaver.engine import Engine


@dataclass(frozen=True, slots=True)
class Left(Portable):
    """What became of a skill, or of one text, that was to go.

    `key` is the ledger key that it is about; `disengaged` says that the skill was engaged in its own right until now.
    `evicted` are the keys that are forgotten: given again when they are wanted. `drops` are the messages that the host
    may take out of the history. `needed_by` are engaged skills that require this one, so that it stays in force, or
    comes back with the next turn, as their companion. All are empty for what was not there.
    """

    key: str
    disengaged: bool = False
    evicted: tuple[str, ...] = ()
    drops: tuple[Drop, ...] = ()
    needed_by: tuple[str, ...] = ()


async def disengage_skill(engine: Engine, conversation: str, skill_id: str) -> Left:
    """End the engagement; raises SkillNotFound for an id that neither the registry nor the conversation knows."""
    snapshot = await engine.snapshot()

    def change(state: State) -> State:
        _require_known(skill_id, snapshot, state)
        return disengage(state, skill_id)

    return await _left(engine, conversation, change, partial(skill_left, skill_id, snapshot))


async def unload_text(engine: Engine, conversation: str, key: str) -> Left:
    """Let a text go: all of a skill, or what one other key is about. Raises SkillNotFound like `disengage_skill`."""
    kind, colon, rest = key.partition(":")
    if colon and f"{kind}{colon}" != SKILL:
        return await _left(engine, conversation, partial(_without, key), partial(text_left, key))
    skill_id = rest if colon else key
    snapshot = await engine.snapshot()

    def change(state: State) -> State:
        _require_known(skill_id, snapshot, state)
        return unload(state, skill_id)

    return await _left(engine, conversation, change, partial(skill_left, skill_id, snapshot))


def skill_left(skill_id: str, snapshot: Snapshot, before: State, after: State) -> Left:
    """What the step from one State to the other did to the skill, and to those that were there for its sake only."""
    engaged = [entry.skill_id for entry in after.engaged]
    wanted = _with_companions(engaged, snapshot)
    gone = _with_companions([skill_id], snapshot) - wanted
    evicted = _evicted(before, after)
    old = {record.carrier for record in before.records if record.key in evicted}
    return Left(
        key=skill_key(skill_id),
        disengaged=any(entry.skill_id == skill_id for entry in before.engaged) and skill_id not in engaged,
        evicted=evicted,
        drops=_drops(after, lambda record: record.carrier in old or skill_of(record.key) in gone),
        needed_by=tuple(other for other in engaged if skill_id in _with_companions([other], snapshot) - {other}),
    )


def text_left(key: str, before: State, after: State) -> Left:
    """The same for one text; a message that shows something else too is not to be dropped."""
    evicted = _evicted(before, after)
    live = {record.carrier for record in after.records}
    old = {record.carrier for record in before.records if record.key in evicted} - live
    return Left(key, evicted=evicted, drops=_drops(after, lambda record: record.carrier in old))


async def _left(
    engine: Engine, conversation: str, change: Callable[[State], State], compare: Callable[[State, State], Left]
) -> Left:
    def step(state: State, _: float) -> tuple[State, Left]:
        after = change(state)
        return after, compare(state, after)

    left, _ = await engine.step(conversation, step, cause=Cause.UNLOADED)
    return left


def _without(key: str, state: State) -> State:
    kind, _, name = key.partition(":")
    document = f"{DOCUMENT}{name}" if f"{kind}:" == ARTIFACT else None
    for record in state.records:
        if record.key == key or record.key.rpartition("#")[0] == document:
            state = evict(state, record.key)
    return state


def _evicted(before: State, after: State) -> tuple[str, ...]:
    left = {record.key for record in after.records}
    return tuple(record.key for record in before.records if record.key not in left)


def _drops(state: State, chosen: Callable[[Record], bool]) -> tuple[Drop, ...]:
    texts = [*(old.record for old in state.superseded), *state.records]
    carriers = dict.fromkeys(record.carrier for record in texts if chosen(record))
    return tuple(
        Drop(_skill_in(carrier, texts), carrier, sum(r.tokens for r in texts if r.carrier == carrier))
        for carrier in carriers
    )


def _skill_in(carrier: str, texts: Iterable[Record]) -> str:
    return next((found for r in texts if r.carrier == carrier and (found := skill_of(r.key)) is not None), "")


def _with_companions(skill_ids: Iterable[str], snapshot: Snapshot) -> set[str]:
    heads = list(skill_ids)
    return {*heads, *(requirement.rule.skill for requirement in all_requirements(heads, snapshot))}


def _require_known(skill_id: str, snapshot: Snapshot, state: State) -> None:
    texts = (*state.records, *(old.record for old in state.superseded))
    named = {*(entry.skill_id for entry in state.engaged), *(skill_of(record.key) for record in texts)}
    if skill_id not in snapshot.skills and skill_id not in named:
        raise SkillNotFound(skill_id, {*snapshot.skills, *(name for name in named if name)})


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
