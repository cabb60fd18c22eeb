"""The book of approvals of a service that has no key to seal their log with: it keeps none, and says why."""

from collections.abc import Sequence
from typing import NoReturn

from skillweave import CheckpointVerdict, State, StoreUnavailable
from skillweave.approvals import ApprovalBook, ApprovalCase, ApprovalRequest, ApprovalStatus, LogRow
from skillweave.values import ClosedOnExit

NO_SEAL = (
    "approvals are not kept here, as their log has no key to be sealed with; start every replica with the same "
    "--approval-key-file, made once by `(umask 077; openssl rand -hex 32 > approvals.key)`"
)
"""What is missing, for people."""


class UnsealedBook(ClosedOnExit, ApprovalBook):
    """Nothing waits in it, and whatever else it is asked raises StoreUnavailable."""

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        """Raises StoreUnavailable."""
        _refuse()

    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """Raises StoreUnavailable."""
        _refuse()

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
        """Raises StoreUnavailable."""
        _refuse()

    async def decide(self, approval_id: str, verdict: CheckpointVerdict, *, tenant: str = "") -> ApprovalCase:
        """Raises StoreUnavailable."""
        _refuse()

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """Raises StoreUnavailable."""
        _refuse()

    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        """Raises StoreUnavailable."""
        _refuse()

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """None."""
        return ()

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        """None."""
        return frozenset()

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """None."""
        return ()

    async def log(self, *, after: int = 0, limit: int = 1000, tenant: str = "") -> Sequence[LogRow]:
        """Raises StoreUnavailable."""
        _refuse()

    async def verify(self, *, tenant: str = "") -> tuple[str, ...]:
        """Raises StoreUnavailable."""
        _refuse()


def _refuse() -> NoReturn:
    raise StoreUnavailable(NO_SEAL)
