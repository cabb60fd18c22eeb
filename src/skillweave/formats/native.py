"""The Skill's own nested form: what `x-skillweave`, packs and code are written in."""

from collections.abc import Mapping

from skillweave.formats import codes
from skillweave.formats.digest import digest_of
from skillweave.formats.draft import Draft, call, report_missing, stated_name, take_description
from skillweave.formats.fields import Fields
from skillweave.formats.findings import Findings, SkillRead, require_skill
from skillweave.formats.parts import (
    TEXT_KEYS,
    read_artifacts,
    read_checkpoints,
    read_relations,
    read_text,
    read_tools,
    read_triggers,
    stated,
)
from skillweave.skill import Skill, Status


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
