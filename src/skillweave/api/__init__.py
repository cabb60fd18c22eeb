"""What travels between the service and its clients, where no other value of skillweave already says it."""

from skillweave.api.composition import (
    AuthorizeRequest,
    ComposeRequest,
    SpawnQuestion,
    ToolCallRequest,
    ValidateRequest,
)
from skillweave.api.entities import EntitiesPut, Neighbours
from skillweave.api.events import GAP, EventRequest, SentEvent
from skillweave.api.graphs import CURRENT, GraphListed, GraphPage, SimulationRequest
from skillweave.api.pages import MOST_LISTED, ApprovalPage, ConversationPage, LogPage, page
from skillweave.api.problem import MEDIA_TYPE, TYPES, Problem, code_of
from skillweave.api.skills import (
    AgentPage,
    ArtifactContent,
    ArtifactPage,
    CheckReport,
    CheckRequest,
    RollbackRequest,
    SkillDefinition,
    SkillListed,
    SkillPage,
    SkillPublished,
    SkillVersion,
    VersionPage,
)
from skillweave.api.turn_request import DeliveryMode, TurnRequest

PREFIX = "/api/v1"
"""What the path of every operation begins with."""

__all__ = [
    "CURRENT",
    "GAP",
    "MEDIA_TYPE",
    "MOST_LISTED",
    "PREFIX",
    "TYPES",
    "AgentPage",
    "ApprovalPage",
    "ArtifactContent",
    "ArtifactPage",
    "AuthorizeRequest",
    "CheckReport",
    "CheckRequest",
    "ComposeRequest",
    "ConversationPage",
    "DeliveryMode",
    "EntitiesPut",
    "EventRequest",
    "GraphListed",
    "GraphPage",
    "LogPage",
    "Neighbours",
    "Problem",
    "RollbackRequest",
    "SentEvent",
    "SimulationRequest",
    "SkillDefinition",
    "SkillListed",
    "SkillPage",
    "SkillPublished",
    "SkillVersion",
    "SpawnQuestion",
    "ToolCallRequest",
    "TurnRequest",
    "ValidateRequest",
    "VersionPage",
    "code_of",
    "page",
]
