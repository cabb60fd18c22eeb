"""What people decide at checkpoints, and claims that wait for them (spec 5.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Required, TypedDict, Unpack

from skillweave.blocking import M, Verb
from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.conversation import ToolCall
from skillweave.errors import CheckpointNotFound, InvalidVerdict
from skillweave.events.event import Cause
from skillweave.registry import Snapshot
from skillweave.relations.rules import name_shown, read_entry
from skillweave.skill import Checkpoint, Skill
from skillweave.state.approvals import (
    CONSENT,
    decide,
    decided,
    digests_shown,
    require_words,
    shown_with,
    takes_place,
    waits,
    withdraw,
)
from skillweave.state.state import (
    Approval,
    ApprovalVerdict,
    State,
    held_keys,
    hold,
    reject,
    resume,
)
from skillweave.weaver.engine import Engine, View
from skillweave.weaver.judging import give_call_back
from skillweave.weaver.ledger import Left, skill_left


@dataclass(frozen=True, slots=True)
class CheckpointVerdict(Portable):
    """What a person says at one checkpoint: the verdict, the person's name, a remark.

    `digest` is that of the skill as it was shown, `call` the call that the person was shown, None where the verdict is
    about all. `arguments` are those to run it with instead, of a `modified` call. `case` is the id of the question that
    it answers, where that has one: the same answer to it again changes nothing. `logged` is where a log has it, as in
    an ApprovalCase. A verdict is also taken as its text. Raises InvalidVerdict for a field of another form.
    """

    skill_id: str
    checkpoint: str
    verdict: ApprovalVerdict
    by: str
    note: str = ""
    digest: str | None = None
    call: ToolCall | None = None
    arguments: Mapping[str, object] | None = field(default=None, hash=False)
    case: str = ""
    logged: str = ""

    def __post_init__(self) -> None:
        for name in ("skill_id", "checkpoint", "by", "note", "case", "logged"):
            _SAID.text(name, getattr(self, name))
        if self.digest is not None:
            _SAID.text("digest", self.digest)
        if self.call is not None:
            _SAID.kind("call", self.call, ToolCall, "skillweave.ToolCall(id, tool, arguments), or None")
        if self.arguments is not None:
            _SAID.mapping("arguments", self.arguments)
        object.__setattr__(self, "verdict", _verdict_of(self.verdict))

    @property
    def decided_call(self) -> ToolCall | None:
        """The call that may run: the one that was shown, with the new arguments where there are any."""
        if self.call is None or self.arguments is None:
            return self.call
        return replace(self.call, arguments=self.arguments)


_SAID, _VERDICTS = Checked("CheckpointVerdict", InvalidVerdict), Checked("weaver.approvals.decide_all", InvalidVerdict)
_WANTED = "skillweave.CheckpointVerdict(skill_id, checkpoint, verdict, by)"


class VerdictFields(TypedDict, total=False):
    """What a verdict may say beside what it is about; the fields are those of CheckpointVerdict."""

    by: Required[str]
    note: str
    digest: str | None
    call: ToolCall | None
    arguments: Mapping[str, object] | None


@dataclass(frozen=True, slots=True)
class Judgement(Portable):
    """A verdict as it was kept, and what it changed.

    `replaced` is the earlier verdict on the same content, or on the same call; `left` says what a rejection took out of
    the conversation; `resumed` are the ids of held turns that wait for nobody any more and have 60 s to deliver.
    """

    approval: Approval
    replaced: Approval | None = None
    left: Left | None = None
    resumed: tuple[str, ...] = ()


async def _judge(engine: Engine, conversation: str, verdicts: Sequence[CheckpointVerdict]) -> tuple[Judgement, ...]:
    """Keep the verdicts on the skills as they are now, with what follows from them, in one step: all of them or none.

    Raises SkillNotFound and CheckpointNotFound, naming the known ones; InvalidVerdict for nobody's verdict, one on
    another content than the present one, one that does not say which call it is about, and one that cannot be kept.
    """
    return await _kept(engine, conversation, verdicts, [_subject_of(await engine.snapshot(), one) for one in verdicts])


def require_askable(snapshot: Snapshot, state: State, said: CheckpointVerdict) -> str:
    """The digest of what a person is shown of the skill in this conversation; raises like `judge` for that verdict."""
    skill = _subject_of(snapshot, said).skill
    text = digests_shown(state.engaged, snapshot).get(skill.id, skill.digest)
    _require_shown(skill, said, text)
    return text


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a verdict is about: the skill, the tool entries, and the one call, None where it is about all."""

    skill: Skill
    before: tuple[str, ...]
    call: ToolCall | None


def _subject_of(snapshot: Snapshot, said: CheckpointVerdict) -> _Subject:
    require_words(said.by, said.note)
    skill = snapshot[said.skill_id]
    if said.checkpoint == CONSENT:
        raise InvalidVerdict(f"{CONSENT!r} is kept for consent to preapproved tools; call `weaver.approvals.consent`")
    points = [one for one in skill.checkpoints if one.name == said.checkpoint]
    if not points:
        raise CheckpointNotFound(skill.id, said.checkpoint, (one.name for one in skill.checkpoints))
    before = tuple(one.before for one in points if one.before is not None)
    return _Subject(skill, before, _call_of(said, points))


