"""What each step makes of an approval: pure functions, the same for every book."""

import json
from collections.abc import Mapping
from dataclasses import replace

from skillweave.approvals.case import (
    AlreadyDecided,
    ApprovalCase,
    ApprovalRequest,
    ApprovalStatus,
    require_approval_id,
)
from skillweave.codec import Portable
from skillweave.errors import InvalidValue, InvalidVerdict
from skillweave.frozen import FrozenJson, as_json, freeze_mapping
from skillweave.state.approvals import require_words
from skillweave.state.state import ApprovalVerdict, State
from skillweave.weaver.approvals import CheckpointVerdict


def asked(approval_id: str, request: ApprovalRequest, digest: str, state: State, now: float) -> ApprovalCase:
    """A new question. Raises InvalidValue for an id that can be none."""
    require_approval_id(approval_id)
    due_at = now + request.escalate_seconds
    return ApprovalCase(approval_id, request, ApprovalStatus.PENDING, request.reviewer, digest, now, due_at, state)


def asked_again(case: ApprovalCase, request: ApprovalRequest) -> ApprovalCase:
    """The approval as it stands, where the request is the same. Raises InvalidValue for another one."""
    if _as_text(case.request) != _as_text(request):
        raise InvalidValue(
            f"approval {case.id!r} belongs to another request already; ask with a new id, or with what was asked first"
        )
    return case


def decided(case: ApprovalCase, verdict: CheckpointVerdict, now: float, key: str = "") -> ApprovalCase:
    """The approval with a verdict, once. Raises AlreadyDecided for another one, InvalidVerdict for a strange one."""
    require_words(verdict.by, verdict.note)
    request = case.request
    if (verdict.skill_id, verdict.checkpoint) != (request.skill_id, request.checkpoint):
        raise InvalidVerdict(
            f"approval {case.id!r} asks about checkpoint {request.checkpoint!r} of skill {request.skill_id!r}, not "
            f"{verdict.checkpoint!r:.60} of {verdict.skill_id!r:.60}; give the verdict that was asked for"
        )
    if verdict.call is not None and (request.call is None or _as_text(verdict.call) != _as_text(request.call)):
        raise InvalidVerdict(f"approval {case.id!r} asks about another call; give the `call` as it was shown, or none")
    if verdict.digest not in (None, case.digest):
        raise InvalidVerdict(
            f"approval {case.id!r} showed the skill at {case.digest:.12}, and the verdict is on "
            f"{verdict.digest!r:.14}; decide on what was shown, or ask anew"
        )
    after = replace(
        case,
        status=ApprovalStatus(verdict.verdict.value),
        due_at=None,
        decided_at=now,
        by=verdict.by,
        note=verdict.note,
        arguments=_arguments(verdict),
        applied=False,
        key=key,
    )
    if case.status is ApprovalStatus.PENDING:
        return after
    if _as_text(replace(after, decided_at=case.decided_at, applied=case.applied, key=case.key)) == _as_text(case):
        return case
    raise AlreadyDecided(case)


def applied(case: ApprovalCase) -> ApprovalCase:
    """The approval whose verdict the conversation has. Raises InvalidValue where there is no verdict."""
    if case.status is ApprovalStatus.PENDING:
        raise InvalidValue(f"approval {case.id!r} is pending, so that there is nothing to apply; decide first")
    return replace(case, applied=True)


def refused(case: ApprovalCase, now: float) -> ApprovalCase:
    """The approval that is asked anew; as it stands where it is pending, or the conversation has the verdict."""
    if case.status is ApprovalStatus.PENDING or case.applied:
        return case
    return replace(
        case,
        status=ApprovalStatus.PENDING,
        due_at=now + case.request.escalate_seconds,
        decided_at=None,
        by="",
        note="",
        arguments=None,
        key="",
        logged="",
    )


def escalated(case: ApprovalCase, now: float) -> ApprovalCase:
    """The approval with its next reviewer if it is due, or never due again if there is none."""
    if case.due_at is None or case.due_at > now:
        return case
    to = case.request.escalate_to
    if to is None or to == case.reviewer:
        return replace(case, due_at=None)
    return replace(case, reviewer=to, due_at=now + case.request.escalate_seconds, escalations=case.escalations + 1)


def verdict_of(case: ApprovalCase) -> CheckpointVerdict:
    """The verdict as the conversation is to have it. Raises InvalidValue for an approval that is pending."""
    if case.status is ApprovalStatus.PENDING:
        raise InvalidValue(f"approval {case.id!r} is pending, so that it has no verdict; decide first")
    request = case.request
    verdict = ApprovalVerdict(case.status.value)
    return CheckpointVerdict(
        request.skill_id,
        request.checkpoint,
        verdict,
        case.by,
        case.note,
        case.digest,
        request.call,
        case.arguments,
        case.id,
        case.logged,
    )


def _arguments(verdict: CheckpointVerdict) -> Mapping[str, FrozenJson] | None:
    if verdict.arguments is None:
        return None
    try:
        found = as_json(verdict.arguments)
    except (ValueError, RecursionError) as error:
        raise InvalidVerdict(f"the arguments hold {error}; give JSON") from None
    return freeze_mapping(found) if isinstance(found, dict) else None


def _as_text(value: Portable) -> str:
    # Not by ==, for which 1, 1.0 and True are one.
    return json.dumps(value.to_dict(), sort_keys=True)
