"""A skill being put together from what a spelling says."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from skillweave.formats import codes
from skillweave.formats.arguments import report_places
from skillweave.formats.fields import Fields, Findings, SkillRead, require_skill
from skillweave.formats.host_keys import report_host_keys
from skillweave.formats.identity import MAX_ID, default_name, digest_of, id_of
from skillweave.skill import (
    EMPTY,
    ArtifactRef,
    Checkpoint,
    FrozenJson,
    Json,
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
    freeze_mapping,
    is_skill_id,
    thaw,
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


TEXT_KEYS = ("details", "instructions", "steps", "requirements", "postconditions", "output_format", "output_contract")
"""The parts of a skill's text, as their keys are called."""

Value = TypeVar("Value")


def stated(new: Value | None, before: Value) -> Value:
    """The new value, or the one before where none is stated."""
    return before if new is None else new


def read_triggers(fields: Fields, before: Triggers) -> Triggers:
    """A flat list of keywords, or a mapping of keywords, verbs, patterns, examples and never (seeds 000 and 004)."""
    inner = fields.mapping("triggers") if fields.holds_mapping("triggers") else None
    if inner is None:
        keywords = fields.names("triggers")
        if keywords is None:
            return before
        return Triggers(keywords, before.verbs, before.patterns, before.examples, before.never)
    read = Triggers(
        keywords=stated(inner.names("keywords"), before.keywords),
        verbs=stated(inner.names("verbs"), before.verbs),
        patterns=stated(inner.names("patterns"), before.patterns),
        examples=stated(inner.names("examples"), before.examples),
        never=stated(inner.names("never"), before.never),
    )
    inner.report_unknown()
    return read


def read_tools(fields: Fields, before: ToolRules | None) -> ToolRules | None:
    """Tool rules; those that cannot be read allow no tool at all, as a lost limit must not become a permission."""
    inner = fields.mapping("tools")
    if inner is None:
        return before if fields.absent("tools") else ToolRules(allowed=())
    known = before or ToolRules()
    limits = read_limits(inner, "allowed", "forbidden")
    read = ToolRules(
        allowed=known.allowed if limits.allowed is None else limits.allowed,
        forbidden=known.forbidden if inner.absent("forbidden") else limits.forbidden,
        preapproved=stated(inner.names("preapproved"), known.preapproved),
    )
    inner.report_unknown()
    return read


def read_limits(fields: Fields, allowed_key: str, forbidden_key: str) -> ToolRules:
    """Allowed and forbidden tools; null or nothing says nothing, and what is no list of texts allows no tool at all."""
    allowed, forbidden = fields.names(allowed_key), fields.names(forbidden_key)
    lost = not fields.holds_texts(allowed_key) or not fields.holds_texts(forbidden_key)
    return ToolRules(() if lost else allowed, forbidden or ())


def read_text(fields: Fields, before: SkillText) -> SkillText:
    """The parts of the tier 2 text."""
    return SkillText(
        details=stated(fields.text("details"), before.details),
        instructions=stated(fields.text("instructions"), before.instructions),
        steps=stated(fields.texts("steps"), before.steps),
        requirements=stated(fields.texts("requirements"), before.requirements),
        postconditions=stated(fields.texts("postconditions"), before.postconditions),
        output_format=stated(fields.text("output_format"), before.output_format),
        output_contract=stated(read_output_contract(fields), before.output_contract),
    )


def read_output_contract(fields: Fields) -> OutputContract | None:
    """The type and JSON Schema of what a skill produces (seed 002)."""
    inner = fields.mapping("output_contract")
    if inner is None:
        return None
    kind = _required(inner, "type")
    schema = inner.typed_data("schema")
    inner.report_unknown()
    return None if kind is None else OutputContract(kind, None if schema is None else freeze_mapping(schema))


def read_relations(fields: Fields) -> tuple[Relation, ...] | None:
    """Relations in the native form `{kind, skill, reason, list}`."""
    return each(fields, "relations", lambda inner: read_relation(inner, "kind", None))


