"""Every event that skillweave itself makes, from the values before and after what happened; pure.

A new kind of event is a payload in `skillweave.events.payloads` and a function here that makes it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from skillweave.compose.policy import Verdict
from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.decisions import Outcome
from skillweave.dialogue import Placement
from skillweave.disclose.block import text_digest
from skillweave.disclose.sections import READ
from skillweave.events import payloads
from skillweave.events.event import Cause, Event, event_id
from skillweave.formats.arguments import digest_in_use
from skillweave.frozen import FrozenDict
from skillweave.injection import Block, CurrentPolicy, Injection, PendingCheckpoint
from skillweave.registry import Snapshot
from skillweave.state.state import Approval, Delivery, Record, State, skill_key, skill_of

_IN_CONTEXT = frozenset(
    (Outcome.INJECTED, Outcome.ALREADY_PRESENT, Outcome.REFRESHED, Outcome.UPGRADED, Outcome.ADOPTED)
)
_REPLACING = frozenset((Outcome.REFRESHED, Outcome.UPGRADED))
_SHOWN = "disclose"
"""The stage whose decisions say what became of skills that were wanted."""
_SHOWING = (_SHOWN, READ)


@dataclass(frozen=True, slots=True)
class DecidedTurn:
    """A turn that is over, and how long it took."""

    injection: Injection
    snapshot: Snapshot
    before: State
    after: State
    delivery: Delivery
    duration_ms: float


def turn_events(turn: DecidedTurn) -> tuple[Event, ...]:
    """What a turn did: it was decided, the cursor moved, blocks were given, checkpoints are new; in this order.

    A replay has the same ids, so that whoever has seen them can drop them. A checkpoint is new when its skill was not
    in the context of the turn before with the same content.
    """
    injection = turn.injection
    return (
        _event(turn, _decided(turn)),
        *(_event(turn, moved) for moved in (() if injection.move is None else _moved(turn))),
        *(_event(turn, _given(turn, block), block.id) for block in injection.blocks),
        *(_pending(turn, one) for one in injection.checkpoints if one.blocking and not _was_there(turn, one.skill_id)),
    )


def with_duration(events: tuple[Event, ...], milliseconds: float) -> tuple[Event, ...]:
    """The events of a turn that took so long until they are told."""
    decided, *others = events
    if isinstance(decided.payload, payloads.TurnDecided):
        decided = replace(decided, payload=replace(decided.payload, duration_ms=round(milliseconds, 3)))
    return decided, *others


def _event(turn: DecidedTurn, payload: payloads.BuiltIn, *identity: str) -> Event:
    injection = turn.injection
    made = event_id(injection.conversation, injection.turn_id, payload.event_type, *identity)
    return Event(made, payload.event_type, injection.conversation, injection.turn_id, payload)


def _decided(turn: DecidedTurn) -> payloads.TurnDecided:
    injection = turn.injection
    tokens = injection.tokens
    outcomes = Counter(decision.outcome.value for decision in injection.decisions)
    in_context = (d.skill_id for d in injection.decisions if d.stage in _SHOWING and d.outcome in _IN_CONTEXT)
    return payloads.TurnDecided(
        revision=injection.revision,
        generation=injection.generation,
        placement=injection.placement.value,
        delivery=turn.delivery.value,
        skills=tuple(dict.fromkeys(in_context)),
        outcomes=FrozenDict(sorted(outcomes.items())),
        tokens=FrozenDict({name: getattr(tokens, name) for name in ("catalog", "tail", "injected", "left")}),
        diagnostics=tuple(dict.fromkeys(diagnostic.code for diagnostic in injection.diagnostics)),
        duration_ms=round(turn.duration_ms, 3),
        offered=injection.offered,
    )


def _moved(turn: DecidedTurn) -> Iterator[payloads.CursorMoved]:
    move, cursor = turn.injection.move, turn.after.cursor
    if move is not None and move.moved and move.to is not None and cursor is not None:
        visits = cursor.visits.get(move.to, 0)
        yield payloads.CursorMoved(move.from_, move.to, move.by.value, move.reason, visits, cursor.digest)


def _given(turn: DecidedTurn, block: Block) -> payloads.BuiltIn:
    skill = turn.snapshot.skills.get(block.skill_id)
    verdicts = (d for d in turn.injection.decisions if d.skill_id == block.skill_id and d.stage == _SHOWN)
    verdict = next(verdicts, None)
    whole = skill_key(block.skill_id) in block.keys
    outcome = verdict.outcome if verdict is not None and whole else Outcome.INJECTED
    kind = payloads.SkillRefreshed if outcome in _REPLACING else payloads.SkillInjected
    return kind(
        skill_id=block.skill_id,
        version=None if skill is None else skill.version,
        digest="" if skill is None else skill.digest,
        outcome=outcome.value,
        rung=block.rung.label,
        tokens=block.tokens,
        matcher=None if verdict is None else verdict.matcher,
        score=None if verdict is None else verdict.score,
        block=block.id,
        keys=block.keys,
        delivery=turn.delivery.value,
    )


def _pending(turn: DecidedTurn, checkpoint: PendingCheckpoint) -> Event:
    payload = payloads.CheckpointPending(
        skill_id=checkpoint.skill_id,
        checkpoint=checkpoint.name,
        digest=checkpoint.digest,
        before=checkpoint.before,
        reviewer=checkpoint.reviewer,
        asks=checkpoint.asks,
    )
    return _event(turn, payload, checkpoint.skill_id, checkpoint.name, checkpoint.before or "", checkpoint.digest)


def _was_there(turn: DecidedTurn, skill_id: str) -> bool:
    """Whether the context of the turn before had the skill with its present content."""
    if turn.injection.placement is Placement.CALL:
        return _was_in_last_call(turn, skill_id)
    record = turn.before.record(skill_key(skill_id))
    skill = turn.snapshot.skills.get(skill_id)
    if record is None or skill is None or record.holder == turn.injection.turn_id:
        return False
    words = next((entry.arguments for entry in turn.after.engaged if entry.skill_id == skill_id), "")
    return record.digest == digest_in_use(skill, words)


def _was_in_last_call(turn: DecidedTurn, skill_id: str) -> bool:
    # After the first run of a turn nothing tells what the call before it had: a replay tells too much, not too little.
    if turn.before.last_turn == turn.injection.turn_id:
        return False
    last_call = {fragment.digest for fragment in turn.before.prefix}
    return any(block.skill_id == skill_id and text_digest(block.text) in last_call for block in turn.injection.blocks)


WITHDRAWN = "withdrawn"
"""What stands in the place of a verdict that was taken back."""


def change_events(
    conversation: str, turn_id: str | None, before: State, after: State, cause: Cause
) -> tuple[Event, ...]:
    """A `checkpoint.decided` for each verdict that is new or taken back, then a `skill.evicted` for each lost text."""
    there = {(record.key, record.carrier) for record in after.records}
    lost = (r for r in before.records if (r.key, r.carrier) not in there and r.key == skill_key(skill_of(r.key) or ""))
    return (
        *(_judged(conversation, turn_id, approval, verdict) for approval, verdict in _verdicts(before, after, cause)),
        *(_evicted(conversation, turn_id, record, before, cause) for record in lost),
    )


def _verdicts(before: State, after: State, cause: Cause) -> Iterator[tuple[Approval, str]]:
    new = [approval for approval in after.approvals if approval not in before.approvals]
    yield from ((approval, approval.verdict.value) for approval in new)
    # A new verdict replaces one, or lets a full State forget its oldest; a clearing forgets everything.
    if not new and cause is not Cause.CLEARED:
        yield from ((approval, WITHDRAWN) for approval in before.approvals if approval not in after.approvals)


def _judged(conversation: str, turn_id: str | None, approval: Approval, verdict: str) -> Event:
    payload = payloads.CheckpointDecided(
        skill_id=approval.skill_id,
        checkpoint=approval.checkpoint,
        digest=approval.digest,
        verdict=verdict,
        by=approval.by,
    )
    call = (approval.call,) if approval.call else ()
    subject = (approval.skill_id, approval.checkpoint, approval.digest, *call)
    made = event_id(conversation, payload.event_type, *subject, verdict, repr(approval.at))
    return Event(made, payload.event_type, conversation, turn_id, payload)


def decided_event(conversation: str, approval: Approval) -> Event:
    """That the conversation has a verdict, as `change_events` tells it outside of turns: with the same id."""
    return _judged(conversation, None, approval, approval.verdict.value)


def _evicted(conversation: str, turn_id: str | None, record: Record, before: State, cause: Cause) -> Event:
    payload = payloads.SkillEvicted(
        skill_id=skill_of(record.key) or "",
        digest=record.digest,
        rung=record.rung.label,
        tokens=sum(other.tokens for other in before.records if other.carrier == record.carrier),
        block=record.carrier,
        cause=cause.value,
    )
    # The same text can be given and forgotten again: what tells the two apart is the State that was changed.
    made = event_id(conversation, payload.event_type, record.carrier, record.key, str(before.revision), repr(record.at))
    return Event(made, payload.event_type, conversation, turn_id, payload)


LONGEST_NAME = 200
"""Characters of a tool's name, of a call's, or of a label in an event; models make these, and they can be anything."""


def blocked_event(
    injection: Injection | CurrentPolicy, verdict: Verdict, call_id: str | None, new_id: Callable[[], str]
) -> Event:
    """That a call was denied; one that the host names by `call_id` is one happening however often it is judged."""
    policy = injection.tools
    payload = payloads.ToolBlocked(
        tool=verdict.tool[:LONGEST_NAME],
        code="" if verdict.code is None else verdict.code.value,
        allowed=policy.grant if policy.allowed_tools is None else policy.allowed_tools,
        forbidden=policy.forbidden_tools,
        call_id=None if call_id is None else call_id[:LONGEST_NAME],
    )
    where, turn_id = injection.conversation, injection.turn_id
    made = new_id() if call_id is None else event_id(where, turn_id, payload.event_type, payload.tool, call_id)
    return Event(made, payload.event_type, where, turn_id, payload)


def prepared_events(prepared: SpawnPlan | SpawnRejected, conversation: str) -> tuple[Event, ...]:
    """That a sub-agent was asked for, and whether it is in order; `conversation` would be, or is, its own."""
    request = prepared.request
    label = _label(request)
    outcome: payloads.BuiltIn
    if isinstance(prepared, SpawnPlan):
        outcome = payloads.SpawnValidated(
            label, conversation, request.skills, prepared.tools, prepared.policy.forbidden_tools
        )
    else:
        outcome = payloads.SpawnRejected(label, request.skills, tuple(error.code for error in prepared.errors))
    return (
        _spawn_event(payloads.SpawnRequested(label, request.skills), conversation, request),
        _spawn_event(outcome, conversation, request),
    )


def started_event(plan: SpawnPlan) -> Event:
    """That the sub-agent runs."""
    return _spawn_event(payloads.SpawnStarted(_label(plan.request), plan.conversation), plan.conversation, plan.request)


def _spawn_event(payload: payloads.BuiltIn, spawned: str, request: SpawnRequest) -> Event:
    # Asked for again with other skills under the same id, it is another happening.
    skills = ("None",) if request.skills is None else ("", *request.skills)
    identity = event_id(spawned, payload.event_type, *skills)
    return Event(identity, payload.event_type, spawned.rpartition("/")[0] or spawned, None, payload)


def _label(request: SpawnRequest) -> str | None:
    return None if request.label is None else request.label[:LONGEST_NAME]
