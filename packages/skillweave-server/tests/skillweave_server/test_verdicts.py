"""Approvals that nobody answers are handed on by each replica, for all tenants."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.skillweave_server.office import service_of

from skillweave.approvals.book import ApprovalBook
from skillweave.approvals.case import ApprovalCase, ApprovalRequest
from skillweave.dialogue import ToolCall
from skillweave.errors import StoreUnavailable
from skillweave_server.service import Service, desk_of, escalate_due, escalating
from skillweave_stores.access import Scope, new_key
from skillweave_stores.sql.keys import SqlKeys
from skillweave_testing import ManualClock

CALL = ToolCall("call-1", "pay", {"amount": 90})
ASKED = ApprovalRequest("c", "pay-bill", "release", CALL, reviewer="Ann", escalate_to="Bo", escalate_seconds=60)


async def with_tenants(folder: Path, clock: Callable[[], float], *tenants: str) -> Service:
    service = service_of(folder, clock=clock)
    keys = SqlKeys(f"sqlite:///{folder / 'keys.db'}")
    for tenant in tenants:
        await keys.put(new_key("a key", [Scope.WEAVE], tenant=tenant, now=0.0)[0])
    return replace(service, keys=keys)


async def test_approvals_of_all_tenants_are_handed_on(tmp_path: Path) -> None:
    clock = ManualClock()
    async with await with_tenants(tmp_path, clock, "acme", "acme", "brandt") as service:
        for tenant in ("", "acme", "brandt"):
            await desk_of(service, tenant).ask("a-1", ASKED)
        assert await escalate_due(service) == 0
        clock.advance(61)
        assert await escalate_due(service) == 3
        for tenant in ("", "acme", "brandt"):
            assert (await service.approvals.get("a-1", tenant=tenant)).reviewer == "Bo"


async def test_replicas_that_look_at_once_hand_an_approval_on_once(tmp_path: Path) -> None:
    clock = ManualClock()
    async with service_of(tmp_path, clock=clock) as one, service_of(tmp_path, clock=clock) as other:
        await desk_of(one, "").ask("a-1", ASKED)
        clock.advance(61)
        assert sum(await asyncio.gather(*(escalate_due(service) for service in (one, other, one, other)))) == 1
        assert (await one.approvals.get("a-1")).escalations == 1


class Flaky:
    """A book that fails when it is first asked to hand on, and tells when it has."""

    def __init__(self, book: ApprovalBook) -> None:
        self._book, self.asked, self.done = book, 0, asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._book, name)

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("the database does not answer")
        found = await self._book.escalate(tenant=tenant)
        if found:
            self.done.set()
        return found


async def test_a_running_service_hands_on_by_itself_also_after_it_could_not(tmp_path: Path) -> None:
    clock = ManualClock()
    async with service_of(tmp_path, clock=clock, book=Flaky) as service:  # type: ignore[arg-type]
        book = service.approvals
        assert isinstance(book, Flaky)
        await desk_of(service, "").ask("a-1", ASKED)
        clock.advance(61)
        async with escalating(service, every_seconds=0.005), asyncio.timeout(30):
            await book.done.wait()
        assert book.asked >= 2
        assert (await book.get("a-1")).reviewer == "Bo"


async def test_nothing_is_handed_on_once_the_service_has_ended(tmp_path: Path) -> None:
    async with service_of(tmp_path, book=Flaky) as service:  # type: ignore[arg-type]
        async with escalating(service, every_seconds=0.001):
            pass
        book = service.approvals
        assert isinstance(book, Flaky)
        before = book.asked
        await asyncio.sleep(0.02)
        assert book.asked == before
