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
    from skillweave.approvals.desk import ApprovalDesk
    from skillweave.approvals.documents import case_from_json, case_to_json, sha256_in, sha256_of, step_to_json
    from skillweave.approvals.key import read_key, read_or_make_key
    from skillweave.approvals.log import ApprovalLogBroken, LogCheck, LogHead, LogRow, first_head, is_sealed, next_row
    from skillweave.approvals.steps import applied, asked, asked_again, decided, escalated, refused

__all__ = [
    "AlreadyDecided",
    "ApprovalBook",
    "ApprovalCase",
    "ApprovalDesk",
    "ApprovalLogBroken",
    "ApprovalNotFound",
    "ApprovalReply",
    "ApprovalRequest",
    "ApprovalStatus",
    "LogCheck",
    "LogHead",
    "LogRow",
    "applied",
    "asked",
    "asked_again",
    "case_from_json",
    "case_to_json",
    "decided",
    "escalated",
    "first_head",
    "is_sealed",
    "next_row",
    "read_key",
    "read_or_make_key",
    "refused",
    "sha256_in",
    "sha256_of",
    "step_to_json",
]

__getattr__ = door(
    __name__,
    """
book: ApprovalBook
case: AlreadyDecided ApprovalCase ApprovalNotFound ApprovalReply ApprovalRequest ApprovalStatus
desk: ApprovalDesk
documents: case_from_json case_to_json sha256_in sha256_of step_to_json
key: read_key read_or_make_key
log: ApprovalLogBroken LogCheck LogHead LogRow first_head is_sealed next_row
steps: applied asked asked_again decided escalated refused
""",
)


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
