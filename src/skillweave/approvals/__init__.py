"""Questions to people at checkpoints: what is asked, what they said, and a log that shows any change to it (spec 8)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.approvals.book import ApprovalBook
    from skillweave.approvals.case import (
        AlreadyDecided,
        ApprovalCase,
        ApprovalNotFound,
        ApprovalReply,
        ApprovalRequest,
        ApprovalStatus,
    )
    from skillweave.approvals.key import read_key, read_or_make_key
    from skillweave.approvals.log import ApprovalLogBroken, LogRow

__all__ = [
    "AlreadyDecided",
    "ApprovalBook",
    "ApprovalCase",
    "ApprovalLogBroken",
    "ApprovalNotFound",
    "ApprovalReply",
    "ApprovalRequest",
    "ApprovalStatus",
    "LogRow",
    "read_key",
    "read_or_make_key",
]

__getattr__ = door(
    __name__,
    """
book: ApprovalBook
case: AlreadyDecided ApprovalCase ApprovalNotFound ApprovalReply ApprovalRequest ApprovalStatus
key: read_key read_or_make_key
log: ApprovalLogBroken LogRow
""",
)


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
