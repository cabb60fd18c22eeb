"""A skill being put together from what a spelling says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.formats import codes
from skillweave.formats.arguments import report_places
from skillweave.formats.fields import Fields
from skillweave.formats.findings import Findings, SkillRead
from skillweave.formats.host_keys import report_host_keys
from skillweave.formats.ids import MAX_ID, default_name, id_of
from skillweave.skill import (
    EMPTY,
    ArtifactRef,
    Checkpoint,
    FrozenJson,
    Json,
    Origin,
    Relation,
    Skill,
    SkillText,
    Status,
    ToolRules,
    Triggers,
    freeze_mapping,
    is_skill_id,
)

_NO_TRIGGERS = Triggers()
_NO_TEXT = SkillText()


@dataclass(slots=True)
class Draft:
    """The fields of a Skill that are known so far."""

    findings: Findings
    id: str | None = None
    spelling: str | None = None
    name: str | None = None
    description: str | None = None
    version: str | None = None
    status: Status = Status.ACTIVE
    triggers: Triggers = _NO_TRIGGERS
    domain_tags: tuple[str, ...] = ()
    text: SkillText = _NO_TEXT
    tools: ToolRules | None = None
    relations: tuple[Relation, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    emits: tuple[str, ...] = ()
    artifacts: tuple[ArtifactRef, ...] = ()
    license: str | None = None
    compatibility: str | None = None
    metadata: dict[str, Json] = field(default_factory=dict)
    extra: dict[str, Json] = field(default_factory=dict)

    def finish(self, *, source: str, digest: str) -> SkillRead:
        """The skill and all findings; None for the skill where its id or description is missing or refused."""
        if self.id is None or self.description is None or not self.description.strip():
            return self.findings.outcome(None)
        report_host_keys(self.extra, self.findings)
        report_places(self.text, self.findings)
        skill = Skill(
            id=self.id,
            name=self.name or default_name(self.id, self.spelling),
            description=self.description,
            version=self.version,
            status=self.status,
            triggers=self.triggers,
            domain_tags=self.domain_tags,
            text=self.text,
            tools=self.tools,
            relations=self.relations,
            checkpoints=self.checkpoints,
            emits=self.emits,
            artifacts=self.artifacts,
            license=self.license,
            compatibility=self.compatibility,
            metadata=_frozen(self.metadata),
            extra=_frozen(self.extra),
            spelling=self.spelling,
            origin=Origin(source, self.findings.path),
            digest=digest,
        )
        return self.findings.outcome(skill)


def stated_name(fields: Fields, key: str) -> str | None:
    """The name at that key, None when it is missing or empty."""
    name = fields.text(key)
    return name if name is not None and name.strip() else None


def call(draft: Draft, name: str, fields: Fields, key: str, given_id: str | None = None) -> None:
    """Makes the name the draft's id, repaired where it is none (spec 1.1); an id that is given apart from it counts.

    A name whose id would be too long is reported, and the draft stays without an id.
    """
    made = given_id if given_id is not None and is_skill_id(given_id) else id_of(name)
    if len(made) > MAX_ID:
        message = f"makes an id of {len(made)} characters; an id has up to {MAX_ID}"
        fields.report(codes.ID_TOO_LONG, key, message, "shorten it")
        return
    draft.id = made
    if made != name:
        draft.spelling = name
        if given_id is None:
            message = f"is {name[:MAX_ID]!r}, which is no id; the skill's id is {made!r}"
            fields.report(codes.ID_REPAIRED, key, message, "use only letters, digits, `-` and `_`")


def report_missing(fields: Fields, key: str) -> None:
    """Reports that a name or id without which there is no skill is missing or empty."""
    fields.report(codes.FIELD_MISSING, key, "is missing or empty", f"add `{key}:` with a text")


def take_description(draft: Draft, fields: Fields, key: str = "description") -> None:
    """The description at that key, as it stands; reported when it is missing or empty."""
    draft.description = fields.text(key)
    if draft.description is None or not draft.description.strip():
        fields.report(codes.FIELD_MISSING, key, "is missing or empty", "say what the skill does and when to use it")


def _frozen(data: dict[str, Json]) -> Mapping[str, FrozenJson]:
    return freeze_mapping(data) if data else EMPTY
