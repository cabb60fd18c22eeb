"""Verdicts on their way into conversations: after a crash before the next turn, and handed on when nobody answers."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from skillweave import StoreUnavailable
from skillweave.approvals import ApprovalDesk
from skillweave.errors import Contended
from skillweave_server.service import Service

log = logging.getLogger("skillweave_server")

ESCALATE_EVERY_SECONDS = 60.0
"""Seconds between two looks for approvals whose time is over."""


def desk_of(service: Service, tenant: str) -> ApprovalDesk:
    """Where the tenant's questions are asked and answered."""
    return ApprovalDesk(service.approvals, service.weaver(tenant), service.events)


async def apply_waiting(service: Service, tenant: str, conversation: str) -> bool:
    """Have the conversation know what people decided, where a crash came between; whether anything waited.

    A verdict waits where a crash, or a ledger that was silent, came before its answer; a turn may go on without it for
    a second, as it may before the crash. While the book does not answer, or others of the conversation are faster, the
    turn goes on without too: what a person has not said yes to asks again.
    """
    try:
        if conversation not in await service.waiting.of(tenant):
            return False
        service.waiting.forget(tenant)
        return await desk_of(service, tenant).apply_waiting(conversation)
    except (StoreUnavailable, Contended) as error:
        log.warning("verdicts that may wait for conversation %r were not applied: %r", conversation, str(error))
        return False


async def escalate_due(service: Service) -> int:
    """Hand on the approvals of all tenants whose time is over; how many there were."""
    return sum([len(await service.approvals.escalate(tenant=tenant)) for tenant in await service.tenants()])


@asynccontextmanager
async def escalating(service: Service, every_seconds: float = ESCALATE_EVERY_SECONDS) -> AsyncIterator[None]:
    """Hand them on again and again while the block runs; any number of replicas may."""
    task = asyncio.create_task(_keep_escalating(service, every_seconds))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _keep_escalating(service: Service, every_seconds: float) -> None:
    while True:
        await asyncio.sleep(every_seconds)
        try:
            await escalate_due(service)
        except Exception:
            # The next minute tries again, whatever it was: one failure must not end it for all time.
            log.exception("approvals whose time is over were not handed on")
