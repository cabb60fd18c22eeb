"""The events of a change of State outside a turn: pure, from the States before and after it."""

from collections.abc import Iterator

from skillweave.events.cause import Cause
from skillweave.events.checkpoints import CheckpointDecided
from skillweave.events.event import Event, event_id, event_of
from skillweave.events.skills import SkillEvicted
from skillweave.state.state import Approval, Record, State, skill_key, skill_of

WITHDRAWN = "withdrawn"
"""What stands in the place of a verdict that was taken back."""


def change_events(
    conversation: str, turn_id: str | None, before: State, after: State, cause: Cause
) -> tuple[Event, ...]:
    """A `checkpoint.decided` for each verdict that is new or taken back, then a `skill.evicted` for each lost text."""
    there = {(record.key, record.carrier) for record in after.records}
    lost = (r for r in before.records if _is_whole(r) and (r.key, r.carrier) not in there)
    return (
        *(_decided(conversation, turn_id, approval, verdict) for approval, verdict in _verdicts(before, after, cause)),
        *(_evicted(conversation, turn_id, record, before, cause) for record in lost),
    )


def _verdicts(before: State, after: State, cause: Cause) -> Iterator[tuple[Approval, str]]:
    new = [approval for approval in after.approvals if approval not in before.approvals]
    yield from ((approval, approval.verdict.value) for approval in new)
    # A new verdict replaces one, or lets a full State forget its oldest; a clearing forgets everything.
    if not new and cause is not Cause.CLEARED:
        yield from ((approval, WITHDRAWN) for approval in before.approvals if approval not in after.approvals)


def _decided(conversation: str, turn_id: str | None, approval: Approval, verdict: str) -> Event:
    payload = CheckpointDecided(
        skill_id=approval.skill_id,
        checkpoint=approval.checkpoint,
        digest=approval.digest,
        verdict=verdict,
        by=approval.by,
    )
    subject = (approval.skill_id, approval.checkpoint, approval.digest)
    made = event_id(conversation, payload.event_type, *subject, verdict, repr(approval.at))
    return event_of(payload, id=made, conversation=conversation, turn_id=turn_id)


def _is_whole(record: Record) -> bool:
    return record.key == skill_key(skill_of(record.key) or "")


def _evicted(conversation: str, turn_id: str | None, record: Record, before: State, cause: Cause) -> Event:
    payload = SkillEvicted(
        skill_id=skill_of(record.key) or "",
        digest=record.digest,
        rung=record.rung.label,
        tokens=sum(other.tokens for other in before.records if other.carrier == record.carrier),
        block=record.carrier,
        cause=cause.value,
    )
    # The same text can be given and forgotten again: what tells the two apart is the State that was changed.
    made = event_id(conversation, payload.event_type, record.carrier, record.key, str(before.revision), repr(record.at))
    return event_of(payload, id=made, conversation=conversation, turn_id=turn_id)
