"""Approvals in a database of each kind: the contract, and what is particular to a database."""

from collections.abc import AsyncIterator

import pytest_asyncio

from skillweave.stores.sql.approvals import SqlApprovals
from skillweave.testing import ApprovalBookContract, ManualClock

KEY = bytes(range(32))


class TestSqlApprovals(ApprovalBookContract):
    @pytest_asyncio.fixture
    async def book(self, shared_url: str, clock: ManualClock) -> AsyncIterator[SqlApprovals]:
        async with SqlApprovals(shared_url, KEY, clock=clock) as book:
            yield book
