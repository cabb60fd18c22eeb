"""Keys at the top of front matter that mean nothing and look like ones that do."""

import pytest

from skillweave.formats.fields import SkillRead
from skillweave.formats.skill_md import read_skill_md

NEAR = {
    "alowed-tools": "allowed-tools",
    "allowed_tools": "allowed-tools",
    "Allowed Tools": "allowed-tools",
    "descripton": "description",
    "trigger": "triggers",
    "licence": "license",
    "domain-tags": "domain_tags",
    "disable-model-invokation": "disable-model-invocation",
    "x-skilweave": "x-skillweave",
}


def read(fields: str) -> SkillRead:
    text = f"---\nname: tea\n{fields}\n---\n\nBoil.\n"
    return read_skill_md(text.encode(), path="tea/SKILL.md", folder="tea", source="test")


def found_in(fields: str) -> list[tuple[str, int | None, str]]:
    return [(found.code, found.line, found.fix) for found in read(f"description: Makes tea.\n{fields}").diagnostics]


@pytest.mark.parametrize(("key", "meant"), [(key, meant) for key, meant in NEAR.items() if meant != "description"])
def test_a_misspelled_key_is_told_with_the_one_that_was_meant(key: str, meant: str) -> None:
    assert found_in(f"{key}: Read") == [("misspelled-key", 4, f"write `{meant}`")]


def test_a_misspelled_description_is_told_beside_the_missing_one() -> None:
    outcome = read("descripton: Makes tea.")
    assert outcome.skill is None
    assert [(found.code, found.line) for found in outcome.diagnostics] == [
        ("field-missing", 1),
        ("misspelled-key", 3),
    ]


@pytest.mark.parametrize("key", ["tools", "checkpoints", "checkpoint", "requires", "relations", "output_contract"])
def test_a_key_that_belongs_under_the_extension_is_told_with_how_it_is_written(key: str) -> None:
    ((code, line, fix),) = found_in(f"{key}: [a]")
    assert (code, line) == ("misplaced-key", 4)
    assert "`x-skillweave: {" in fix


@pytest.mark.parametrize(
    "key", ["author", "tags", "model", "argument-hint", "dependencies", "category", "user_invocable", "when-to-use"]
)
def test_keys_of_others_are_left_alone(key: str) -> None:
    assert found_in(f"{key}: 'true'") == []


def test_a_key_that_is_there_beside_the_right_one_is_nobodys_slip() -> None:
    assert found_in("description_de: Macht Tee.") == []


def test_the_value_of_a_misspelled_key_is_kept() -> None:
    skill = read("description: Makes tea.\nalowed-tools: Read").skill
    assert skill is not None
    assert skill.extra == {"alowed-tools": "Read"}
