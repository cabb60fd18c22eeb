"""The spellings that are mappings: seed 000's tiers, seed 002's definition, and which of the four one is written in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from skillweave.errors import InvalidSkill
from skillweave.formats import codes
from skillweave.formats.fields import Fields, Findings, SkillRead, require_skill
from skillweave.formats.identity import digest_of
from skillweave.formats.native import (
    EXTENSION,
    FIELDS,
    TEXT_FIELDS,
    Draft,
    Spelling,
    extension_id,
    leftovers,
    placed,
    read_artifacts,
    read_limits,
    read_native,
    read_relation,
    read_triggers,
    report_missing,
    take_extension,
    to_data,
)
from skillweave.formats.skill_md import read_front_fields
from skillweave.frontmatter.yaml_text import Keys
from skillweave.skill import Json, Relation, RelationKind, RuleList, Skill, ToolRules

MANIFEST, DEFINITION, ARTIFACT_REFS = "tier1_manifest", "tier2_definition", "tier3_artifact_refs"
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
"""The keys by which seed 002's spelling is known."""

_KINDS = {
    RuleList.COMPATIBILITY: frozenset((RelationKind.REQUIRES, RelationKind.INCOMPATIBLE)),
    RuleList.COMPOSABILITY: frozenset((RelationKind.REQUIRES, RelationKind.FORBIDS)),
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
    """The skill in a mapping of any spelling, and its findings with `lines` below `at`; never raises."""
    findings = Findings(path, lines or {})
    try:
        digest = digest_of(mapping)
    except InvalidSkill as error:
        findings.report(codes.BAD_VALUE, at, str(error), "write JSON data only")
        return findings.outcome(None)
    return _READERS[spelling_of(mapping)](Fields(mapping, findings, at), source=source, digest=digest)


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
    return require_skill(_read_tiers(Fields(tiers, Findings(path)), source=source, digest=digest_of(tiers)))


def to_tiers(skill: Skill) -> dict[str, dict[str, Json] | list[Json]]:
    """`tier1_manifest`, exactly the five keys; `tier2_definition`, every other field; `tier3_artifact_refs`."""
    definition: dict[str, Json] = {} if skill.text.details is None else {"description": skill.text.details}
    definition.update(placed(skill.text, TEXT_FIELDS, Spelling.TIERS))
    definition.update(placed(skill, FIELDS, Spelling.TIERS))
    by_hand = ("name", "triggers", "domain_tags", "artifacts", "details")
    extension = leftovers(skill, Spelling.TIERS, by_hand)
    extension.pop("id", None)
    if skill.spelling is not None:
        extension["spelling"] = skill.spelling
    triggers = to_data(replace(skill.triggers, keywords=()))
    if triggers:
        extension["triggers"] = triggers
    if extension:
        definition[EXTENSION] = extension
    artifacts = [to_data(artifact) for artifact in skill.artifacts]
    return {MANIFEST: to_manifest(skill), DEFINITION: definition, ARTIFACT_REFS: artifacts}


def to_manifest(skill: Skill) -> dict[str, Json]:
    """The tier 1 entry of seed 000."""
    return {
        "skill_id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "triggers": list(skill.triggers.keywords),
        "domain_tags": list(skill.domain_tags),
    }


def _read_tiers(fields: Fields, *, source: str, digest: str) -> SkillRead:
    manifest = fields.mapping(MANIFEST) if MANIFEST in fields else fields
    if manifest is None:
        report_missing(fields, MANIFEST)
        return fields.findings.outcome(None)
    definition = fields.mapping(DEFINITION) if MANIFEST in fields else fields
    draft = Draft(fields.findings)
    draft.take_identity(manifest, "skill_id")
    draft.take_description(manifest)
    draft.values["name"] = manifest.text("name")
    draft.values["triggers"] = read_triggers(manifest, "triggers")
    draft.values["domain_tags"] = manifest.names("domain_tags")
    draft.values["artifacts"] = read_artifacts(fields, ARTIFACT_REFS)
    if definition is not None:
        if definition is not manifest:
            draft.text["details"] = definition.text("description")
        draft.take(definition, Spelling.TIERS)
        take_extension(draft, definition)
        draft.keep(definition.rest())
    draft.keep(manifest.rest())
    if manifest is not fields:
        draft.keep(fields.rest())
    return draft.finish(source=source, digest=digest)


def from_definition(mapping: Mapping[str, object], *, source: str = "code", path: str = "") -> Skill:
    """The skill in a SkillDefinition. Raises InvalidSkill naming every missing field and all that would be lost."""
    return require_skill(_read_definition(Fields(mapping, Findings(path)), source=source, digest=digest_of(mapping)))


def to_definition(skill: Skill) -> dict[str, Json]:
    """The skill as a SkillDefinition that reads back equal; `allowed_tools` is null if the skill says nothing."""
    tools = skill.tools or ToolRules()
    definition: dict[str, Json] = {
        "name": skill.spelling or skill.id,
        "description": skill.description,
        **placed(skill, FIELDS, Spelling.DEFINITION),
        "allowed_tools": None if tools.allowed is None else list(tools.allowed),
        "execution_protocol": [],
    }
    if tools.forbidden:
        definition["forbidden_tools"] = list(tools.forbidden)
    definition.update(placed(skill.text, TEXT_FIELDS, Spelling.DEFINITION))
    in_lists: list[Relation] = []
    for rules in RuleList:
        here = [relation for relation in skill.relations if relation.list is rules and relation.kind in _KINDS[rules]]
        in_lists += here
        if here:
            definition[rules.value] = [_rule(relation) for relation in here]
    extension = leftovers(skill, Spelling.DEFINITION, ("tools", "relations"))
    if tools.preapproved:
        extension["tools"] = {"preapproved": list(tools.preapproved)}
    elif skill.tools == ToolRules():
        extension["tools"] = {}
    if tuple(in_lists) != skill.relations:
        extension["relations"] = to_data(skill.relations)
    if extension:
        definition[EXTENSION] = extension
    return definition


def _read_definition(fields: Fields, *, source: str, digest: str) -> SkillRead:
    """The skill in a SkillDefinition, None where one of its four required fields is missing."""
    draft = Draft(fields.findings)
    draft.take_identity(fields, "name", extension_id(fields))
    draft.take_description(fields)
    missing = [key for key in ("allowed_tools", "execution_protocol") if key not in fields]
    for key in missing:
        fields.report(codes.FIELD_MISSING, key, "is missing", f"add `{key}:` with a list, which may be empty")
    tools = read_limits(fields, "allowed_tools", "forbidden_tools")
    draft.values["tools"] = None if tools == ToolRules() else tools
    draft.take(fields, Spelling.DEFINITION)
    draft.values["relations"] = tuple(relation for rules in RuleList for relation in _rules(fields, rules))
    take_extension(draft, fields)
    draft.keep(fields.rest())
    return draft.findings.outcome(None) if missing else draft.finish(source=source, digest=digest)


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

    return fields.each(rules.value, read) or ()


def _rule(relation: Relation) -> dict[str, Json]:
    rule: dict[str, Json] = {"type": relation.kind.value, "skill": relation.skill}
    return rule if relation.reason is None else {**rule, "reason": relation.reason}


_READERS = {
    Spelling.TIERS: _read_tiers,
    Spelling.DEFINITION: _read_definition,
    Spelling.NATIVE: read_native,
    Spelling.FRONT_MATTER: read_front_fields,
}
