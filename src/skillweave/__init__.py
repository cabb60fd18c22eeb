"""skillweave: the right skill in an agent's context at the right moment, once, inside a token budget, explained."""

from importlib import import_module
from typing import TYPE_CHECKING

from skillweave._version import __version__

if TYPE_CHECKING:
    from skillweave.adapters.supported import Unguarded
    from skillweave.closing import ClosedOnExit
    from skillweave.compose.composition import Composition, Mode, OnlySkillTools
    from skillweave.compose.policy import Refusal, Ruling, ToolOwners, ToolPolicy, ToolScope, Verdict
    from skillweave.compose.spawn import Parent, SpawnPlan, SpawnRejected, SpawnRequest
    from skillweave.contracts import (
        OutputMismatch,
        PreparedSchema,
        check_against,
        check_output,
        prepare_schema,
        require_output,
    )
    from skillweave.conversation import (
        Message,
        MessageLike,
        Part,
        Placement,
        Read,
        Role,
        ToolCall,
        ToolResult,
        Turn,
        TurnFields,
    )
    from skillweave.decisions import Decision, Evidence, Outcome
    from skillweave.diagnostics import Diagnostic, Location, Severity
    from skillweave.disclose.block import Rung, SkillTools
    from skillweave.disclose.fit import Budget
    from skillweave.errors import (
        AgentNotFound,
        ApprovalNeeded,
        ArtifactNotFound,
        CannotWatch,
        CheckpointNotFound,
        Contended,
        DuplicateSkill,
        InvalidContext,
        InvalidData,
        InvalidGraph,
        InvalidSkill,
        InvalidSpawn,
        InvalidTurn,
        InvalidValue,
        InvalidVerdict,
        MissingExtra,
        SkillNotFound,
        SkillweaveError,
        SourceUnavailable,
        StoreUnavailable,
        UnguardedAgent,
        UnknownMatcher,
        UnsupportedVersion,
        VersionNotFound,
    )
    from skillweave.events import Callback, Cause, Event, EventRefused, EventType, Observer, Payload
    from skillweave.factory import open_weaver as open  # noqa: A004 - read as `skillweave.open`
    from skillweave.formats import from_definition, to_definition, to_tiers
    from skillweave.formats.identity import Order
    from skillweave.formats.strictness import Strictness
    from skillweave.injection import (
        Block,
        CacheReport,
        CurrentPolicy,
        Drop,
        Fallback,
        Injection,
        PendingCheckpoint,
        TokenReport,
    )
    from skillweave.knowledge.assemble import GraphContext, assemble
    from skillweave.knowledge.context import ContextSource, EntityContext, FindsEntities, Section
    from skillweave.knowledge.entity import (
        AmbiguousEntity,
        Direction,
        Edge,
        Entity,
        EntityGraph,
        EntityNotFound,
        Nearby,
        NearbyEntities,
        Neighbour,
        Point,
        UnknownEnd,
        WritableGraph,
    )
    from skillweave.knowledge.memory import MemoryGraph
    from skillweave.knowledge.rules import (
        ContextRules,
        Hop,
        IdPattern,
        SectionPart,
        SectionRule,
        context_rules_in,
    )
    from skillweave.knowledge.shown import ContextShown, LineShown, SectionShown
    from skillweave.limits import ToolLimits
    from skillweave.registry import (
        Artifact,
        Changes,
        Loaded,
        LoadedVersion,
        Precedence,
        Registry,
        Snapshot,
        Source,
        WrappedSource,
    )
    from skillweave.registry.agents import Agent
    from skillweave.registry.writing import Change, Entry, StoredVersion, WritableSource, Written
    from skillweave.relations.task import TaskSelection
    from skillweave.relations.validate import (
        Because,
        Completion,
        ValidationError,
        ValidationResult,
        complete_skills,
        validate_skills,
    )
    from skillweave.select.candidates import Candidate, Rejected, Selection
    from skillweave.select.matchers import Hindered, MatchContext, Matcher, PreparingMatcher, Thresholds
    from skillweave.select.own_fit import OwnFit
    from skillweave.select.reranker import Choice, RerankedMatcher, Reranker
    from skillweave.servers import ServerFacts
    from skillweave.settings import CatalogMode, FileAccess, Settings
    from skillweave.skill import (
        ArtifactRef,
        Checkpoint,
        CheckpointScope,
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
    from skillweave.sources.entity_data import PropertyRoles
    from skillweave.sources.entity_files import EntityFiles
    from skillweave.sources.memory import MemorySource
    from skillweave.sources.named import Progress, SkillSource
    from skillweave.state.port import DecisionLog, Logged, Store, TurnDecisions
    from skillweave.state.state import (
        Approval,
        ApprovalVerdict,
        Delivery,
        Engaged,
        FallbackKind,
        Fragment,
        Lifecycle,
        Record,
        State,
        Superseded,
        Told,
        Writes,
    )
    from skillweave.stores.event_stream import MemoryEventStream
    from skillweave.stores.memory import MemoryStore
    from skillweave.stores.split import SplitStore
    from skillweave.stores.sqlite import SqliteStore
    from skillweave.task import RiskLevel, Task, TaskRule, When
    from skillweave.text.embedding import Embedder
    from skillweave.tokens.counter import Tiktoken, TokenCounter
    from skillweave.weaver import CheckpointVerdict, Judgement, Left, OnStoreFailure, SyncWeaver, Weaver
    from skillweave.weaver.tools import CallFields, ToolAnswer, ToolSpec

_HOMES = """
adapters.supported: Unguarded
closing: ClosedOnExit
compose.composition: Composition OnlySkillTools Mode
compose.policy: Refusal Ruling ToolOwners ToolPolicy ToolScope Verdict
compose.spawn: Parent SpawnPlan SpawnRejected SpawnRequest
contracts: OutputMismatch PreparedSchema check_against check_output prepare_schema require_output
conversation: Message MessageLike Part Placement Read Role ToolCall ToolResult Turn TurnFields
decisions: Decision Evidence Outcome
diagnostics: Diagnostic Location Severity
disclose.block: Rung SkillTools
disclose.fit: Budget
errors: AgentNotFound ApprovalNeeded ArtifactNotFound CannotWatch CheckpointNotFound Contended DuplicateSkill
    InvalidContext InvalidData InvalidGraph InvalidSkill InvalidSpawn InvalidTurn InvalidValue InvalidVerdict
    MissingExtra SkillNotFound SkillweaveError SourceUnavailable StoreUnavailable UnguardedAgent UnknownMatcher
    UnsupportedVersion VersionNotFound
events: Callback Cause Event EventRefused EventType Observer Payload
formats: from_definition to_definition to_tiers
formats.identity: Order
formats.skill_md: Strictness
injection: Block CacheReport CurrentPolicy Drop Fallback Injection PendingCheckpoint TokenReport
knowledge.assemble: GraphContext assemble
knowledge.context: ContextSource EntityContext FindsEntities Section
knowledge.entity: AmbiguousEntity Direction Edge Entity EntityGraph EntityNotFound Nearby NearbyEntities Neighbour Point
    UnknownEnd
    WritableGraph
knowledge.memory: MemoryGraph
knowledge.shown: ContextShown LineShown SectionShown
knowledge.rules: ContextRules Hop IdPattern SectionPart SectionRule context_rules_in
limits: ToolLimits
registry: Artifact Changes Loaded LoadedVersion Precedence Registry Snapshot Source WrappedSource
registry.agents: Agent
registry.writing: Change Entry StoredVersion WritableSource Written
relations.task: TaskSelection
relations.validate: Because Completion ValidationError ValidationResult complete_skills validate_skills
select.candidates: Candidate Rejected Selection
select.matchers: Hindered MatchContext Matcher PreparingMatcher Thresholds
select.own_fit: OwnFit
select.reranker: Choice RerankedMatcher Reranker
servers: ServerFacts
settings: CatalogMode FileAccess Settings
skill: ArtifactRef Checkpoint CheckpointScope Origin OutputContract Relation RelationKind RuleList Skill SkillText
    Status ToolRules Triggers
sources.entity_data: PropertyRoles
sources.entity_files: EntityFiles
sources.memory: MemorySource
sources.named: Progress SkillSource
state.port: DecisionLog Logged Store TurnDecisions
state.state: Approval ApprovalVerdict Delivery Engaged FallbackKind Fragment Lifecycle Record State Superseded Told
    Writes
stores.event_stream: MemoryEventStream
stores.memory: MemoryStore
stores.split: SplitStore
stores.sqlite: SqliteStore
task: RiskLevel Task TaskRule When
text.embedding: Embedder
tokens.counter: Tiktoken TokenCounter
weaver: CheckpointVerdict Judgement Left OnStoreFailure SyncWeaver Weaver
weaver.tools: CallFields ToolAnswer ToolSpec
"""
"""The exports by the module below skillweave that has them; a line that is indented goes on with the last."""

__all__ = [
    "Agent",
    "AgentNotFound",
    "AmbiguousEntity",
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
    "Change",
    "Changes",
    "Checkpoint",
    "CheckpointNotFound",
    "CheckpointScope",
    "CheckpointVerdict",
    "Choice",
    "ClosedOnExit",
    "Completion",
    "Composition",
    "Contended",
    "ContextRules",
    "ContextShown",
    "ContextSource",
    "CurrentPolicy",
    "Decision",
    "DecisionLog",
    "Delivery",
    "Diagnostic",
    "Direction",
    "Drop",
    "DuplicateSkill",
    "Edge",
    "Embedder",
    "Engaged",
    "Entity",
    "EntityContext",
    "EntityFiles",
    "EntityGraph",
    "EntityNotFound",
    "Entry",
    "Event",
    "EventRefused",
    "EventType",
    "Evidence",
    "Fallback",
    "FallbackKind",
    "FileAccess",
    "FindsEntities",
    "Fragment",
    "GraphContext",
    "Hindered",
    "Hop",
    "IdPattern",
    "Injection",
    "InvalidContext",
    "InvalidData",
    "InvalidGraph",
    "InvalidSkill",
    "InvalidSpawn",
    "InvalidTurn",
    "InvalidValue",
    "InvalidVerdict",
    "Judgement",
    "Left",
    "Lifecycle",
    "LineShown",
    "Loaded",
    "LoadedVersion",
    "Location",
    "Logged",
    "MatchContext",
    "Matcher",
    "MemoryEventStream",
    "MemoryGraph",
    "MemorySource",
    "MemoryStore",
    "Message",
    "MessageLike",
    "MissingExtra",
    "Mode",
    "Nearby",
    "NearbyEntities",
    "Neighbour",
    "Observer",
    "OnStoreFailure",
    "OnlySkillTools",
    "Order",
    "Origin",
    "Outcome",
    "OutputContract",
    "OutputMismatch",
    "OwnFit",
    "Parent",
    "Part",
    "Payload",
    "PendingCheckpoint",
    "Placement",
    "Point",
    "Precedence",
    "PreparedSchema",
    "PreparingMatcher",
    "Progress",
    "PropertyRoles",
    "Read",
    "Record",
    "Refusal",
    "Registry",
    "Rejected",
    "Relation",
    "RelationKind",
    "RerankedMatcher",
    "Reranker",
    "RiskLevel",
    "Role",
    "RuleList",
    "Ruling",
    "Rung",
    "Section",
    "SectionPart",
    "SectionRule",
    "SectionShown",
    "Selection",
    "ServerFacts",
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
    "SplitStore",
    "SqliteStore",
    "State",
    "Status",
    "Store",
    "StoreUnavailable",
    "StoredVersion",
    "Strictness",
    "Superseded",
    "SyncWeaver",
    "Task",
    "TaskRule",
    "TaskSelection",
    "Thresholds",
    "Tiktoken",
    "TokenCounter",
    "TokenReport",
    "Told",
    "ToolAnswer",
    "ToolCall",
    "ToolLimits",
    "ToolOwners",
    "ToolPolicy",
    "ToolResult",
    "ToolRules",
    "ToolScope",
    "ToolSpec",
    "Triggers",
    "Turn",
    "TurnDecisions",
    "TurnFields",
    "Unguarded",
    "UnguardedAgent",
    "UnknownEnd",
    "UnknownMatcher",
    "UnsupportedVersion",
    "ValidationError",
    "ValidationResult",
    "Verdict",
    "VersionNotFound",
    "Weaver",
    "When",
    "WrappedSource",
    "WritableGraph",
    "WritableSource",
    "Writes",
    "Written",
    "__version__",
    "assemble",
    "check_against",
    "check_output",
    "complete_skills",
    "context_rules_in",
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
        raise AttributeError(
            f"module 'skillweave' has no attribute {name!r}; it exports Budget, Injection, Registry, Settings, Skill, "
            f"State, Turn, Weaver, open and {len(__all__) - 9} more: see skillweave.__all__"
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
