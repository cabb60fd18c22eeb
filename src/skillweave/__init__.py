"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

from importlib import import_module
from typing import TYPE_CHECKING

from skillweave._version import __version__

if TYPE_CHECKING:
    from skillweave.compose.composition import Composition, Mode
    from skillweave.compose.elsewhere import ToolOwners, ToolsElsewhere
    from skillweave.compose.force import Enforce
    from skillweave.compose.policy import ToolPolicy
    from skillweave.compose.spawn_plan import Parent, SpawnPlan, SpawnRejected
    from skillweave.compose.spawn_request import SpawnRequest
    from skillweave.compose.verdict import Refusal, Ruling, Verdict
    from skillweave.contracts import OutputMismatch, check_against, check_output, prepare_schema, require_output
    from skillweave.conversation import Message, Part, Placement, Read, Role, ToolResult, Turn
    from skillweave.decisions import Decision, Evidence, Outcome
    from skillweave.diagnostics import Diagnostic, Location, Severity
    from skillweave.disclose.budget import Budget
    from skillweave.disclose.rung import Rung
    from skillweave.disclose.skill_tools import SkillTools
    from skillweave.errors import (
        ApprovalNeeded,
        ArtifactNotFound,
        CannotWatch,
        CheckpointNotFound,
        Contended,
        DuplicateSkill,
        InvalidData,
        InvalidGraph,
        InvalidSkill,
        InvalidSpawn,
        InvalidTurn,
        InvalidVerdict,
        MissingExtra,
        SkillNotFound,
        SkillweaveError,
        SourceUnavailable,
        StoreUnavailable,
        UnknownMatcher,
    )
    from skillweave.events import Callback, Cause, Event, EventRefused, EventType, Observer, Payload
    from skillweave.factory import open_weaver as open  # noqa: A004 - read as `skillweave.open`
    from skillweave.formats.definition import from_definition, to_definition
    from skillweave.formats.skill_md import Strictness
    from skillweave.formats.tiers import to_tiers
    from skillweave.formats.versions import Order
    from skillweave.injection import (
        Block,
        CacheReport,
        Drop,
        Fallback,
        FallbackKind,
        Injection,
        PendingCheckpoint,
        TokenReport,
    )
    from skillweave.knowledge.context import ContextSource, EntityContext, Section
    from skillweave.limits import ToolLimits
    from skillweave.registry import Artifact, Changes, Loaded, LoadedVersion, Precedence, Registry, Snapshot, Source
    from skillweave.relations.complete import Because, Completion, complete_skills
    from skillweave.relations.task import TaskSelection
    from skillweave.relations.validate import ValidationError, ValidationResult, validate_skills
    from skillweave.select.candidates import Candidate, Rejected, Selection
    from skillweave.settings import CatalogMode, FileAccess, Settings
    from skillweave.skill import (
        ArtifactRef,
        Checkpoint,
        Origin,
        OutputContract,
        Relation,
        RelationKind,
        RuleList,
        Skill,
        SkillText,
        Status,
        ToolRules,
        Triggers,
    )
    from skillweave.sources.named import Progress, SkillSource
    from skillweave.state.port import Logged, Store
    from skillweave.state.state import (
        Approval,
        ApprovalVerdict,
        Delivery,
        Engaged,
        Fragment,
        Lifecycle,
        Record,
        State,
        Superseded,
    )
    from skillweave.stores.memory import MemoryStore
    from skillweave.stores.sqlite import SqliteStore
    from skillweave.task import RiskLevel, Task, TaskRule, When
    from skillweave.text.embedder import Embedder
    from skillweave.tokens.counter import TokenCounter
    from skillweave.tokens.vocabulary import Tiktoken
    from skillweave.weaver import Judgement, Left, OnStoreFailure, Weaver
    from skillweave.weaver.blocking import SyncWeaver
    from skillweave.weaver.reading import CallFields, ToolAnswer
    from skillweave.weaver.tool_table import ToolSpec
    from skillweave.weaver.turns import TurnFields