def read_relation(fields: Fields, kind_key: str, rules: RuleList | None) -> Relation | None:
    """One relation; `rules` is the list it stands in, None when it says so itself. None when it means nothing."""
    kind = fields.choice(kind_key, RelationKind)
    if fields.absent(kind_key):
        fields.report(codes.FIELD_MISSING, kind_key, "is missing; the relation was left out", "say what relation it is")
    skill = _required(fields, "skill")
    reason = fields.text("reason")
    stated = fields.choice("list", RuleList) if rules is None else rules
    fields.report_unknown()
    if kind is None or skill is None:
        return None
    return Relation(kind, _skill_of(fields, skill), reason, stated or RuleList.COMPOSABILITY)


def read_checkpoints(fields: Fields, key: str) -> tuple[Checkpoint, ...] | None:
    """Checkpoints as mappings or as bare names (seed 000)."""
    return each(fields, key, read_checkpoint, bare=Checkpoint)


def read_checkpoint(fields: Fields) -> Checkpoint | None:
    """One checkpoint, `{name, before, blocking, reviewer, asks}`."""
    name = _required(fields, "name")
    blocking = fields.flag("blocking")
    before, reviewer, asks = fields.text("before"), fields.text("reviewer"), fields.text("asks")
    fields.report_unknown()
    return None if name is None else Checkpoint(name, before, blocking is not False, reviewer, asks)


def read_artifacts(fields: Fields, key: str) -> tuple[ArtifactRef, ...] | None:
    """References to tier 3 documents as mappings, or as bare ids."""
    return each(fields, key, read_artifact, bare=lambda name: ArtifactRef(name, name, "text/plain", 0))


def read_artifact(fields: Fields) -> ArtifactRef | None:
    """One reference, `{id, name, media_type, size, content_hash, token_estimate}`."""
    artifact_id = _required(fields, "id")
    name, media_type = fields.text("name"), fields.text("media_type")
    size, estimate = fields.whole("size"), fields.whole("token_estimate")
    content_hash = fields.text("content_hash")
    fields.report_unknown()
    if artifact_id is None:
        return None
    return ArtifactRef(
        artifact_id, stated(name, artifact_id), stated(media_type, "text/plain"), size or 0, content_hash, estimate
    )


def each(
    fields: Fields,
    key: str,
    read: Callable[[Fields], Value | None],
    bare: Callable[[str], Value] | None = None,
) -> tuple[Value, ...] | None:
    """The entries of a list of mappings, `bare` for those that are one text; what cannot be read is left out."""
    entries = fields.entries(key)
    if entries is None:
        return None
    parts: list[Value] = []
    for index, entry in enumerate(entries):
        if bare is not None and isinstance(entry, str) and entry.strip():
            parts.append(bare(str(entry)))
            continue
        inner = fields.entry(key, index, entry)
        part = None if inner is None else read(inner)
        if part is not None:
            parts.append(part)
    return tuple(parts)


def _skill_of(fields: Fields, name: str) -> str:
    """The id that the name of another skill stands for, as that skill's own name would be repaired."""
    made = id_of(name)
    if made != name and is_skill_id(made):
        fields.report(codes.ID_REPAIRED, "skill", f"is {name[:60]!r}; read as the id {made!r}", "write the id")
    return made


def _required(fields: Fields, key: str) -> str | None:
    text = fields.text(key)
    if text is not None and text.strip():
        return text
    fields.report(codes.FIELD_MISSING, key, "is missing or empty; the entry was left out", f"add `{key}`")
    return None


def from_dict(mapping: Mapping[str, object], *, source: str = "code", path: str = "") -> Skill:
    """The skill in native form. Raises InvalidSkill naming everything of it that would be lost."""
    return require_skill(read_native(Fields(mapping, Findings(path)), source=source, digest=digest_of(mapping)))


