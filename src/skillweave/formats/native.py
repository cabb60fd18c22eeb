"""The Skill's own nested form, and the one table of fields by which every spelling is read and written (spec 1.1).

A new field of `Skill` or `SkillText` is one row of `FIELDS` or `TEXT_FIELDS`. Without a key of its own in a spelling it
goes under `x-skillweave` there, so that the spelling still round-trips.
"""

import dataclasses
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any, TypeAlias, cast

from skillweave.formats import codes
from skillweave.formats.fields import (
    Choice,
    Fields,
    Findings,
    Reader,
    SkillRead,
    report_host_keys,
    report_places,
    require_skill,
)
from skillweave.formats.identity import MAX_ID, default_name, digest_of, id_of
from skillweave.skill import (
    EMPTY,
    ArtifactRef,
    Checkpoint,
    CheckpointScope,
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

EXTENSION = "x-skillweave"
"""The key under which a spelling keeps what it has no place for, in the native form."""

_LISTED_APART = ("id", "spelling", "name", "description", "text", "origin", "digest")

Merge: TypeAlias = Callable[[Fields, str, Any], Any]
"""The value at a key put together with the one before, which is None where there was none; None keeps that one."""


class Spelling(StrEnum):
    """The four spellings of a skill (spec 1.1)."""

    TIERS = "tiers"
    DEFINITION = "definition"
    NATIVE = "native"
    FRONT_MATTER = "front-matter"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a Skill or its text, with its reader and its `keys` by spelling (under NATIVE a second key)."""

    name: str
    read: Merge
    keys: Mapping[Spelling, str] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """A skill while it is read: `values` by field, and the parts of its `text`; None gives way to the default."""

    findings: Findings
    values: dict[str, Any] = field(default_factory=dict)
    text: dict[str, Any] = field(default_factory=dict)

    def take_identity(self, fields: Fields, key: str, given_id: str | None = None) -> None:
        """Makes the name at that key the skill's id; reported when it is missing or empty."""
        name = fields.stated(key)
        if name is None:
            report_missing(fields, key)
        else:
            self.set_identity(name, fields, key, given_id)

    def set_identity(self, name: str, fields: Fields, key: str, given_id: str | None = None) -> None:
        """Makes the name the skill's id, repaired if need be; a given id wins. Reports an id that is too long."""
        made = given_id if given_id is not None and is_skill_id(given_id) else id_of(name)
        if len(made) > MAX_ID:
            message = f"makes an id of {len(made)} characters; an id has up to {MAX_ID}"
            fields.report(codes.ID_TOO_LONG, key, message, "shorten it")
            return
        self.values["id"] = made
        if made != name:
            self.values["spelling"] = name
            if given_id is None:
                message = f"is {name[:MAX_ID]!r}, which is not an id; the skill's id is {made!r}"
                fields.report(codes.ID_REPAIRED, key, message, "use only letters, digits, `-` and `_`")

    def take_description(self, fields: Fields) -> None:
        """Takes the description as it stands; reported when it is missing or empty."""
        description = self.values["description"] = fields.text("description")
        if not description or not description.strip():
            fix = "say what the skill does and when to use it"
            fields.report(codes.FIELD_MISSING, "description", "is missing or empty", fix)

    def take(self, fields: Fields, spelling: Spelling) -> None:
        """Takes all fields that have a key in the spelling; lists replace what was there, mappings are merged."""
        own, of_text = _keys(spelling)
        places = [(self.values, own, fields), (self.text, of_text, fields)]
        inner = fields.mapping("text") if spelling is Spelling.NATIVE else None
        if inner is not None:
            places.append((self.text, of_text, inner))
            for key, _ in of_text:
                if key in inner and key in fields:
                    message = f"also stands under `text.{key}`, which counts"
                    fields.report(codes.FIELD_TWICE, key, message, "remove one of them")
        for values, parts, mapping in places:
            for key, part in parts:
                read = part.read(mapping, key, values.get(part.name)) if key in mapping else None
                if read is not None:
                    values[part.name] = read
        if inner is not None:
            inner.report_unknown()

    def keep(self, rest: Mapping[str, Json]) -> None:
        """Keeps data under keys that no field has."""
        if rest:
            self.values["extra"] = {**self.values.get("extra", {}), **rest}

    def finish(self, *, source: str, digest: str) -> SkillRead:
        """The skill and all findings; None for the skill where its id or description is missing or refused."""
        values = {name: value for name, value in self.values.items() if value is not None}
        if "id" not in values or not values.get("description", "").strip():
            return self.findings.outcome(None)
        text = SkillText(**{name: value for name, value in self.text.items() if value is not None})
        if values.get("extra"):
            report_host_keys(values["extra"], self.findings)
        for name in ("metadata", "extra"):
            values[name] = freeze_mapping(values[name]) if values.get(name) else EMPTY
        values["name"] = values.get("name") or default_name(values["id"], values.get("spelling"))
        report_places(text, self.findings)
        skill = Skill(**values, text=text, origin=Origin(source, self.findings.path), digest=digest)
        return self.findings.outcome(skill)


def from_dict(mapping: Mapping[str, object], *, source: str = "code", path: str = "") -> Skill:
    """The skill in native form. Raises InvalidSkill naming everything of it that would be lost."""
    return require_skill(read_native(Fields(mapping, Findings(path)), source=source, digest=digest_of(mapping)))


def read_native(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """The skill in native form, and what is wrong with it; unknown keys are kept in `extra`."""
    draft = Draft(fields.findings)
    draft.take_identity(fields, "id")
    draft.take_description(fields)
    draft.take(fields, Spelling.NATIVE)
    draft.keep(fields.rest())
    return draft.finish(source=source, digest=digest)


def to_dict(skill: Skill) -> dict[str, Json]:
    """The skill as plain JSON data that `from_dict` reads back equal; origin and digest are no part of it."""
    native = _stated_parts(skill)
    keys = dict.fromkeys(("id", "name", "description", "spelling", *native))
    return {key: native[key] for key in keys if key in native and key not in ("origin", "digest")}


def to_data(value: object) -> Json:
    """A part of a skill as plain JSON data; what is at its default is left out, a checkpoint may be its bare name."""
    if isinstance(value, str):
        return value.value if isinstance(value, StrEnum) else value
    if isinstance(value, list | tuple):
        return [to_data(item) for item in value]
    if isinstance(value, Checkpoint) and value == Checkpoint(value.name):
        return value.name
    return _stated_parts(value) if dataclasses.is_dataclass(value) else thaw(cast("FrozenJson", value))


def report_missing(fields: Fields, key: str) -> None:
    """Reports that something without which there is no skill is missing or empty."""
    fields.report(codes.FIELD_MISSING, key, "is missing or empty", f"add `{key}:` with a text")


def extension_id(fields: Fields) -> str | None:
    """The id under `x-skillweave`, where the name alone does not make it."""
    extension = fields.mapping(EXTENSION) if isinstance(fields.peek(EXTENSION), Mapping) else None
    return None if extension is None else extension.text("id")


def take_extension(draft: Draft, fields: Fields) -> None:
    """Adds what stands under `x-skillweave`; unknown keys are reported and kept. `json` holds typed values."""
    extension = fields.mapping(EXTENSION) if EXTENSION in fields else None
    if extension is None:
        return
    extension.take("id")
    typed = extension.mapping("json")
    if typed is not None:
        metadata = typed.typed_data("metadata")
        draft.values["metadata"] = {**draft.values.get("metadata", {}), **(metadata or {})}
        draft.keep(typed.typed_data("extra") or {})
        typed.report_unknown()
    description = extension.text("description")
    if description is not None:
        draft.values["description"] = description
    draft.take(extension, Spelling.NATIVE)
    extension.report_unknown()
    unknown = extension.rest()
    if unknown:
        draft.keep({EXTENSION: unknown})


def placed(value: Skill | SkillText, parts: Collection[Field], spelling: Spelling) -> dict[str, Json]:
    """The fields that have a key of their own in a spelling, by that key; those at their default are left out."""
    native = _stated_parts(value)
    own = ((part.keys[spelling], part.name) for part in parts if spelling in part.keys)
    return {key: native[name] for key, name in own if name in native}


def leftovers(skill: Skill, spelling: Spelling, by_hand: Collection[str]) -> dict[str, Json]:
    """The skill in native form without what the spelling has keys for, or its writer does `by_hand`."""
    rest: dict[str, Json] = {}
    if id_of(skill.spelling or skill.id) != skill.id:
        rest["id"] = skill.id
    if skill.name != default_name(skill.id, skill.spelling):
        rest["name"] = skill.name
    rest.update((key, value) for key, value in _stated_parts(skill).items() if key not in _LISTED_APART)
    there = {*by_hand, *(part.name for part in (*FIELDS, *TEXT_FIELDS) if spelling in part.keys)}
    text = {key: value for key, value in _stated_parts(skill.text).items() if key not in there}
    if text:
        rest["text"] = text
    return {key: value for key, value in rest.items() if key not in there}


def read_limits(fields: Fields, allowed_key: str, forbidden_key: str) -> ToolRules:
    """Allowed and forbidden tools; null or nothing says nothing, anything but a list of texts allows no tool at all."""
    allowed, forbidden = with_whole_hosts(fields, allowed_key, fields.names(allowed_key)), fields.names(forbidden_key)
    lost = not fields.holds_texts(allowed_key) or not fields.holds_texts(forbidden_key)
    return ToolRules(() if lost else allowed, forbidden or ())


def with_whole_hosts(fields: Fields, key: str, entries: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The allowing entries without those with a `*` in an address's host, each of which is reported."""
    for entry in filter(_opens_host, entries or ()):
        message = f"has {entry[:100]!r}, which would allow other hosts that begin or end so; the entry was left out"
        fix = "name the whole host, and a `/` after it, as in `https://docs.example/*`; one entry for each host"
        fields.report(codes.OPEN_HOST, key, message, fix)
    return None if entries is None else tuple(entry for entry in entries if not _opens_host(entry))


def _opens_host(entry: str) -> bool:
    address = entry.partition("://")[2].rstrip(" )")
    host = re.split(r"[/?#]", address)[0]
    return "*" in (re.sub(r"^\*+$|[: ]\*$", "", host) if host == address else host)


def read_relation(fields: Fields, kind_key: str = "kind", rules: RuleList | None = None) -> Relation | None:
    """One relation; `rules` is the list it stands in, None when it says so itself. None when it means nothing."""
    if fields.absent(kind_key):
        fields.report(codes.FIELD_MISSING, kind_key, "is missing; the relation was left out", "say what relation it is")
    readers = {kind_key: _KIND, "skill": Fields.required, "reason": Fields.text}
    parts = fields.parts(readers if rules is not None else {**readers, "list": _LIST})
    if kind_key not in parts or "skill" not in parts:
        return None
    # The name of another skill stands for the id that this skill's own name would be repaired to.
    name = parts["skill"]
    made = id_of(name)
    if made != name and is_skill_id(made):
        fields.report(codes.ID_REPAIRED, "skill", f"is {name[:60]!r}; read as the id {made!r}", "write the id")
    where = rules or parts.get("list", RuleList.COMPOSABILITY)
    return Relation(parts[kind_key], made, parts.get("reason"), where)


@cache
def _keys(spelling: Spelling) -> tuple[list[tuple[str, Field]], list[tuple[str, Field]]]:
    native = spelling is Spelling.NATIVE
    own, of_text = (
        [(key, part) for part in parts for key in (part.keys.get(spelling), part.name if native else None) if key]
        for parts in (FIELDS, TEXT_FIELDS)
    )
    return own, of_text


def _stated_parts(value: Any) -> dict[str, Json]:  # noqa: ANN401 - any of the dataclasses that a skill is made of
    """The fields of a value that are not at their default, as plain JSON data."""
    stated: dict[str, Json] = {}
    for name, default in _defaults(value.__class__):
        part = getattr(value, name)
        if part != default:
            stated[name] = to_data(part)
    return stated


@cache
def _defaults(kind: type[Any]) -> tuple[tuple[str, object], ...]:
    """The fields of a dataclass with their defaults; a field without one has a mark that equals no value."""
    return tuple(
        (part.name, part.default if part.default_factory is dataclasses.MISSING else part.default_factory())
        for part in dataclasses.fields(kind)
    )


def _choice(choices: type[Choice]) -> Reader:
    return lambda fields, key: fields.choice(key, choices)


def _status(fields: Fields, key: str) -> Status | None:
    """The status, among those that an author may write: only a source holds a skill back."""
    found = fields.choice(key, Status)
    return Status.DISABLED if found is Status.QUARANTINED else found


def _plain(read: Reader) -> Merge:
    """What is stated takes the place of what was there."""
    return lambda fields, key, _: read(fields, key)


def _data(fields: Fields, key: str, before: Mapping[str, Json] | None) -> dict[str, Json]:
    return {**(before or {}), **(fields.data(key) or {})}


def read_triggers(fields: Fields, key: str, before: Triggers | None = None) -> Triggers | None:
    """A flat list of keywords, or a mapping of keywords, verbs, patterns, examples and never (seeds 000 and 004)."""
    inner = fields.mapping(key) if isinstance(fields.peek(key), Mapping) else None
    if inner is not None:
        return dataclasses.replace(before or Triggers(), **inner.parts(_TRIGGERS))
    keywords = fields.names(key)
    return before if keywords is None else dataclasses.replace(before or Triggers(), keywords=keywords)


def _tools(fields: Fields, key: str, before: ToolRules | None) -> ToolRules | None:
    """Tool rules; those that cannot be read allow no tool at all, as a lost limit must not become a permission."""
    inner = fields.mapping(key)
    if inner is None:
        return before if fields.absent(key) else ToolRules(allowed=())
    known = before or ToolRules()
    limits = read_limits(inner, "allowed", "forbidden")
    preapproved = with_whole_hosts(inner, "preapproved", inner.names("preapproved"))
    inner.report_unknown()
    return ToolRules(
        allowed=known.allowed if limits.allowed is None else limits.allowed,
        forbidden=known.forbidden if inner.absent("forbidden") else limits.forbidden,
        preapproved=known.preapproved if preapproved is None else preapproved,
    )


def read_output_contract(fields: Fields, key: str) -> OutputContract | None:
    """The type and JSON Schema of what a skill produces (seed 002)."""
    inner = fields.mapping(key)
    parts = {} if inner is None else inner.parts(_CONTRACT)
    if "type" not in parts:
        return None
    return OutputContract(parts["type"], freeze_mapping(parts["schema"]) if "schema" in parts else None)


def read_checkpoints(fields: Fields, key: str) -> tuple[Checkpoint, ...] | None:
    """Checkpoints as mappings or as bare names (seed 000)."""

    def read(inner: Fields) -> Checkpoint | None:
        parts = inner.parts(_CHECKPOINT)
        return Checkpoint(**parts) if "name" in parts else None

    return fields.each(key, read, bare=Checkpoint)


def read_artifacts(fields: Fields, key: str) -> tuple[ArtifactRef, ...] | None:
    """References to tier 3 documents as mappings, or as bare ids."""

    def read(inner: Fields) -> ArtifactRef | None:
        parts = inner.parts(_ARTIFACT)
        if "id" not in parts:
            return None
        return ArtifactRef(**{"name": parts["id"], "media_type": "text/plain", "size": 0, **parts})

    return fields.each(key, read, bare=lambda name: ArtifactRef(name, name, "text/plain", 0))


_KIND, _LIST = _choice(RelationKind), _choice(RuleList)
_TRIGGERS = dict.fromkeys(("keywords", "verbs", "patterns", "examples", "never"), Fields.names)
_CONTRACT: Mapping[str, Reader] = {"type": Fields.required, "schema": Fields.typed_data}
_CHECKPOINT: Mapping[str, Reader] = {
    "name": Fields.required,
    "before": Fields.text,
    "blocking": Fields.flag,
    "reviewer": Fields.text,
    "asks": Fields.text,
    "scope": _choice(CheckpointScope),
}
_ARTIFACT: Mapping[str, Reader] = {
    "id": Fields.required,
    "name": Fields.text,
    "media_type": Fields.text,
    "size": Fields.whole,
    "content_hash": Fields.text,
    "token_estimate": Fields.whole,
}

_TEXT, _TEXTS, _NAMES = _plain(Fields.text), _plain(Fields.texts), _plain(Fields.names)
_TIERS, _DEFINITION, _NATIVE = Spelling.TIERS, Spelling.DEFINITION, Spelling.NATIVE

TEXT_FIELDS = (
    Field("details", _TEXT),
    Field("instructions", _TEXT),
    Field("steps", _TEXTS, {_TIERS: "steps", _DEFINITION: "execution_protocol"}),
    Field("requirements", _TEXTS, {_TIERS: "requirements", _DEFINITION: "preconditions"}),
    Field("postconditions", _TEXTS, {_DEFINITION: "postconditions"}),
    Field("output_format", _TEXT, {_TIERS: "output_format"}),
    Field("output_contract", _plain(read_output_contract), {_DEFINITION: "output_contract"}),
)
"""The parts of a skill's text, in the order in which they are read."""

FIELDS = (
    Field("name", _TEXT),
    Field("spelling", _TEXT),
    Field("version", _TEXT, {_DEFINITION: "version"}),
    Field("status", _plain(_status), {_TIERS: "status"}),
    Field("license", _TEXT),
    Field("compatibility", _TEXT),
    Field("domain_tags", _NAMES),
    Field("emits", _NAMES, {_TIERS: "emits"}),
    Field("triggers", read_triggers),
    Field("tools", _tools),
    Field("relations", _plain(lambda fields, key: fields.each(key, read_relation))),
    Field("checkpoints", _plain(read_checkpoints), {_TIERS: "hitl_checkpoints", _NATIVE: "hitl_checkpoints"}),
    Field("artifacts", _plain(read_artifacts)),
    Field("phrases", _TEXTS),
    Field("metadata", _data),
    Field("extra", _data),
)
"""The other fields of a skill beside its id and description, in the order in which they are read."""
