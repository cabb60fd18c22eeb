"""What an agent may call: permissions, composition, sub-agents, and what skills promise to return."""

from skillweave.adapters.supported import Unguarded
from skillweave.compose.composition import Composition, Mode, OnlySkillTools
from skillweave.compose.policy import Refusal, ToolOwners, ToolScope, denied_unread
from skillweave.compose.spawn import Parent, SpawnPlan, SpawnRejected
from skillweave.contracts.check import check_against
from skillweave.contracts.output import OutputMismatch, check_output, require_output
from skillweave.contracts.prepare import PreparedSchema, prepare_schema
from skillweave.disclose.block import SkillTools
from skillweave.limits import ToolLimits
from skillweave.weaver.tools import TOOLS, CallFields, ToolSpec

__all__ = [
    "TOOLS",
    "CallFields",
    "Composition",
    "Mode",
    "OnlySkillTools",
    "OutputMismatch",
    "Parent",
    "PreparedSchema",
    "Refusal",
    "SkillTools",
    "SpawnPlan",
    "SpawnRejected",
    "ToolLimits",
    "ToolOwners",
    "ToolScope",
    "ToolSpec",
    "Unguarded",
    "check_against",
    "check_output",
    "denied_unread",
    "prepare_schema",
    "require_output",
]
