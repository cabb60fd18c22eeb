"""A book of approvals in memory that passes the contract, and others with one mistake each, which it must find.

Not collected by itself, as its name says no test.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from skillweave.approvals.case import ApprovalCase, ApprovalNotFound, ApprovalRequest, ApprovalStatus, LogRow
from skillweave.approvals.steps import applied, asked, asked_again, decided, escalated, refused
from skillweave.checking import Checked
from skillweave.closing import ClosedOnExit
from skillweave.errors import InvalidValue
from skillweave.frozen import EMPTY
from skillweave.state.state import State
from skillweave.tenants import tenant_of
from skillweave.weaver.approvals import CheckpointVerdict
from skillweave_stores.approvals.documents import step_to_json
from skillweave_stores.approvals.log import LogCheck, LogHead, first_head, next_row, read_kept, row_kept
from skillweave_testing import ManualClock
from tests.contracts_of_ports.approvals import ApprovalBookContract

KEY = bytes(range(32))


class DictBook(ClosedOnExit):
    """A book as it should be."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.cases: dict[tuple[str, str], ApprovalCase] = {}
        self.order: list[tuple[str, str]] = []
        self.rows: dict[str, list[LogRow]] = {}
        self.heads: dict[str, LogHead] = {}

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        owner = tenant_of(tenant)
        new = asked(approval_id, request, digest, state, self.clock())
        there = self.cases.get((owner, approval_id))
        if there is not None:
            return self.asked_again(there, request)
        return self.add(owner, "created", None, new)

    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        found = self.cases.get((tenant_of(tenant), approval_id))
        if found is None:
            raise ApprovalNotFound(approval_id)
        return found

    async def list(
        self,
        *,
        status: ApprovalStatus | None = None,
        conversation: str | None = None,
        reviewer: str | None = None,
        after: str = "",
        limit: int = 20,
        tenant: str = "",
    ) -> tuple[ApprovalCase, ...]:
        owner = tenant_of(tenant)
        _require_limit(limit)
        last = self.place(await self.get(after, tenant=tenant)) if after else None
        found = sorted((case for (whose, _), case in self.cases.items() if whose == owner), key=self.place)
        return tuple(
            case
            for case in found
            if (status is None or case.status == status)
            and (conversation is None or case.request.conversation == conversation)
            and (reviewer is None or case.reviewer == reviewer)
            and (last is None or self.place(case) > last)
        )[:limit]

    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        case = await self.get(approval_id, tenant=tenant)
        after = self.decided(case, verdict)
        if after != case:
            self.order.append((tenant_of(tenant), approval_id))
        return self.changed(tenant, "decided", case, after)

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        case = await self.get(approval_id, tenant=tenant)
        return self.changed(tenant, "applied", case, applied(case))

    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        case = await self.get(approval_id, tenant=tenant)
        after = self.refused_again(case)
        if after != case:
            self.order.remove((tenant_of(tenant), approval_id))
        return self.changed(tenant, "refused", case, after, why)

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        owner = tenant_of(tenant)
        found = (self.cases[one] for one in self.order if one[0] == owner)
        return tuple(case for case in found if case.request.conversation == conversation and not case.applied)

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        owner = tenant_of(tenant)
        cases = [self.cases[one] for one in self.order if one[0] == owner]
        return frozenset(case.request.conversation for case in cases if not case.applied)

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        owner = tenant_of(tenant)
        due = [
            case
            for (whose, _), case in self.cases.items()
            if whose == owner and case.due_at is not None and case.due_at <= self.clock()
        ]
        return tuple(self.add(owner, "escalated", case, self.escalated(case)) for case in due)

    async def log(self, *, after: int = 0, limit: int = 1000, tenant: str = "") -> Sequence[LogRow]:
        owner = tenant_of(tenant)
        _require_limit(limit)
        return tuple(row for row in self.rows.get(owner, []) if row.number > after)[:limit]

    async def verify(self, kept: Collection[str] = (), *, tenant: str = "") -> tuple[str, ...]:
        owner = tenant_of(tenant)
        return problems(KEY, owner, self.rows.get(owner, []), self.heads.get(owner), read_kept(kept))

    def asked_again(self, case: ApprovalCase, request: ApprovalRequest) -> ApprovalCase:
        return asked_again(case, request)

    def decided(self, case: ApprovalCase, verdict: CheckpointVerdict) -> ApprovalCase:
        return decided(case, verdict, self.clock())

    def refused_again(self, case: ApprovalCase) -> ApprovalCase:
        return refused(case, self.clock())

    def escalated(self, case: ApprovalCase) -> ApprovalCase:
        return escalated(case, self.clock())

    def place(self, case: ApprovalCase) -> tuple[Any, ...]:
        return case.created_at, case.id

    def changed(self, tenant: str, kind: str, before: ApprovalCase, after: ApprovalCase, why: str = "") -> ApprovalCase:
        return before if before == after else self.add(tenant_of(tenant), kind, before, after, why)

    def add(
        self, owner: str, kind: str, before: ApprovalCase | None, after: ApprovalCase, why: str = ""
    ) -> ApprovalCase:
        head = self.heads.get(owner, first_head(KEY, owner))
        document = step_to_json(before, after, why)
        row, head = next_row(KEY, owner, head, approval=after.id, kind=kind, at=self.clock(), document=document)
        self.rows.setdefault(owner, []).append(row)
        self.heads[owner] = head
        if kind == "decided":
            after = replace(after, logged=row_kept(row))
        self.cases[owner, after.id] = after
        return after