def _call_of(said: CheckpointVerdict, points: Sequence[Checkpoint]) -> ToolCall | None:
    """The call that the verdict is about, None where it is about all calls, or about the skill as a whole."""
    where = f"checkpoint {said.checkpoint!r} of skill {said.skill_id!r}"
    about_calls = [one for one in points if one.per_call]
    if said.arguments is not None and (said.call is None or said.verdict is not ApprovalVerdict.MODIFIED):
        raise InvalidVerdict(
            f"arguments={str(dict(said.arguments))[:60]} at {where} are those of a call that was modified; give them "
            "with the verdict 'modified' and the `call` that was shown"
        )
    if said.call is None:
        if len(about_calls) == len(points) and said.verdict is not ApprovalVerdict.REJECTED:
            raise InvalidVerdict(
                f"{where} asks about each call by itself, so a yes says to which: give call=ToolCall(id, tool, "
                "arguments) as it was shown. For a yes to every later call, write `scope: conversation` at the "
                "checkpoint; to take an earlier no back, call `weaver.approvals.reconsider`"
            )
        return None
    standing = [one for one in points if one.before is not None and read_entry(one.before).names(said.call.tool)]
    if not about_calls or (standing and not any(one.per_call for one in standing)):
        return None
    if not standing:
        stands = " and ".join(name_shown(one.before or "") for one in about_calls)
        raise InvalidVerdict(f"{where} stands before {stands}, so no call of {name_shown(said.call.tool)} waits there")
    if said.verdict is ApprovalVerdict.MODIFIED and said.arguments is None:
        raise InvalidVerdict(
            f"a modified call at {where} says what it is to run with; give arguments={{...}}, all of them"
        )
    # A no is about what the call does, whatever its id.
    refuses = said.verdict is ApprovalVerdict.REJECTED
    known = [said.call.content] if refuses else [said.call.digest, (said.decided_call or said.call).digest]
    if None in known:
        raise InvalidVerdict(
            f"call {said.call.id[:60]!r} of {name_shown(said.call.tool)} at {where} has no id, or arguments that are "
            "not JSON, so that no later call is known to be this one; give both as the model wrote them"
        )
    return said.call


async def _kept(
    engine: Engine, conversation: str, verdicts: Sequence[CheckpointVerdict], subjects: Sequence[_Subject]
) -> tuple[Judgement, ...]:
    snapshot = await engine.snapshot()

    def step(state: State, now: float) -> tuple[State, tuple[Judgement, ...]]:
        # What was shown is that of before all of them: the first no takes a skill, and the words in its text, away.
        shown = digests_shown(state.engaged, snapshot)
        judgements = []
        for said, subject in zip(verdicts, subjects, strict=True):
            text = shown.get(subject.skill.id, subject.skill.digest)
            _require_shown(subject.skill, said, text)
            state, judgement = _judged(state, _approval(said, subject, text, now), said, snapshot, now)
            judgements.append(judgement)
        return state, tuple(judgements)

    judgements, _ = await engine.step(conversation, step, cause=Cause.REJECTED)
    return judgements


def _approval(said: CheckpointVerdict, subject: _Subject, text: str, now: float) -> Approval:
    approval = Approval(
        subject.skill.id,
        said.checkpoint,
        subject.skill.digest,
        said.verdict,
        said.by,
        now,
        said.note,
        subject.before,
        shown="" if text == subject.skill.digest else text,
        case=said.case,
        logged=said.logged,
    )
    if subject.call is None:
        return approval
    allowed = said.decided_call or subject.call
    call = (subject.call.content if approval.refuses else allowed.digest) or ""
    return replace(approval, shown=shown_with(text, call), call=call)


def _require_shown(skill: Skill, said: CheckpointVerdict, shown: str) -> None:
    # Consent is about the tools that the skill names, whatever arguments stand in its text.
    right = {shown, skill.digest} if said.checkpoint == CONSENT else {shown}
    if said.digest is not None and said.digest not in right:
        raise InvalidVerdict(
            f"skill {skill.id!r} has changed since it was shown ({said.digest[:12]}, now {shown[:12]}); "
            "show it again, then decide"
        )


def _judged(
    state: State, approval: Approval, said: CheckpointVerdict, snapshot: Snapshot, now: float
) -> tuple[State, Judgement]:
    answers = _answered_by(said) if approval.call else frozenset[str]()
    after = decide(state, approval, answers)
    left = None
    if approval.refuses and not approval.call:
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
    gone = (one for one in state.approvals if one not in after.approvals and takes_place(approval, one, answers))
    kept = next(one for one in after.approvals if replace(one, at=approval.at) == approval)
    return after, Judgement(kept, next(gone, None), left, tuple(resumed))


def _answered_by(said: CheckpointVerdict) -> frozenset[str]:
    """What earlier verdicts may have been about that this one answers: the call, and what it does."""
    calls = [call for call in (said.call, said.decided_call) if call is not None]
    contents = []
    if said.verdict is not ApprovalVerdict.REJECTED:
        contents = [one for call in calls[-1:] for one in (call.content, call.content_as_written)]
    return frozenset(digest for digest in (*(call.digest for call in calls), *contents) if digest is not None)


