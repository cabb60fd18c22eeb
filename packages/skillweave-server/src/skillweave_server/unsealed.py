"""The book of approvals of a service that has no key to seal their log with: it keeps none, and says why."""

from typing import NoReturn

from skillweave import StoreUnavailable
from skillweave.approvals import ApprovalCase
from skillweave.values import ClosedOnExit

NO_SEAL = (
    "approvals are not kept here, as their log has no key to be sealed with; start every replica with the same "
    "--approval-key-file, made once by `(umask 077; openssl rand -hex 32 > approvals.key)`"
)
"""What is missing, for people."""


class DisabledApprovals(ClosedOnExit):
    """Nothing waits in it, and whatever else it is asked raises StoreUnavailable."""

    async def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise StoreUnavailable(NO_SEAL)

    open = get = list = decide = applied = refused = log = verify = _refuse

    async def waiting(self, conversation: str, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """Returns nothing."""
        return ()

    async def conversations_waiting(self, *, tenant: str = "") -> frozenset[str]:
        """Returns nothing."""
        return frozenset()

    async def escalate(self, *, tenant: str = "") -> tuple[ApprovalCase, ...]:
        """Returns nothing."""
        return ()
