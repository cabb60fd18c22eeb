"""The Weaver, its views, and what their verbs return; `skillweave.open` makes one."""

from skillweave.weaver.approvals import ApprovalsView, CheckpointVerdict, Judgement, VerdictFields
from skillweave.weaver.composition import CompositionView
from skillweave.weaver.engine import OnStoreFailure
from skillweave.weaver.entities import EntitiesView
from skillweave.weaver.ledger import LedgerView, Left
from skillweave.weaver.skills import SkillsView
from skillweave.weaver.tools import ToolsView
from skillweave.weaver.weaver import SyncWeaver, Weaver, WeaverOptions

__all__ = [
    "ApprovalsView",
    "CheckpointVerdict",
    "CompositionView",
    "EntitiesView",
    "Judgement",
    "LedgerView",
    "Left",
    "OnStoreFailure",
    "SkillsView",
    "SyncWeaver",
    "ToolsView",
    "VerdictFields",
    "Weaver",
    "WeaverOptions",
]