class ApprovalsView(View[M]):
    """`weaver.approvals`: what people decide at checkpoints."""

    @Verb
    async def decide(
        self,
        conversation: str,
        skill_id: str,
        checkpoint: str,
        verdict: ApprovalVerdict | str,
        **said: Unpack[VerdictFields],
    ) -> Judgement:
        """Keeps a person's verdict on the skill as it is now: approved, rejected or modified.

        Of a checkpoint that asks about each call, `call` is the one that the person was shown. A yes covers that call
        alone, with its id and its arguments; `modified` says with which `arguments` it is to run instead. A no denies
        the tool with the same arguments, whatever the call's id; the skill stays. Other checkpoints, once approved or
        modified, don't ask again until the skill changes. A rejection without a call disengages and unloads the skill
        and keeps it out, and denies the tool that the checkpoint stood before, until `reconsider`, or another verdict
        on all calls. `by` names the person, `note` is kept with the verdict, and is told to the model where its call is
        denied; `digest` is the pending checkpoint's, so that nobody decides about a text that was not shown. Raises
        SkillNotFound, CheckpointNotFound, and InvalidVerdict for a verdict that is none, nobody's, too long, about a
        skill that has changed since, or that does not say which call it is about.
        """
        one = CheckpointVerdict(skill_id, checkpoint, _verdict_of(verdict), **said)
        (judgement,) = await _judge(self._engine, conversation, [one])
        return judgement

    @Verb
    async def decide_all(self, conversation: str, verdicts: Sequence[CheckpointVerdict]) -> tuple[Judgement, ...]:
        """Keeps several verdicts in their order, all of them or none, in one write of the ledger.

        What each means and what is raised is as in `decide`.
        """
        return await _judge(
            self._engine, conversation, _VERDICTS.items("verdicts", verdicts, CheckpointVerdict, _WANTED)
        )

    @Verb
    async def consent(self, conversation: str, skill_id: str, *, by: str, digest: str | None = None) -> Judgement:
        """Keeps a person's consent that the tools which the skill preapproves run unasked, until the skill changes.

        It is kept as a verdict under the checkpoint name `skillweave.state.approvals.CONSENT`, which `reconsider`
        takes too. Raises like `decide`, and for a skill that preapproves nothing.
        """
        said = CheckpointVerdict(skill_id, CONSENT, ApprovalVerdict.APPROVED, by, digest=digest)
        require_words(by, said.note)
        skill = (await self._engine.snapshot())[skill_id]
        if skill.tools is None or not skill.tools.preapproved:
            raise InvalidVerdict(f"skill {skill_id!r} preapproves no tools, so there is nothing to consent to")
        (judgement,) = await _kept(self._engine, conversation, [said], [_Subject(skill, (), None)])
        return judgement

    @Verb
    async def reconsider(self, conversation: str, skill_id: str, checkpoint: str) -> tuple[Approval, ...]:
        """Withdraws every verdict on a checkpoint and returns them: it asks again, a rejected skill may return.

        Empty when nobody had decided. Raises SkillNotFound and CheckpointNotFound where nobody can have.
        """
        snapshot = await self._engine.snapshot()

        def step(state: State, _: float) -> tuple[State, tuple[Approval, ...]]:
            after = withdraw(state, skill_id, checkpoint)
            return after, tuple(approval for approval in state.approvals if approval not in after.approvals)

        withdrawn, _ = await self._engine.step(conversation, step, cause=Cause.EVICTED)
        if not withdrawn:
            names = [*(one.name for one in snapshot[skill_id].checkpoints), CONSENT]
            if checkpoint not in names:
                raise CheckpointNotFound(skill_id, checkpoint, names)
        return withdrawn

    @Verb
    async def give_back(self, conversation: str, call: ToolCall) -> bool:
        """Makes a person's yes count again: the call that `weaver.authorize` let through did not run after all.

        False where it was not let through.
        """
        return await give_call_back(self._engine, conversation, call)

    @Verb
    async def hold(self, conversation: str, turn_id: str) -> tuple[str, ...]:
        """Lets what this turn claimed wait for a person, without an end; returns the keys that wait, if any.

        The `delivery` then neither confirms nor releases it. A verdict that leaves no claimed skill of the turn
        waiting gives it 60 s more; `confirm`, `release` and `clear` end it, in any process.
        """

        def step(state: State, _: float) -> tuple[State, tuple[str, ...]]:
            after = hold(state, turn_id)
            return after, held_keys(after, turn_id)

        keys, _ = await self._engine.step(conversation, step, cause=Cause.RELEASED, turn_id=turn_id)
        return keys


def _verdict_of(verdict: ApprovalVerdict | str) -> ApprovalVerdict:
    try:
        return ApprovalVerdict(verdict)
    except ValueError:
        raise InvalidVerdict(f"verdict {verdict!r:.40} is none; choose from {', '.join(ApprovalVerdict)}") from None
