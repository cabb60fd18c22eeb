"""What a turn takes and gives, beyond what the root exports."""

from skillweave.conversation import LONGEST_ID, MessageLike, Read, TurnFields, require_id
from skillweave.disclose.block import Rung
from skillweave.disclose.render import SHORTLIST
from skillweave.injection import CacheReport, CurrentPolicy, Drop, Fallback, PendingCheckpoint, TokenReport
from skillweave.settings import FileAccess
from skillweave.weaver.approvals import Judgement
from skillweave.weaver.ledger import Left

__all__ = [
    "LONGEST_ID",
    "SHORTLIST",
    "CacheReport",
    "CurrentPolicy",
    "Drop",
    "Fallback",
    "FileAccess",
    "Judgement",
    "Left",
    "MessageLike",
    "PendingCheckpoint",
    "Read",
    "Rung",
    "TokenReport",
    "TurnFields",
    "require_id",
]