def _require_limit(limit: int) -> None:
    if Checked("DictBook").whole("limit", limit, 1) > 1000:
        raise InvalidValue("limit")


class WritesEachTime(DictBook):
    def changed(self, tenant: str, kind: str, before: ApprovalCase, after: ApprovalCase, why: str = "") -> ApprovalCase:
        return self.add(tenant_of(tenant), kind, before, after, why)


class TakesAnyRequest(DictBook):
    def asked_again(self, case: ApprovalCase, request: ApprovalRequest) -> ApprovalCase:
        return case


class LooksAtTheConversationOnly(DictBook):
    def asked_again(self, case: ApprovalCase, request: ApprovalRequest) -> ApprovalCase:
        return asked_again(case, case.request if case.request.conversation == request.conversation else request)


class LastVerdictCounts(DictBook):
    def decided(self, case: ApprovalCase, verdict: CheckpointVerdict) -> ApprovalCase:
        return decided(replace(case, status=ApprovalStatus.PENDING), verdict, self.clock())


class AnyVerdict(DictBook):
    def decided(self, case: ApprovalCase, verdict: CheckpointVerdict) -> ApprovalCase:
        request = case.request
        right = replace(
            verdict, skill_id=request.skill_id, checkpoint=request.checkpoint, call=request.call, digest=None
        )
        return decided(case, right, self.clock())


class KeepsTheTimeOfTheFirst(DictBook):
    def refused_again(self, case: ApprovalCase) -> ApprovalCase:
        after = refused(case, self.clock())
        return after if after is case else replace(after, due_at=case.created_at + case.request.escalate_seconds)


class RefusesWhatIsApplied(DictBook):
    def refused_again(self, case: ApprovalCase) -> ApprovalCase:
        return refused(replace(case, applied=False), self.clock())


class SaysNotWhy(DictBook):
    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        return await super().refused(approval_id, "", tenant=tenant)


class EscalatesForEver(DictBook):
    def escalated(self, case: ApprovalCase) -> ApprovalCase:
        return replace(escalated(case, self.clock()), due_at=self.clock() + case.request.escalate_seconds)


class EscalatesOnce(DictBook):
    def escalated(self, case: ApprovalCase) -> ApprovalCase:
        return replace(escalated(case, self.clock()), due_at=None)


class EscalatesWhatIsDecided(DictBook):
    def decided(self, case: ApprovalCase, verdict: CheckpointVerdict) -> ApprovalCase:
        return replace(super().decided(case, verdict), due_at=case.due_at)


