"""The spellings that are mappings: seed 000's tiers, seed 002's definition, and which of the four one is written in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum

from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings, SkillRead, require_skill
from skillweave.formats.identity import digest_of
from skillweave.formats.native import (
    EXTENSION,
    Draft,
    artifact_to_dict,
    call,
    checkpoint_to_dict,
    contract_to_dict,
    each,
    extension_id,
    fill_extension,
    leftovers,
    read_artifacts,
    read_checkpoints,
    read_limits,
    read_native,
    read_output_contract,
    read_relation,
    read_triggers,
    relation_to_dict,
    report_missing,
    stated,
    stated_name,
    take_description,
    triggers_to_dict,
)
from skillweave.formats.skill_md import read_front_fields
from skillweave.frontmatter import Keys
from skillweave.skill import Json, Relation, RelationKind, RuleList, Skill, SkillText, Status, ToolRules

MANIFEST, DEFINITION, ARTIFACT_REFS = "tier1_manifest", "tier2_definition", "tier3_artifact_refs"

_IN_TIERS = frozenset(("name", "status", "triggers", "domain_tags", "checkpoints", "emits", "artifacts"))
_TEXT_IN_TIERS = frozenset(("details", "steps", "requirements", "output_format"))


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
    extension = leftovers(skill, placed=_IN_TIERS, placed_text=_TEXT_IN_TIERS)
    extension.pop("id", None)
    if skill.spelling is not None:
        extension["spelling"] = skill.spelling
    triggers = triggers_to_dict(replace(skill.triggers, keywords=()))
    if triggers:
        extension["triggers"] = triggers
    if extension:
        definition[EXTENSION] = extension
    return definition


DEFINITION_KEYS = (
    "allowed_tools",
    "forbidden_tools",
    "execution_protocol",
    "preconditions",
    "postconditions",
    "output_contract",
    "compatibility_rules",
    "composability_rules",
)
"""The keys by which this spelling is known."""

_KINDS = {
    RuleList.COMPATIBILITY: frozenset((RelationKind.REQUIRES, RelationKind.INCOMPATIBLE)),
    RuleList.COMPOSABILITY: frozenset((RelationKind.REQUIRES, RelationKind.FORBIDS)),
}
_IN_DEFINITION = frozenset(("version", "tools", "relations"))
_TEXT_IN_DEFINITION = frozenset(("steps", "requirements", "postconditions", "output_contract"))


def from_definition(mapping: Mapping[str, object], *, source: str = "code", path: str = "") -> Skill:
    """The skill in a SkillDefinition. Raises InvalidSkill naming every missing field and all that would be lost."""
    return require_skill(read_definition(Fields(mapping, Findings(path)), source=source, digest=digest_of(mapping)))


def read_definition(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """The skill in a SkillDefinition, None where one of its four required fields is missing."""
    draft = Draft(fields.findings)
    name = stated_name(fields, "name")
    if name is None:
        report_missing(fields, "name")
    else:
        call(draft, name, fields, "name", extension_id(fields))
    take_description(draft, fields)
    missing = [key for key in ("allowed_tools", "execution_protocol") if key not in fields]
    for key in missing:
        fields.report(codes.FIELD_MISSING, key, "is missing", f"add `{key}:` with a list, which may be empty")
    draft.version = fields.text("version")
    draft.tools = _tools(fields)
    draft.text = SkillText(
        steps=fields.texts("execution_protocol") or (),
        requirements=fields.texts("preconditions") or (),
        postconditions=fields.texts("postconditions") or (),
        output_contract=read_output_contract(fields),
    )
    draft.relations = (*_rules(fields, RuleList.COMPATIBILITY), *_rules(fields, RuleList.COMPOSABILITY))
    fill_extension(draft, fields)
    draft.extra.update(fields.rest())
    if missing:
        return draft.findings.outcome(None)
    return draft.finish(source=source, digest=digest)


def to_definition(skill: Skill) -> dict[str, Json]:
    """The skill as a SkillDefinition that `from_definition` reads back equal.

    `allowed_tools` is null where the skill says nothing about them, as an empty list would mean no tool at all.
    """
    tools, text = skill.tools or ToolRules(), skill.text
    definition: dict[str, Json] = {"name": skill.spelling or skill.id, "description": skill.description}
    if skill.version is not None:
        definition["version"] = skill.version
    definition["allowed_tools"] = None if tools.allowed is None else list(tools.allowed)
    definition["execution_protocol"] = list(text.steps)
    lists = {"forbidden_tools": tools.forbidden, "preconditions": text.requirements}
    lists["postconditions"] = text.postconditions
    definition.update((key, list(values)) for key, values in lists.items() if values)
    if text.output_contract is not None:
        definition["output_contract"] = contract_to_dict(text.output_contract)
    definition.update(_rules_to_dict(skill.relations))
    extension = _definition_extension(skill)
    if extension:
        definition[EXTENSION] = extension
    return definition


def _tools(fields: Fields) -> ToolRules | None:
    limits = read_limits(fields, "allowed_tools", "forbidden_tools")
    return None if limits == ToolRules() else limits


def _rules(fields: Fields, rules: RuleList) -> tuple[Relation, ...]:
    """The relations of one of the two lists, which keep from which they came."""

    def read(inner: Fields) -> Relation | None:
        relation = read_relation(inner, "type", rules)
        if relation is None or relation.kind in _KINDS[rules]:
            return relation
        known = " or ".join(sorted(_KINDS[rules]))
        message = f"is {relation.kind.value!r}, which `{rules.value}` does not have; it was left out"
        inner.report(codes.BAD_VALUE, "type", message, f"write {known}, or move the rule to the other list")
        return None

    return each(fields, rules.value, read) or ()


def _rules_to_dict(relations: tuple[Relation, ...]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for rules in RuleList:
        entries: list[Json] = [_rule(relation) for relation in _in_place(relations, rules)]
        if entries:
            found[rules.value] = entries
    return found


def _rule(relation: Relation) -> dict[str, Json]:
    rule: dict[str, Json] = {"type": relation.kind.value, "skill": relation.skill}
    return rule if relation.reason is None else {**rule, "reason": relation.reason}


def _in_place(relations: tuple[Relation, ...], rules: RuleList) -> tuple[Relation, ...]:
    return tuple(relation for relation in relations if relation.list is rules and relation.kind in _KINDS[rules])


def _definition_extension(skill: Skill) -> dict[str, Json]:
    """The leftovers; relations stand there too, whole, where the two lists would lose one or their order."""
    extension = leftovers(skill, placed=_IN_DEFINITION, placed_text=_TEXT_IN_DEFINITION)
    if skill.tools is not None and skill.tools.preapproved:
        extension["tools"] = {"preapproved": list(skill.tools.preapproved)}
    elif skill.tools == ToolRules():
        extension["tools"] = {}
    in_lists = tuple(relation for rules in RuleList for relation in _in_place(skill.relations, rules))
    if in_lists != skill.relations:
        extension["relations"] = [relation_to_dict(relation) for relation in skill.relations]
    return extension


class Spelling(Enum):
    """The four spellings of a skill (spec 1.1)."""

    TIERS = "tiers"
    DEFINITION = "definition"
    NATIVE = "native"
    FRONT_MATTER = "front-matter"


_READERS = {
    Spelling.TIERS: read_tiers,
    Spelling.DEFINITION: read_definition,
    Spelling.NATIVE: read_native,
    Spelling.FRONT_MATTER: read_front_fields,
}


def spelling_of(mapping: Mapping[str, object]) -> Spelling:
    """The spelling by its telling keys; a mapping with none of them is read as front matter."""
    if MANIFEST in mapping or "skill_id" in mapping:
        return Spelling.TIERS
    if "id" in mapping:
        return Spelling.NATIVE
    if any(key in mapping for key in DEFINITION_KEYS):
        return Spelling.DEFINITION
    return Spelling.FRONT_MATTER


def read_any(
    mapping: Mapping[str, object],
    *,
    path: str,
    source: str,
    lines: Mapping[Keys, int] | None = None,
    at: Keys = (),
) -> SkillRead:
    """The skill in a mapping of any spelling, and what is wrong with it; never raises.

    `lines` and `at` tell where the mapping stands in its file, as `read_yaml` reported it.
    """
    findings = Findings(path, lines or {})
    fields = Fields(mapping, findings, at)
    try:
        digest = digest_of(mapping)
    except InvalidSkill as error:
        findings.report(codes.BAD_VALUE, at, str(error), "write JSON data only")
        return findings.outcome(None)
    return _READERS[spelling_of(mapping)](fields, source=source, digest=digest)
