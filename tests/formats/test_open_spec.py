"""Strict mode accepts exactly what the open specification accepts."""

from pathlib import Path

import pytest
from skills_ref.validator import validate

from skillweave.formats.fields import SkillRead
from skillweave.formats.skill_md import read_skill_md
from skillweave.skills import Strictness


def read(fields: str, folder: str = "jam") -> SkillRead:
    return read_skill_md(
        f"---\n{fields}---\nBody\n".encode(), path="p", folder=folder, source="s", strictness=Strictness.STRICT
    )


def codes(fields: str, folder: str = "jam") -> list[str]:
    return [found.code for found in read(fields, folder).diagnostics]


@pytest.mark.parametrize("name", ["a", "jam-2", "gelée", "果酱", "a" * 64, "1"])
def test_a_lowercase_name_of_letters_digits_and_hyphens_is_accepted(name: str) -> None:
    assert read(f"name: {name}\ndescription: a\n", name).skill is not None


@pytest.mark.parametrize(
    "name", ["Jam", "-jam", "jam-", "jam--jar", "jam_jar", "jam jar", "jam.jar", "a" * 65, "GELÉE"]
)
def test_other_names_are_refused(name: str) -> None:
    assert codes(f"name: {name}\ndescription: a\n", name) == ["spec-name"]


def test_the_name_is_the_folders() -> None:
    assert codes("name: jam\ndescription: a\n", "jar") == ["spec-name"]
    assert codes("description: a\n") == ["spec-name"]


def test_names_are_compared_after_nfkc() -> None:
    assert read("name: gele\u0301e\ndescription: a\n", "gel\u00e9e").skill is not None


@pytest.mark.parametrize(("count", "accepted"), [(1, True), (1024, True), (1025, False)])
def test_a_description_has_1_to_1024_characters(count: int, accepted: bool) -> None:
    assert (read(f"name: jam\ndescription: {'é' * count}\n").skill is not None) is accepted


@pytest.mark.parametrize("description", ["", "description:\n", "description: ' '\n", "description: [a]\n"])
def test_a_description_is_required(description: str) -> None:
    assert codes(f"name: jam\n{description}") == ["spec-value"]


@pytest.mark.parametrize(
    ("field", "accepted"),
    [
        ("license: MIT", True),
        ("license: [MIT]", False),
        ("compatibility: " + "a" * 500, True),
        ("compatibility: " + "a" * 501, False),
        ("compatibility: ''", False),
        ("compatibility: {a: b}", False),
        ("metadata: {version: '1.0', beta: no}", True),
        ("metadata: {tags: [a]}", False),
        ("metadata: {a: {b: c}}", False),
        ("metadata: pantry", False),
        ("allowed-tools: Read Bash(git:*)", True),
        ("allowed-tools: Read, Write", True),
        ("allowed-tools: [Read]", False),
        ("version: '1.0'", False),
        ("triggers: [a]", False),
        ("x-skillweave: {}", False),
    ],
)
def test_the_other_fields_are_texts_of_their_lengths_and_no_field_is_added(field: str, accepted: bool) -> None:
    result = read(f"name: jam\ndescription: a\n{field}\n")

    assert (result.skill is not None) is accepted
    assert all(found.location and found.location.line == 4 for found in result.diagnostics if not accepted)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf---\nname: jam\ndescription: a\n---\n",
        b"\n---\nname: jam\ndescription: a\n---\n",
        b"---\nname: jam\ndescription: a: b\n---\n",
        b"---\nname: jam\ndescription: a\ndescription: b\n---\n",
    ],
)
def test_what_needs_a_repair_is_refused(data: bytes) -> None:
    read = read_skill_md(data, path="p", folder="jam", source="s", strictness=Strictness.STRICT)

    assert read.skill is None
    assert read.diagnostics


@pytest.mark.parametrize(
    "data", [b"---\r\nname: jam\r\ndescription: a\r\n---\r\n", b"---\n{name: jam, description: a --- b}\n---"]
)
def test_line_ends_and_yaml_styles_are_free(data: bytes) -> None:
    assert read_skill_md(data, path="p", folder="jam", source="s", strictness=Strictness.STRICT).skill is not None


AGREED = {
    "six fields": "name: jam\ndescription: a\nlicense: b\ncompatibility: c\nallowed-tools: d\nmetadata:\n  e: 1.0\n",
    "quoted and folded": "name: 'jam'\ndescription: >\n  a\n  b\n",
    "upper case": "name: Jam\ndescription: a\n",
    "no description": "name: jam\n",
    "long description": f"name: jam\ndescription: {'a' * 1025}\n",
    "seventh field": "name: jam\ndescription: a\nversion: b\n",
    "duplicate key": "name: jam\ndescription: a\ndescription: b\n",
    "unquoted colon": "name: jam\ndescription: a: b\n",
    "alias": "name: jam\ndescription: &a b\nlicense: *a\n",
}
DIFFERENT = {
    "it cuts at dashes inside a value, and misses the name behind": ("description: a --- b\nname: jam\n", True),
    "its YAML has no flow style": ("name: jam\ndescription: a\nmetadata: {b: c}\n", True),
    "it does not look into metadata": ("name: jam\ndescription: a\nmetadata:\n  b:\n  - c\n", False),
    "it takes a list of tools": ("name: jam\ndescription: a\nallowed-tools:\n- b\n", False),
    "it takes an empty compatibility": ("name: jam\ndescription: a\ncompatibility: ''\n", False),
    "it takes any value as a licence": ("name: jam\ndescription: a\nlicense:\n- b\n", False),
}


def _official(fields: str, tmp_path: Path) -> bool:
    folder = tmp_path / "jam"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\n{fields}---\nBody\n", encoding="utf-8")
    return not validate(folder)


@pytest.mark.parametrize("case", AGREED)
def test_the_official_validator_agrees(case: str, tmp_path: Path) -> None:
    assert (read(AGREED[case]).skill is not None) is _official(AGREED[case], tmp_path)


@pytest.mark.parametrize("case", DIFFERENT)
def test_where_the_official_validator_differs_the_specification_is_followed(case: str, tmp_path: Path) -> None:
    fields, accepted = DIFFERENT[case]

    assert (read(fields).skill is not None) is accepted
    assert _official(fields, tmp_path) is not accepted
