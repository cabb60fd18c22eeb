from typing import Any

import pytest

from skillweave import Diagnostic, Skill, SkillweaveError
from skillweave.contracts import keywords
from skillweave.contracts.output import check_contracts
from skillweave.errors import MissingExtra
from skillweave.frozen import freeze_mapping
from skillweave.skills import Origin, OutputContract, SkillText
from skillweave.tools import OutputMismatch, check_output, require_output

FINDING = {"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["pass", "fail"]}}}


def promising(schema: dict[str, Any] | None, skill_id: str = "spacing") -> Skill:
    contract = OutputContract("finding", None if schema is None else freeze_mapping(schema))
    text = SkillText(output_contract=contract)
    return Skill(skill_id, skill_id, "x", text=text, origin=Origin("skills", f"skills/{skill_id}/SKILL.md"))


def codes(found: tuple[Diagnostic, ...]) -> list[str]:
    return [finding.code for finding in found]


@pytest.mark.parametrize(
    "output",
    [
        {"verdict": "pass"},
        '{"verdict": "fail"}',
        'I looked at it.\n```json\n{"verdict": "pass"}\n```\n',
    ],
)
def test_what_keeps_the_contract_gives_nothing(output: object) -> None:
    assert check_output(promising(FINDING), output) == ()


def test_what_breaks_the_contract_is_told_with_skill_place_rule_and_fix() -> None:
    (found,) = check_output(promising(FINDING), '```json\n{"verdict": "maybe"}\n```')
    assert str(found) == (
        'output#/verdict: error: "maybe" is none of the allowed values [schema-mismatch]. give one of ["pass", "fail"]'
    )
    assert found.skill == "spacing"


@pytest.mark.parametrize("skill", [Skill("a", "a", "x"), promising(None)])
@pytest.mark.parametrize("output", ["anything", b"at all", {"verdict": 1}])
def test_who_promises_nothing_breaks_nothing(skill: Skill, output: object) -> None:
    assert check_output(skill, output) == ()
    assert require_output(skill, output) is output


def test_text_for_an_object_is_one_finding() -> None:
    (found,) = check_output(promising(FINDING), "It passes.")
    assert str(found) == (
        "output#: error: the text is not JSON: Expecting value in line 1, column 1 [not-json]. "
        "answer with JSON alone, or put it into a ```json block"
    )


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "42", "42"),
        ({"type": "string"}, "plain words", "plain words"),
        ({"type": "string"}, '"quoted"', "quoted"),
        ({"type": ["string", "null"]}, "plain words", "plain words"),
        ({"type": ["string", "null"]}, "null", None),
        ({"enum": ["true", 1]}, "true", "true"),
        ({"enum": ["yes", "no"]}, "yes", "yes"),
        ({"const": "yes"}, "yes", "yes"),
        ({"const": "yes"}, '"yes"', "yes"),
        ({}, "[1]", [1]),
    ],
)
def test_text_is_what_the_schema_asks_for(schema: dict[str, Any], text: str, value: object) -> None:
    assert require_output(promising(schema), text) == value


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"required": ["a"]}, "no JSON, and the schema does not say `type`"),
        ({"required": ["a"]}, '{"b": 1}'),
        ({"type": ["object", "string"], "required": ["a"]}, '{"b": 1}'),
        ({"type": "string", "maxLength": 2}, "long"),
        ({"enum": ["yes"]}, "perhaps"),
        ({}, "no JSON"),
        ({"type": "object"}, "3"),
    ],
)
def test_no_text_slips_through_for_being_text(schema: dict[str, Any], text: str) -> None:
    assert check_output(promising(schema), text) != ()


def test_a_warning_does_not_make_an_output_wrong() -> None:
    skill, output = promising(FINDING), '{"verdict": "pass", "verdict": "fail"}'
    assert codes(check_output(skill, output)) == ["duplicate-key"]
    assert require_output(skill, output) == {"verdict": "pass"}


def test_a_required_output_that_is_wrong_is_an_error_with_all_findings() -> None:
    skill = promising({"required": ["a"], "properties": {"b": {"type": "null"}}})
    with pytest.raises(OutputMismatch) as raised:
        require_output(skill, {"b": 1})
    assert isinstance(raised.value, SkillweaveError)
    assert (raised.value.skill, len(raised.value.diagnostics)) == ("spacing", 2)
    assert str(raised.value) == (
        "the output of skill 'spacing' breaks its contract: output#: error: it lacks what the schema requires: \"a\" "
        "[schema-mismatch]. add it (and 1 more)"
    )


def test_a_broken_schema_is_a_finding_about_the_skill() -> None:
    skill = promising({"properties": {"a": {"type": "strng"}}})
    (found,) = check_output(skill, {})
    assert (found.code, found.skill, str(found.location)) == ("schema-invalid", "spacing", "skills/spacing/SKILL.md")
    assert found.message.startswith("`output_contract.schema#/properties/a/type`: the schema breaks the rules")
    with pytest.raises(OutputMismatch):
        require_output(skill, {})


def test_all_broken_schemas_are_found_before_any_output() -> None:
    skills = [
        promising(FINDING, "good"),
        promising({"pattern": "(?=x)"}, "look-ahead"),
        Skill("none", "none", "x"),
        promising({"$ref": "https://example.org"}, "far"),
    ]
    found = check_contracts(skills)
    assert [(finding.skill, finding.code) for finding in found] == [
        ("look-ahead", "schema-pattern"),
        ("far", "schema-reference"),
    ]


def test_without_the_package_schemas_are_not_looked_at_until_an_output_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jsonschema", None)
    keywords.checker_for.cache_clear()
    skill = promising({"title": "seen by no other test"})
    assert check_contracts([skill]) == ()
    with pytest.raises(MissingExtra):
        check_output(skill, {})
