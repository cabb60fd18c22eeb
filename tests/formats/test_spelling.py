"""Which spelling a mapping is in."""

import pytest

from skillweave.formats.native import Spelling
from skillweave.formats.spelling import read_any, spelling_of
from skillweave.frontmatter.documents import read_yaml


@pytest.mark.parametrize(
    ("mapping", "spelling"),
    [
        ({"tier1_manifest": {}}, Spelling.TIERS),
        ({"skill_id": "a", "name": "A"}, Spelling.TIERS),
        ({"id": "a", "steps": []}, Spelling.NATIVE),
        ({"name": "a", "allowed_tools": []}, Spelling.DEFINITION),
        ({"name": "a", "composability_rules": []}, Spelling.DEFINITION),
        ({"name": "a", "allowed-tools": "Read"}, Spelling.FRONT_MATTER),
        ({"name": "a"}, Spelling.FRONT_MATTER),
        ({}, Spelling.FRONT_MATTER),
    ],
)
def test_telling_keys_decide(mapping: dict[str, object], spelling: Spelling) -> None:
    assert spelling_of(mapping) is spelling


@pytest.mark.parametrize("key", ["instructions", "body"])
def test_a_mapping_with_the_keys_of_front_matter_has_its_body_under_a_key(key: str) -> None:
    mapping = {"name": "jam", "description": "Labels jars", "allowed-tools": "Read", key: "Count."}

    skill = read_any(mapping, path="p", source="s").skill

    assert skill is not None
    assert (skill.id, skill.text.instructions) == ("jam", "Count.")


def test_a_mistake_in_a_pack_is_reported_at_its_line() -> None:
    pack = read_yaml("pack: {id: p}\nskills:\n- id: jam\n  description: a\n  status: asleep\n", path="pack.yaml")
    assert pack.data is not None
    entries = pack.data["skills"]
    assert isinstance(entries, list)
    assert isinstance(entries[0], dict)

    read = read_any(entries[0], path="pack.yaml", source="p", lines=pack.lines, at=("skills", 0))

    assert read.skill is not None
    assert [(found.code, str(found.location)) for found in read.diagnostics] == [("bad-value", "pack.yaml:5")]
    assert "`skills[0].status`" in read.diagnostics[0].message


def test_a_required_field_that_is_missing_is_a_diagnostic_and_no_exception() -> None:
    read = read_any({"name": "a", "allowed_tools": []}, path="p", source="s")

    assert read.skill is None
    assert [found.code for found in read.diagnostics] == ["field-missing", "field-missing"]


def test_unquoted_numbers_of_a_pack_stay_text_but_in_a_schema() -> None:
    text = "id: jam\ndescription: 1.10\nversion: 1.10\noutput_contract: {type: t, schema: {maxItems: 3, a: '3'}}\n"
    document = read_yaml(text, path="p")
    assert document.data is not None

    skill = read_any(document.data, path="p", source="s").skill

    assert skill is not None
    assert (skill.description, skill.version) == ("1.10", "1.10")
    assert skill.text.output_contract is not None
    assert skill.text.output_contract.schema == {"maxItems": 3, "a": "3"}


@pytest.mark.parametrize("value", [{1}, float("nan"), "\ud800", object()])
def test_what_is_no_json_data_is_a_diagnostic(value: object) -> None:
    read = read_any({"id": "jam", "description": "a", "x": value}, path="p", source="s")

    assert read.skill is None
    assert [found.code for found in read.diagnostics] == ["bad-value"]
