"""The port of the book of approvals: what was asked and answered, and the log of each step."""

from collections.abc import Collection, Sequence
from typing import Protocol

from skillweave.approvals.case import ApprovalCase, ApprovalRequest, ApprovalStatus, LogRow
from skillweave.closing import ClosableOnExit
from skillweave.state.state import State
from skillweave.weaver.approvals import CheckpointVerdict


class ApprovalBook(ClosableOnExit, Protocol):
    """Keeps approvals and their log; `tests/contracts_of_ports/approvals.py` is the contract as tests.

    Each step writes its row of the log and the approval in one transaction. All methods raise StoreUnavailable, steps
    also ApprovalLogBroken where the log does not end as it was sealed, and ApprovalNotFound.
    """

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        """Keeps a question; the same id and request is answered as it stands. Raises InvalidValue."""
        ...

    async def get(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """The approval as it stands."""
        ...

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
        """At most `limit` (1 to 1000) approvals after that id, oldest first. Raises ApprovalNotFound, InvalidValue."""
        ...

    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        """Keeps a verdict and the API key that gave it, once. Raises AlreadyDecided and InvalidVerdict."""
        ...

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """Notes that the conversation has the verdict, once. Raises InvalidValue if there is none."""
        ...

    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        """Notes why the verdict could not be kept, and asks anew; pending and applied ones stay as they are."""
        ...

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """The decided approvals of a conversation that are not applied, in the order in which they were decided."""
        ...

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        """The conversations of the tenant for which `waiting` answers something; usually none."""
        ...

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """Hands each overdue approval to its next reviewer for the same time, or notes it once, without `due_at`."""
        ...

    async def log(self, *, after: int = 0, limit: int = 1000, tenant: str = "") -> Sequence[LogRow]:
        """At most `limit` rows of the log after that number."""
        ...

    async def verify(self, kept: Collection[str] = (), *, tenant: str = "") -> tuple[str, ...]:
        """Returns what is wrong with the tenant's log, and where an approval differs from its log; empty if nothing.

        `kept` are what verdicts answered as `logged`: without them a log that was cut, its end included, or removed as
        a whole looks like an earlier one. `ApprovalDesk.verify` takes them from the conversations.
        """
        ...
