"""Seed 002's SkillDefinition: tool permissions, an execution protocol, and rules about other skills."""

from collections.abc import Mapping

from skillweave.formats import codes
from skillweave.formats.digest import digest_of
from skillweave.formats.draft import Draft, call, report_missing, stated_name, take_description
from skillweave.formats.extension import EXTENSION, extension_id, fill_extension, leftovers
from skillweave.formats.fields import Fields
from skillweave.formats.findings import Findings, SkillRead, require_skill
from skillweave.formats.native_write import contract_to_dict, relation_to_dict
from skillweave.formats.parts import each, read_limits, read_output_contract, read_relation
from skillweave.skill import Json, Relation, RelationKind, RuleList, Skill, SkillText, ToolRules

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
_PLACED = frozenset(("version", "tools", "relations"))
_PLACED_TEXT = frozenset(("steps", "requirements", "postconditions", "output_contract"))


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
    extension = _extension(skill)
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


def _extension(skill: Skill) -> dict[str, Json]:
    """The leftovers; relations stand there too, whole, where the two lists would lose one or their order."""
    extension = leftovers(skill, placed=_PLACED, placed_text=_PLACED_TEXT)
    if skill.tools is not None and skill.tools.preapproved:
        extension["tools"] = {"preapproved": list(skill.tools.preapproved)}
    elif skill.tools == ToolRules():
        extension["tools"] = {}
    in_lists = tuple(relation for rules in RuleList for relation in _in_place(skill.relations, rules))
    if in_lists != skill.relations:
        extension["relations"] = [relation_to_dict(relation) for relation in skill.relations]
    return extension