_HOMES = """
compose.composition: Composition Mode
compose.elsewhere: ToolOwners ToolsElsewhere
compose.force: Enforce
compose.policy: ToolPolicy
compose.spawn_plan: Parent SpawnPlan SpawnRejected
compose.spawn_request: SpawnRequest
compose.verdict: Refusal Ruling Verdict
contracts: OutputMismatch check_against check_output prepare_schema require_output
conversation: Message Part Placement Read Role ToolResult Turn
decisions: Decision Evidence Outcome
diagnostics: Diagnostic Location Severity
disclose.budget: Budget
disclose.rung: Rung
disclose.skill_tools: SkillTools
errors: ApprovalNeeded ArtifactNotFound CannotWatch CheckpointNotFound Contended DuplicateSkill InvalidData
    InvalidGraph InvalidSkill InvalidSpawn InvalidTurn InvalidVerdict MissingExtra SkillNotFound SkillweaveError
    SourceUnavailable StoreUnavailable UnknownMatcher
events: Callback Cause Event EventRefused EventType Observer Payload
formats.definition: from_definition to_definition
formats.skill_md: Strictness
formats.tiers: to_tiers
formats.versions: Order
injection: Block CacheReport Drop Fallback FallbackKind Injection PendingCheckpoint TokenReport
knowledge.context: ContextSource EntityContext Section
limits: ToolLimits
registry: Artifact Changes Loaded LoadedVersion Precedence Registry Snapshot Source
relations.complete: Because Completion complete_skills
relations.task: TaskSelection
relations.validate: ValidationError ValidationResult validate_skills
select.candidates: Candidate Rejected Selection
settings: CatalogMode FileAccess Settings
skill: ArtifactRef Checkpoint Origin OutputContract Relation RelationKind RuleList Skill SkillText Status ToolRules
    Triggers
sources.named: Progress SkillSource
state.port: Logged Store
state.state: Approval ApprovalVerdict Delivery Engaged Fragment Lifecycle Record State Superseded
stores.memory: MemoryStore
stores.sqlite: SqliteStore
task: RiskLevel Task TaskRule When
text.embedder: Embedder
tokens.counter: TokenCounter
tokens.vocabulary: Tiktoken
weaver: Judgement Left OnStoreFailure Weaver
weaver.blocking: SyncWeaver
weaver.reading: CallFields ToolAnswer
weaver.tool_table: ToolSpec
weaver.turns: TurnFields
"""
"""The exports by the module below skillweave that has them; a line that is indented goes on with the last."""

__all__ = [
    "Approval",
    "ApprovalNeeded",
    "ApprovalVerdict",
    "Artifact",
    "ArtifactNotFound",
    "ArtifactRef",
    "Because",
    "Block",
    "Budget",
    "CacheReport",
    "CallFields",
    "Callback",
    "Candidate",
    "CannotWatch",
    "CatalogMode",
    "Cause",
    "Changes",
    "Checkpoint",
    "CheckpointNotFound",
    "Completion",
    "Composition",
    "Contended",
    "ContextSource",
    "Decision",
    "Delivery",
    "Diagnostic",
    "Drop",
    "DuplicateSkill",
    "Embedder",
    "Enforce",
    "Engaged",
    "EntityContext",
    "Event",
    "EventRefused",
    "EventType",
    "Evidence",
    "Fallback",
    "FallbackKind",
    "FileAccess",
    "Fragment",
    "Injection",
    "InvalidData",
    "InvalidGraph",
    "InvalidSkill",
    "InvalidSpawn",
    "InvalidTurn",
    "InvalidVerdict",
    "Judgement",
    "Left",
    "Lifecycle",
    "Loaded",
    "LoadedVersion",
    "Location",
    "Logged",
    "MemoryStore",
    "Message",
    "MissingExtra",
    "Mode",
    "Observer",
    "OnStoreFailure",
    "Order",
    "Origin",
    "Outcome",
    "OutputContract",
    "OutputMismatch",
    "Parent",
    "Part",
    "Payload",
    "PendingCheckpoint",
    "Placement",
    "Precedence",
    "Progress",
    "Read",
    "Record",
    "Refusal",
    "Registry",
    "Rejected",
    "Relation",
    "RelationKind",
    "RiskLevel",
    "Role",
    "RuleList",
    "Ruling",
    "Rung",
    "Section",
    "Selection",
    "Settings",
    "Severity",
    "Skill",
    "SkillNotFound",
    "SkillSource",
    "SkillText",
    "SkillTools",
    "SkillweaveError",
    "Snapshot",
    "Source",
    "SourceUnavailable",
    "SpawnPlan",
    "SpawnRejected",
    "SpawnRequest",
    "SqliteStore",
    "State",
    "Status",
    "Store",
    "StoreUnavailable",
    "Strictness",
    "Superseded",
    "SyncWeaver",
    "Task",
    "TaskRule",
    "TaskSelection",
    "Tiktoken",
    "TokenCounter",
    "TokenReport",
    "ToolAnswer",
    "ToolLimits",
    "ToolOwners",
    "ToolPolicy",
    "ToolResult",
    "ToolRules",
    "ToolSpec",
    "ToolsElsewhere",
    "Triggers",
    "Turn",
    "TurnFields",
    "UnknownMatcher",
    "ValidationError",
    "ValidationResult",
    "Verdict",
    "Weaver",
    "When",
    "__version__",
    "check_against",
    "check_output",
    "complete_skills",
    "from_definition",
    "open",
    "prepare_schema",
    "require_output",
    "to_definition",
    "to_tiers",
    "validate_skills",
]

_MODULES = {
    name: f"skillweave.{module}"
    for module, _, names in (line.partition(":") for line in _HOMES.replace("\n    ", " ").splitlines())
    for name in names.split()
}


def __getattr__(name: str) -> object:
    """Load an export at its first use, so that importing skillweave costs nothing."""
    if name == "open":
        value: object = import_module("skillweave.factory").open_weaver
    elif name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    else:
        raise AttributeError(f"module 'skillweave' has no attribute {name!r}; it exports {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
