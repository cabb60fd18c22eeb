"""Seed 002's SkillDefinition."""

import pytest

from skillweave import Skill, ToolRules
from skillweave.errors import InvalidSkill
from skillweave.formats.identity import digest_of
from skillweave.skills import OutputContract, Relation, RelationKind, RuleList, from_definition, to_definition

SEED = {
    "name": "opencode-implementer",
    "description": "Executes code implementation based on specifications",
    "version": "1.0.0",
    "allowed_tools": ["opencode-executor"],
    "forbidden_tools": ["write", "edit"],
    "execution_protocol": ["read-spec", "implement", "verify"],
    "preconditions": ["A specification is there"],
    "postconditions": ["Tests pass"],
    "output_contract": {"type": "patch", "schema": {"type": "object", "maxProperties": 2}},
    "compatibility_rules": [{"type": "incompatible", "skill": "prototype", "reason": "One of the two"}],
    "composability_rules": [
        {"type": "requires", "skill": "specification-engine", "reason": "Implementation requires a spec"},
        {"type": "forbids", "skill": "reviewer"},
    ],
}


def test_every_field_of_a_definition_is_read() -> None:
    skill = from_definition(SEED)

    assert (skill.id, skill.name, skill.version) == ("opencode-implementer", "Opencode Implementer", "1.0.0")
    assert skill.tools == ToolRules(("opencode-executor",), ("write", "edit"))
    assert skill.text.steps == ("read-spec", "implement", "verify")
    assert skill.text.requirements == ("A specification is there",)
    assert skill.text.postconditions == ("Tests pass",)
    assert skill.text.output_contract == OutputContract("patch", {"type": "object", "maxProperties": 2})
    assert skill.relations == (
        Relation(RelationKind.INCOMPATIBLE, "prototype", "One of the two", RuleList.COMPATIBILITY),
        Relation(RelationKind.REQUIRES, "specification-engine", "Implementation requires a spec"),
        Relation(RelationKind.FORBIDS, "reviewer"),
    )
    assert skill.digest == digest_of(SEED)


def test_a_definition_is_written_as_it_was_read() -> None:
    assert to_definition(from_definition(SEED)) == SEED


def test_all_missing_fields_are_named_at_once() -> None:
    with pytest.raises(InvalidSkill) as caught:
        from_definition({"version": "1"})

    for field in ("`name`", "`description`", "`allowed_tools`", "`execution_protocol`"):
        assert field in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["name", "description", "allowed_tools", "execution_protocol"])
def test_each_of_the_four_required_fields_is_required(field: str) -> None:
    with pytest.raises(InvalidSkill, match=f"`{field}` is missing"):
        from_definition({key: value for key, value in SEED.items() if key != field})


def test_an_empty_list_of_allowed_tools_is_zero_capability_and_null_says_nothing() -> None:
    assert from_definition({**SEED, "allowed_tools": [], "forbidden_tools": []}).tools == ToolRules(allowed=())
    assert from_definition({**SEED, "allowed_tools": None, "forbidden_tools": []}).tools is None


def test_a_rule_in_the_wrong_list_is_an_error() -> None:
    with pytest.raises(InvalidSkill, match="compatibility_rules"):
        from_definition({**SEED, "compatibility_rules": [{"type": "forbids", "skill": "a"}]})


def test_a_value_of_the_wrong_type_is_an_error() -> None:
    with pytest.raises(InvalidSkill, match="`execution_protocol`"):
        from_definition({**SEED, "execution_protocol": 3})


def test_relations_that_the_two_lists_would_reorder_keep_their_order() -> None:
    relations = (
        Relation(RelationKind.FORBIDS, "a"),
        Relation(RelationKind.REQUIRES, "b", None, RuleList.COMPATIBILITY),
    )
    definition = to_definition(Skill(id="jam", name="Jam", description="Labels jars", relations=relations))

    assert definition["composability_rules"] == [{"type": "forbids", "skill": "a"}]
    assert from_definition(definition).relations == relations


def test_unknown_keys_are_kept() -> None:
    assert from_definition({**SEED, "owner": {"team": [1, True]}}).extra == {"owner": {"team": (1, True)}}
