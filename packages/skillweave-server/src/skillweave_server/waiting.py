"""For which conversations verdicts wait, asked of the book once for all turns of a moment."""

import asyncio
from collections import OrderedDict
from collections.abc import Set
from dataclasses import dataclass

from skillweave.approvals.book import ApprovalBook

SECONDS = 1.0
"""How long an answer of the book counts."""
MOST_TENANTS = 1_000


@dataclass(frozen=True, slots=True)
class _Asked:
    answer: "asyncio.Task[frozenset[str]]"
    until: float


class Waiting:
    """By tenant, the conversations with a verdict that they do not have yet, as they were at most a second ago."""

    def __init__(self, book: ApprovalBook, seconds: float = SECONDS) -> None:
        self._book, self._seconds = book, seconds
        self._asked: OrderedDict[str, _Asked] = OrderedDict()

    async def of(self, tenant: str) -> Set[str]:
        """Those of the tenant; one trip for all who ask at once. Raises StoreUnavailable."""
        loop = asyncio.get_running_loop()
        known = self._asked.get(tenant)
        if known is None or known.until <= loop.time() or known.answer.get_loop() is not loop:
            task = loop.create_task(self._book.conversations_waiting(tenant=tenant))
            known = self._asked[tenant] = _Asked(task, loop.time() + self._seconds)
            self._asked.move_to_end(tenant)
            if len(self._asked) > MOST_TENANTS:
                self._asked.popitem(last=False)
        # Whoever goes away takes the answer from nobody else.
        return await asyncio.shield(known.answer)

    def forget(self, tenant: str) -> None:
        """Ask anew at the next turn: a verdict has come, or has been applied."""
        self._asked.pop(tenant, None)