def read_native(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """The skill in native form, and what is wrong with it; unknown keys are kept in `extra`."""
    draft = Draft(fields.findings)
    name = stated_name(fields, "id")
    if name is None:
        report_missing(fields, "id")
    else:
        call(draft, name, fields, "id")
    take_description(draft, fields)
    fill(draft, fields)
    draft.extra.update(fields.rest())
    return draft.finish(source=source, digest=digest)


def fill(draft: Draft, fields: Fields) -> None:
    """Adds to the draft what the native form in `fields` states; lists replace, mappings are merged."""
    draft.name = stated(fields.text("name"), draft.name)
    draft.spelling = stated(fields.text("spelling"), draft.spelling)
    draft.version = stated(fields.text("version"), draft.version)
    draft.status = stated(fields.choice("status", Status), draft.status)
    draft.license = stated(fields.text("license"), draft.license)
    draft.compatibility = stated(fields.text("compatibility"), draft.compatibility)
    draft.domain_tags = stated(fields.names("domain_tags"), draft.domain_tags)
    draft.emits = stated(fields.names("emits"), draft.emits)
    draft.triggers = read_triggers(fields, draft.triggers)
    draft.tools = read_tools(fields, draft.tools)
    draft.relations = stated(read_relations(fields), draft.relations)
    draft.checkpoints = stated(read_checkpoints(fields, "hitl_checkpoints"), draft.checkpoints)
    draft.checkpoints = stated(read_checkpoints(fields, "checkpoints"), draft.checkpoints)
    draft.artifacts = stated(read_artifacts(fields, "artifacts"), draft.artifacts)
    draft.metadata.update(fields.data("metadata") or {})
    draft.extra.update(fields.data("extra") or {})
    _fill_text(draft, fields)


def _fill_text(draft: Draft, fields: Fields) -> None:
    """Takes the text's parts from the mapping `text`, and from beside it, as short definitions are written."""
    inner = fields.mapping("text")
    for key in TEXT_KEYS:
        if inner is not None and key in inner and key in fields:
            fields.report(codes.FIELD_TWICE, key, f"also stands under `text.{key}`, which counts", "remove one of them")
    draft.text = read_text(fields, draft.text)
    if inner is not None:
        draft.text = read_text(inner, draft.text)
        inner.report_unknown()


def to_dict(skill: Skill) -> dict[str, Json]:
    """The skill as plain JSON data that `from_dict` reads back equal; origin and digest are no part of it."""
    return {
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        **_stated(spelling=skill.spelling, version=skill.version),
        **({} if skill.status is Status.ACTIVE else {"status": skill.status.value}),
        **_filled(triggers=triggers_to_dict(skill.triggers), domain_tags=_list(skill.domain_tags)),
        **_filled(text=text_to_dict(skill.text)),
        **({} if skill.tools is None else {"tools": tools_to_dict(skill.tools)}),
        **_filled(
            relations=[relation_to_dict(relation) for relation in skill.relations],
            checkpoints=[checkpoint_to_dict(checkpoint) for checkpoint in skill.checkpoints],
            emits=_list(skill.emits),
            artifacts=[artifact_to_dict(artifact) for artifact in skill.artifacts],
        ),
        **_stated(license=skill.license, compatibility=skill.compatibility),
        **_filled(metadata=thaw(skill.metadata), extra=thaw(skill.extra)),
    }


def triggers_to_dict(triggers: Triggers) -> dict[str, Json]:
    """The lists of triggers that are not empty."""
    return _filled(
        keywords=_list(triggers.keywords),
        verbs=_list(triggers.verbs),
        patterns=_list(triggers.patterns),
        examples=_list(triggers.examples),
        never=_list(triggers.never),
    )


def text_to_dict(text: SkillText) -> dict[str, Json]:
    """The parts of the text that are there."""
    return {
        **_stated(details=text.details, instructions=text.instructions),
        **_filled(
            steps=_list(text.steps), requirements=_list(text.requirements), postconditions=_list(text.postconditions)
        ),
        **_stated(output_format=text.output_format),
        **({} if text.output_contract is None else {"output_contract": contract_to_dict(text.output_contract)}),
    }


def contract_to_dict(contract: OutputContract) -> dict[str, Json]:
    """`{type, schema}`, the schema only where there is one."""
    return {"type": contract.type, **({} if contract.schema is None else {"schema": thaw(contract.schema)})}


def tools_to_dict(tools: ToolRules) -> dict[str, Json]:
    """`{allowed, forbidden, preapproved}`; `allowed` is there when it is stated, even empty (V005)."""
    return {
        **({} if tools.allowed is None else {"allowed": _list(tools.allowed)}),
        **_filled(forbidden=_list(tools.forbidden), preapproved=_list(tools.preapproved)),
    }


def relation_to_dict(relation: Relation) -> dict[str, Json]:
    """`{kind, skill, reason, list}`."""
    return {
        "kind": relation.kind.value,
        "skill": relation.skill,
        **_stated(reason=relation.reason),
        **({} if relation.list is RuleList.COMPOSABILITY else {"list": relation.list.value}),
    }


def checkpoint_to_dict(checkpoint: Checkpoint) -> Json:
    """A bare name where nothing else is stated, else `{name, before, blocking, reviewer, asks}`."""
    stated = {
        **_stated(before=checkpoint.before),
        **({} if checkpoint.blocking else {"blocking": False}),
        **_stated(reviewer=checkpoint.reviewer, asks=checkpoint.asks),
    }
    return {"name": checkpoint.name, **stated} if stated else checkpoint.name


def artifact_to_dict(artifact: ArtifactRef) -> Json:
    """`{id, name, media_type, size, content_hash, token_estimate}`, the last two only where they are known."""
    return {
        "id": artifact.id,
        "name": artifact.name,
        "media_type": artifact.media_type,
        "size": artifact.size,
        **_stated(content_hash=artifact.content_hash, token_estimate=artifact.token_estimate),
    }


def _list(texts: Iterable[str]) -> list[Json]:
    return list(texts)


def _stated(**values: Json) -> dict[str, Json]:
    return {key: value for key, value in values.items() if value is not None}


def _filled(**values: Json) -> dict[str, Json]:
    return {key: value for key, value in values.items() if value}


EXTENSION = "x-skillweave"
"""The key under which it stands."""

_IDENTITY = ("id", "spelling", "name", "description", "text")


def extension_id(fields: Fields) -> str | None:
    """The id under `x-skillweave`, where the name alone does not make it."""
    extension = fields.mapping(EXTENSION) if fields.holds_mapping(EXTENSION) else None
    return None if extension is None else extension.text("id")


def fill_extension(draft: Draft, fields: Fields) -> None:
    """Adds what stands under `x-skillweave`; what means nothing there is reported and kept in `extra`.

    `json` holds metadata and extra whose numbers, truth values and nulls are meant, which YAML text has no types for.
    """
    extension = fields.mapping(EXTENSION)
    if extension is None:
        return
    extension.take("id")
    typed = extension.mapping("json")
    if typed is not None:
        draft.metadata.update(typed.typed_data("metadata") or {})
        draft.extra.update(typed.typed_data("extra") or {})
        typed.report_unknown()
    draft.description = stated(extension.text("description"), draft.description)
    fill(draft, extension)
    extension.report_unknown()
    unknown = extension.rest()
    if unknown:
        draft.extra[EXTENSION] = unknown


def leftovers(skill: Skill, *, placed: Collection[str], placed_text: Collection[str]) -> dict[str, Json]:
    """The skill in native form without the keys that the spelling has a place for.

    A spelling whose name is the id as its author wrote it needs neither the id nor the spelling here.
    """
    rest: dict[str, Json] = {}
    if id_of(skill.spelling or skill.id) != skill.id:
        rest["id"] = skill.id
    if skill.name != default_name(skill.id, skill.spelling):
        rest["name"] = skill.name
    rest.update((key, value) for key, value in to_dict(skill).items() if key not in _IDENTITY)
    text = {key: value for key, value in text_to_dict(skill.text).items() if key not in placed_text}
    if text:
        rest["text"] = text
    return {key: value for key, value in rest.items() if key not in placed}