class WaitsInOrderOfIds(DictBook):
    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        return tuple(sorted(await super().waiting(conversation, tenant=tenant), key=lambda case: case.id))


class WaitsForEver(DictBook):
    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        owner = tenant_of(tenant)
        cases = [self.cases[one] for one in self.order if one[0] == owner]
        return tuple(case for case in cases if case.request.conversation == conversation)


class WaitsForTenantsTogether(DictBook):
    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        cases = [self.cases[one] for one in self.order]
        return frozenset(case.request.conversation for case in cases if not case.applied)


class NamesWhatWaitedOnce(DictBook):
    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        owner = tenant_of(tenant)
        return frozenset(self.cases[one].request.conversation for one in self.order if one[0] == owner)


class OrderedByLanguage(DictBook):
    def place(self, case: ApprovalCase) -> tuple[Any, ...]:
        return case.created_at, case.id.casefold(), case.id


class OrderedById(DictBook):
    def place(self, case: ApprovalCase) -> tuple[Any, ...]:
        return (case.id,)


class PagesByTimeOnly(DictBook):
    async def list(self, *, after: str = "", **asked_for: Any) -> tuple[ApprovalCase, ...]:
        found = await super().list(after=after, **asked_for)
        last = await self.get(after, tenant=asked_for["tenant"]) if after else None
        return tuple(case for case in found if last is None or case.created_at > last.created_at)


class FirstReviewerForEver(DictBook):
    async def list(self, *, reviewer: str | None = None, **asked_for: Any) -> tuple[ApprovalCase, ...]:
        found = await super().list(**asked_for)
        return tuple(case for case in found if reviewer is None or case.request.reviewer == reviewer)


class OneTenant(DictBook):
    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        owner = tenant_of(tenant)
        whose = next((one for one, known in self.cases if known == approval_id), owner)
        return await super().get(approval_id, tenant=whose)


class TwoLogs(DictBook):
    """A book whose log forks where two write at once."""

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        owner = tenant_of(tenant)
        head = self.heads.get(owner, first_head(KEY, owner))
        there = self.cases.get((owner, approval_id))
        await asyncio.sleep(0)
        if there is None:
            self.heads[owner] = head
        return await super().open(approval_id, request, digest, state, tenant=tenant)


class AnswersWhatItDoesNotKeep(DictBook):
    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        case = await self.get(approval_id, tenant=tenant)
        return self.decided(case, verdict)


class LosesTheState(DictBook):
    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        return replace(await super().get(approval_id, tenant=tenant), state=State())


MISTAKES: Sequence[type[DictBook]] = (
    WritesEachTime,
    TakesAnyRequest,
    LooksAtTheConversationOnly,
    LastVerdictCounts,
    AnyVerdict,
    KeepsTheTimeOfTheFirst,
    RefusesWhatIsApplied,
    SaysNotWhy,
    EscalatesForEver,
    EscalatesOnce,
    EscalatesWhatIsDecided,
    WaitsInOrderOfIds,
    WaitsForEver,
    OrderedByLanguage,
    OrderedById,
    PagesByTimeOnly,
    FirstReviewerForEver,
    OneTenant,
    TwoLogs,
    AnswersWhatItDoesNotKeep,
    LosesTheState,
)


def _contract_of(mistake: type[DictBook]) -> type[ApprovalBookContract]:
    def book(_: object, clock: ManualClock) -> DictBook:
        return mistake(clock)

    return type(f"Test{mistake.__name__}", (ApprovalBookContract,), {"book": pytest.fixture(book)})


globals().update({f"Test{mistake.__name__}": _contract_of(mistake) for mistake in MISTAKES})


def problems(
    key: bytes, tenant: str, rows: Iterable[LogRow], head: LogHead | None, kept: Mapping[int, str] = EMPTY
) -> tuple[str, ...]:
    """What is wrong with a log, each in words with the number of the row; empty where it is whole.

    `rows` are all rows of the tenant in the order of their numbers.
    """
    check = LogCheck(key, tenant, kept)
    for row in rows:
        check.add(row)
    return check.end(head)
