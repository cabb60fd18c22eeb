"""Skills and their parts: values, the formats they are written in, relations, and rules of tasks."""

from skillweave.checks.check import check_skills
from skillweave.formats.fields import SkillRead, dotted
from skillweave.formats.host_keys import Invocation, invocation_of, when_to_use_of
from skillweave.formats.identity import Order, digest_of
from skillweave.formats.native import EXTENSION, to_dict
from skillweave.formats.spelling import (
    ARTIFACT_REFS,
    DEFINITION,
    MANIFEST,
    from_definition,
    read_any,
    to_definition,
    to_tiers,
)
from skillweave.formats.strictness import Strictness
from skillweave.relations.task import TaskSelection
from skillweave.relations.validate import (
    Because,
    Completion,
    ValidationError,
    ValidationResult,
    complete_skills,
    validate_skills,
)
from skillweave.skill import (
    ArtifactRef,
    CheckpointScope,
    Origin,
    OutputContract,
    Relation,
    RelationKind,
    RuleList,
    SkillText,
    is_skill_id,
    title_of,
)
from skillweave.task import RiskLevel, Task, TaskRule, When

__all__ = [
    "ARTIFACT_REFS",
    "DEFINITION",
    "EXTENSION",
    "MANIFEST",
    "ArtifactRef",
    "Because",
    "CheckpointScope",
    "Completion",
    "Invocation",
    "Order",
    "Origin",
    "OutputContract",
    "Relation",
    "RelationKind",
    "RiskLevel",
    "RuleList",
    "SkillRead",
    "SkillText",
    "Strictness",
    "Task",
    "TaskRule",
    "TaskSelection",
    "ValidationError",
    "ValidationResult",
    "When",
    "check_skills",
    "complete_skills",
    "digest_of",
    "dotted",
    "from_definition",
    "invocation_of",
    "is_skill_id",
    "read_any",
    "title_of",
    "to_definition",
    "to_dict",
    "to_tiers",
    "validate_skills",
    "when_to_use_of",
]
