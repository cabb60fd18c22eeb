"""Seed 000's tiers: a manifest that is always shown, a definition that is given on demand, references to documents."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillweave.formats.digest import digest_of
from skillweave.formats.draft import Draft, call, report_missing, stated_name, take_description
from skillweave.formats.extension import EXTENSION, fill_extension, leftovers
from skillweave.formats.fields import Fields
from skillweave.formats.findings import Findings, SkillRead, require_skill
from skillweave.formats.native_write import artifact_to_dict, checkpoint_to_dict, triggers_to_dict
from skillweave.formats.parts import read_artifacts, read_checkpoints, read_triggers, stated
from skillweave.skill import Json, Skill, SkillText, Status

MANIFEST, DEFINITION, ARTIFACT_REFS = "tier1_manifest", "tier2_definition", "tier3_artifact_refs"

_PLACED = frozenset(("name", "status", "triggers", "domain_tags", "checkpoints", "emits", "artifacts"))
_PLACED_TEXT = frozenset(("details", "steps", "requirements", "output_format"))


def from_tiers(
    tier1_manifest: Mapping[str, object],
    tier2_definition: Mapping[str, object],
    tier3_artifact_refs: Sequence[object] = (),
    *,
    source: str = "code",
    path: str = "",
) -> Skill:
    """The skill in its tiers, `from_tiers(**to_tiers(skill))`. Raises InvalidSkill naming all that would be lost."""
    tiers = {MANIFEST: tier1_manifest, DEFINITION: tier2_definition, ARTIFACT_REFS: list(tier3_artifact_refs)}
    return require_skill(read_tiers(Fields(tiers, Findings(path)), source=source, digest=digest_of(tiers)))


def read_tiers(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """The skill in a mapping of its tiers, or in one flat mapping with a `skill_id`."""
    manifest = fields.mapping(MANIFEST) if MANIFEST in fields else fields
    if manifest is None:
        report_missing(fields, MANIFEST)
        return fields.findings.outcome(None)
    definition = fields.mapping(DEFINITION) if MANIFEST in fields else fields
    draft = Draft(fields.findings)
    skill_id = stated_name(manifest, "skill_id")
    if skill_id is None:
        report_missing(manifest, "skill_id")
    else:
        call(draft, skill_id, manifest, "skill_id")
    take_description(draft, manifest)
    draft.name = manifest.text("name")
    draft.triggers = read_triggers(manifest, draft.triggers)
    draft.domain_tags = manifest.names("domain_tags") or ()
    draft.artifacts = read_artifacts(fields, ARTIFACT_REFS) or ()
    if definition is not None:
        details = definition.text("description") if definition is not manifest else None
        _fill_definition(draft, definition, details)
    draft.extra.update(manifest.rest())
    if manifest is not fields:
        draft.extra.update(fields.rest())
    return draft.finish(source=source, digest=digest)


def to_tiers(skill: Skill) -> dict[str, dict[str, Json] | list[Json]]:
    """`tier1_manifest`, exactly the five keys; `tier2_definition`, every other field; `tier3_artifact_refs`."""
    return {
        MANIFEST: to_manifest(skill),
        DEFINITION: _definition(skill),
        ARTIFACT_REFS: [artifact_to_dict(artifact) for artifact in skill.artifacts],
    }


def to_manifest(skill: Skill) -> dict[str, Json]:
    """The tier 1 entry of seed 000."""
    return {
        "skill_id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "triggers": list(skill.triggers.keywords),
        "domain_tags": list(skill.domain_tags),
    }


def _fill_definition(draft: Draft, definition: Fields, details: str | None) -> None:
    draft.text = SkillText(
        details=details,
        steps=definition.texts("steps") or (),
        requirements=definition.texts("requirements") or (),
        output_format=definition.text("output_format"),
    )
    draft.status = stated(definition.choice("status", Status), draft.status)
    draft.checkpoints = read_checkpoints(definition, "hitl_checkpoints") or ()
    draft.emits = definition.names("emits") or ()
    fill_extension(draft, definition)
    draft.extra.update(definition.rest())


def _definition(skill: Skill) -> dict[str, Json]:
    text = skill.text
    definition: dict[str, Json] = {} if text.details is None else {"description": text.details}
    lists: dict[str, Sequence[Json]] = {"steps": text.steps, "requirements": text.requirements}
    definition.update((key, list(values)) for key, values in lists.items() if values)
    if text.output_format is not None:
        definition["output_format"] = text.output_format
    if skill.checkpoints:
        definition["hitl_checkpoints"] = [checkpoint_to_dict(checkpoint) for checkpoint in skill.checkpoints]
    if skill.emits:
        definition["emits"] = list(skill.emits)
    if skill.status is not Status.ACTIVE:
        definition["status"] = skill.status.value
    extension = leftovers(skill, placed=_PLACED, placed_text=_PLACED_TEXT)
    extension.pop("id", None)
    if skill.spelling is not None:
        extension["spelling"] = skill.spelling
    triggers = triggers_to_dict(replace(skill.triggers, keywords=()))
    if triggers:
        extension["triggers"] = triggers
    if extension:
        definition[EXTENSION] = extension
    return definition
