"""Small skills with rules, and snapshots of them, for the tests of relations and composition."""

from collections.abc import Iterable
from types import MappingProxyType

from skillweave import Skill, Status, ToolRules
from skillweave.registry import Snapshot
from skillweave.selection import Candidate, Selection
from skillweave.skills import Relation, RelationKind, RuleList, SkillText


def requires(skill: str, reason: str | None = None) -> Relation:
    return Relation(RelationKind.REQUIRES, skill, reason)


def forbids(skill: str, reason: str | None = None) -> Relation:
    return Relation(RelationKind.FORBIDS, skill, reason)


def incompatible(skill: str, reason: str | None = None) -> Relation:
    return Relation(RelationKind.INCOMPATIBLE, skill, reason, RuleList.COMPATIBILITY)


def skill(
    skill_id: str,
    *rules: Relation,
    tools: ToolRules | None = None,
    steps: tuple[str, ...] = (),
    status: Status = Status.ACTIVE,
    digest: str = "",
) -> Skill:
    return Skill(
        skill_id,
        skill_id.title(),
        f"Does {skill_id}",
        relations=rules,
        tools=tools,
        text=SkillText(steps=steps),
        status=status,
        digest=digest,
    )


def snapshot(*skills: Skill) -> Snapshot:
    return Snapshot(MappingProxyType({member.id: member for member in skills}))


def chosen(*ids: str) -> Selection:
    return Selection(tuple(Candidate(skill_id, 0.8, "triggers") for skill_id in ids))


def allowing(*tools: str, forbidden: Iterable[str] = (), preapproved: Iterable[str] = ()) -> ToolRules:
    return ToolRules(tools, tuple(forbidden), tuple(preapproved))


# The two skills of seed 002's example data.
SPECIFICATION_ENGINE = skill(
    "specification-engine",
    requires("opencode-implementer", "Spec must be followed by implementation"),
    tools=allowing("specKit"),
    steps=("analyze-task", "generate-spec", "validate-spec"),
)
OPENCODE_IMPLEMENTER = skill(
    "opencode-implementer",
    requires("specification-engine", "Implementation requires a spec"),
    tools=allowing("opencode-executor", forbidden=("write", "edit")),
    steps=("read-spec", "implement", "verify"),
)
CODING = snapshot(SPECIFICATION_ENGINE, OPENCODE_IMPLEMENTER)
