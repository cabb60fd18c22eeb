"""Short ways to make skills for tests."""

from collections.abc import Sequence
from hashlib import sha256

from skillweave import Checkpoint, Skill, Status, ToolRules, Triggers
from skillweave.skill import title_of
from skillweave.skills import ArtifactRef, Relation, RelationKind, SkillText


def make_skill(
    skill_id: str,
    *,
    description: str = "",
    keywords: Sequence[str] = (),
    instructions: str | None = None,
    requires: Sequence[str] = (),
    excludes: Sequence[str] = (),
    status: Status = Status.ACTIVE,
    tools: ToolRules | None = None,
    checkpoints: Sequence[Checkpoint] = (),
    artifacts: Sequence[ArtifactRef] = (),
    domain_tags: Sequence[str] = (),
    text: SkillText | None = None,
) -> Skill:
    """A skill whose digest follows from everything that is given."""
    relations = (
        *(Relation(RelationKind.REQUIRES, other) for other in requires),
        *(Relation(RelationKind.INCOMPATIBLE, other) for other in excludes),
    )
    body = text or SkillText(instructions=instructions if instructions is not None else f"How to do {skill_id}.")
    fields = (skill_id, description, tuple(keywords), body, relations, tools, tuple(artifacts), tuple(checkpoints))
    return Skill(
        id=skill_id,
        name=title_of(skill_id),
        description=description or f"What {skill_id} is for.",
        status=status,
        triggers=Triggers(keywords=tuple(keywords)),
        domain_tags=tuple(domain_tags),
        text=body,
        tools=tools,
        relations=relations,
        checkpoints=tuple(checkpoints),
        artifacts=tuple(artifacts),
        digest=sha256(repr(fields).encode()).hexdigest(),
    )
