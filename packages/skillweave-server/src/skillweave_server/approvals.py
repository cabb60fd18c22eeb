"""Approvals: questions to people at checkpoints, their answers, and the log of both."""

from dataclasses import replace
from typing import Annotated
from uuid import UUID, uuid4, uuid5

from fastapi import Path, Query

from skillweave.api import ApprovalPage, LogPage, page
from skillweave.approvals import ApprovalCase, ApprovalReply, ApprovalRequest, ApprovalStatus
from skillweave.turns import LONGEST_ID
from skillweave_server.calls import Call, IdempotencyKey
from skillweave_server.endpoints import After, Endpoints, Limit
from skillweave_server.service import desk_of
from skillweave_stores.access import Scope

APPROVALS = Endpoints("approvals")

_OF_KEYS = UUID("5c1b3a52-6d0f-4c6e-9d6e-0d5a4e8f7b21")
"""What ids made of an Idempotency-Key are made in."""

ApprovalId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description="The id of the approval.")]
RowNumber = Annotated[str, Query(pattern="^[0-9]{0,15}$", description="Go on after the row with this number.")]


@APPROVALS.at(
    "POST",
    "/approvals",
    scope=Scope.WEAVE,
    takes=ApprovalRequest,
    answers=ApprovalCase,
    status=201,
    problems=(404, 409),
)
async def ask_for_approval(call: Call, asked: ApprovalRequest, idempotency_key: IdempotencyKey = None) -> ApprovalCase:
    """Ask a person whether the agent may pass a checkpoint; the conversation is kept with it as it is now.

    A skill that has another digest than the one that is given answers 409, and so does a call that the checkpoint does
    not ask about.
    """
    return await desk_of(call.service, call.tenant).ask(_id_of(call.tenant, idempotency_key), asked)


@APPROVALS.at("GET", "/approvals", scope=Scope.READ, answers=ApprovalPage, problems=(404,))
async def list_approvals(
    call: Call,
    status: ApprovalStatus | None = None,
    conversation: str | None = None,
    reviewer: str | None = None,
    after: After = "",
    limit: Limit = 20,
) -> ApprovalPage:
    """Approvals, the oldest first, without the conversations that they were asked in.

    `reviewer` is who is asked now.
    """
    found = await call.service.approvals.list(
        status=status,
        conversation=conversation,
        reviewer=reviewer,
        after=after,
        limit=limit + 1,
        tenant=call.tenant,
    )
    return page(ApprovalPage, [replace(case, state=None) for case in found], limit, lambda case: case.id)


@APPROVALS.at("POST", "/approvals/escalate", scope=Scope.APPROVE, answers=tuple[ApprovalCase, ...])
async def escalate_approvals(call: Call) -> tuple[ApprovalCase, ...]:
    """Hand every approval whose time is over to the next reviewer; answers with those that were handed on.

    The service does so every minute by itself.
    """
    found = await call.service.approvals.escalate(tenant=call.tenant)
    return tuple(replace(case, state=None) for case in found)


@APPROVALS.at("GET", "/approvals/log", scope=Scope.ADMIN, answers=LogPage)
async def read_approval_log(call: Call, after: RowNumber = "", limit: Limit = 100) -> LogPage:
    """The rows of the log, the oldest first: what was asked, decided, refused, applied and escalated."""
    found = await call.service.approvals.log(after=int(after or 0), limit=limit + 1, tenant=call.tenant)
    return page(LogPage, found, limit, lambda row: str(row.number))


@APPROVALS.at("GET", "/approvals/verify", scope=Scope.ADMIN, answers=tuple[str, ...])
async def verify_approval_log(call: Call) -> tuple[str, ...]:
    """What is wrong with the log, where an approval differs from it, and what conversations keep that it lacks.

    Empty where nothing is.
    """
    return await desk_of(call.service, call.tenant).verify()


@APPROVALS.at("GET", "/approvals/{approval}", scope=Scope.READ, answers=ApprovalCase, problems=(404,))
async def show_approval(call: Call, approval: ApprovalId) -> ApprovalCase:
    """The approval with the conversation as it was when it was asked for."""
    return await call.service.approvals.get(approval, tenant=call.tenant)


@APPROVALS.at(
    "POST",
    "/approvals/{approval}/decide",
    scope=Scope.APPROVE,
    takes=ApprovalReply,
    answers=ApprovalCase,
    problems=(404, 409),
)
async def decide_approval(call: Call, approval: ApprovalId, asked: ApprovalReply) -> ApprovalCase:
    """Say yes, no, or yes with other arguments; then the conversation has the verdict. Again changes nothing.

    Another verdict than the first answers 409, and so does one that the conversation cannot have, as where the skill
    has changed since: the approval is pending again then. `key` of the answer, and of the log, is the API key that gave
    the verdict, whoever `by` names.
    """
    named = "" if call.key is None else f"{call.key.id} ({call.key.name})"
    try:
        return await desk_of(call.service, call.tenant).decide(approval, asked, named)
    finally:
        # Also where it failed in between: then the verdict waits, and the next turn here is to find it.
        call.service.waiting.forget(call.tenant)


def _id_of(tenant: str, key: str | None) -> str:
    """The id of a new approval: with a key always the same, so that a request that comes again asks once."""
    return str(uuid4() if key is None else uuid5(_OF_KEYS, f"{len(tenant)}:{tenant}:{key}"))
