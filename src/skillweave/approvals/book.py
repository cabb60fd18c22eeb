"""The port of the book of approvals: what was asked and answered, and the log of each step."""

from collections.abc import Collection, Sequence
from typing import Protocol

from skillweave.approvals.case import ApprovalCase, ApprovalRequest, ApprovalStatus, LogRow
from skillweave.closing import ClosableOnExit
from skillweave.state.state import State
from skillweave.weaver.approvals import CheckpointVerdict


class ApprovalBook(ClosableOnExit, Protocol):
    """Keeps approvals and their log; `tests/contracts_of_ports/approvals.py` is the contract as tests.

    Each step writes its row of the log and the approval in one transaction; what it makes of an approval is in
    `skillweave.approvals.steps`. All methods raise StoreUnavailable when what is asked does not answer, steps
    ApprovalLogBroken, which is one, where the log does not end as it was sealed, and those with an `approval_id`
    ApprovalNotFound, also for another tenant's.
    """

    async def open(
        self, approval_id: str, request: ApprovalRequest, digest: str, state: State, *, tenant: str = ""
    ) -> ApprovalCase:
        """Keep a new question. One with that id and the same request is answered as it stands; nothing is written.

        Raises InvalidValue where the id belongs to another request, and for what can be no id.
        """
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
        """At most `limit` approvals after the one with the id `after`, the oldest first, by when they were asked.

        Those asked at one time are in the order of their ids. Raises ApprovalNotFound for an `after` that is not known,
        and InvalidValue for a limit that is not from 1 to 1000.
        """
        ...

    async def decide(
        self, approval_id: str, verdict: CheckpointVerdict, *, key: str = "", tenant: str = ""
    ) -> ApprovalCase:
        """Keep what a person said, not applied yet, and the API key it came with; the same again changes nothing.

        Raises AlreadyDecided for another one, and InvalidVerdict for one that is not on what was asked and shown.
        """
        ...

    async def applied(self, approval_id: str, *, tenant: str = "") -> ApprovalCase:
        """Note that the conversation has the verdict; again changes nothing.

        Raises InvalidValue where there is none.
        """
        ...

    async def refused(self, approval_id: str, why: str, *, tenant: str = "") -> ApprovalCase:
        """Note that the verdict could not be kept in the conversation, and ask anew: it is pending again.

        One that is pending, or applied, stays as it is.
        """
        ...

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """The decided approvals of a conversation that are not applied, in the order in which they were decided."""
        ...

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        """The conversations of the tenant for which `waiting` answers something; usually none."""
        ...

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """Hand every pending approval whose time is over to the next reviewer; those whose time was over.

        Each has the same time again with its `escalate_to`. One without, or that is there already, is only noted, once:
        its `due_at` is None then.
        """
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
