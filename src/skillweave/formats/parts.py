"""The parts of a skill, read from the native form; what is not stated stays as it was before."""

from collections.abc import Callable
from typing import TypeVar

from skillweave.formats import codes
from skillweave.formats.fields import Fields
from skillweave.formats.ids import id_of
from skillweave.skill import (
    ArtifactRef,
    Checkpoint,
    OutputContract,
    Relation,
    RelationKind,
    RuleList,
    SkillText,
    ToolRules,
    Triggers,
    freeze_mapping,
    is_skill_id,
)

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
