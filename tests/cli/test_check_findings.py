"""What `check` looks at beside what loading finds: each finding has a code, a place with its line, and a fix."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def found(cli: Any, tmp_path: Path) -> Any:
    """The findings about the skills in `tmp_path`: code, severity, file below it, line."""

    def checked() -> list[tuple[str, str, str, int | None]]:
        diagnostics = cli("check", tmp_path, "--json").data["diagnostics"]
        assert all(one["message"] and one["fix"] for one in diagnostics)
        return [
            (one["code"], one["severity"], str(Path(one["path"]).relative_to(tmp_path)), one["line"])
            for one in diagnostics
        ]

    return checked


def test_a_broken_pattern_has_its_line(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", "triggers:\n  keywords: [tea]\n  patterns:\n    - 'te+a'\n    - 'a(?=b)'")
    assert found() == [("broken-pattern", "error", "tea/SKILL.md", 8)]


def test_an_empty_keyword_has_its_line(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", f"triggers:\n  keywords:\n    - tea\n    - {'x' * 501}")
    assert found() == [("long-keyword", "error", "tea/SKILL.md", 7)]


def test_a_broken_contract_has_its_line(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Tea.", "x-skillweave:\n  output_contract: {type: report, schema: {type: objekt}}")
    assert found() == [("schema-invalid", "error", "tea/SKILL.md", 5)]


def test_a_skill_without_instructions_is_found(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", body="")
    assert found() == [("empty-text", "warning", "tea/SKILL.md", None)]


def test_a_skill_whose_instructions_stand_under_the_extension_is_not_empty(
    found: Any, tmp_path: Path, write: Any
) -> None:
    write(tmp_path, "tea", "Makes tea.", "x-skillweave: {text: {steps: [Boil water.]}}", body="")
    assert found() == []


def test_a_skill_that_is_there_for_its_rules_needs_no_text(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", "x-skillweave: {tools: {forbidden: [oven]}}", body="")
    assert found() == []


def test_files_that_are_named_and_not_there_are_one_finding_with_the_line_of_the_first(
    found: Any, tmp_path: Path, write: Any
) -> None:
    body = "Do it.\n\nSee [more](references/more.md), `scripts/run.py` and references/there.md.\nAnd assets/a.png."
    write(tmp_path, "tea", "Makes tea.", body=body)
    (tmp_path / "tea" / "references").mkdir()
    (tmp_path / "tea" / "references" / "there.md").write_text("There.", encoding="utf-8")
    assert found() == [("dead-link", "warning", "tea/SKILL.md", 9)]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/references/a.md",
        "other/references/a.md",
        "references/<name>.md",
        "references/*.md",
        "the scripts/ folder",
        "$HOME/scripts/run.sh",
    ],
)
def test_what_names_no_file_of_the_skill_is_no_dead_link(found: Any, tmp_path: Path, write: Any, text: str) -> None:
    write(tmp_path, "tea", "Makes tea.", body=f"See {text} for more.")
    assert found() == []


@pytest.mark.parametrize(
    ("description", "body", "line"),
    [
        ("Replace with description of the skill.", "Boil.", 3),
        ("Makes tea.", "# Insert instructions below", 7),
        ("Makes tea.", "# Tea\n\nSay in two sentences what is done here and what a good result is.", 9),
    ],
)
def test_a_template_that_nobody_filled_in_is_noted(
    found: Any, tmp_path: Path, write: Any, description: str, body: str, line: int
) -> None:
    write(tmp_path, "tea", description, body=body)
    assert found() == [("unedited-template", "info", "tea/SKILL.md", line)]


def test_a_required_skill_that_is_not_there_is_found_with_the_nearest(
    cli: Any, found: Any, tmp_path: Path, write: Any
) -> None:
    write(tmp_path, "tea", "Tea.", "x-skillweave:\n  relations:\n    - {kind: requires, skill: kettel}")
    write(tmp_path, "kettle", "Boils water.")
    assert found() == [("required-missing", "warning", "tea/SKILL.md", 6)]
    assert "did you mean 'kettle'?" in cli("check", tmp_path).out


def test_a_skill_that_is_required_and_excluded_at_once_is_an_error(found: Any, tmp_path: Path, write: Any) -> None:
    relations = "- {kind: requires, skill: kettle}\n    - {kind: incompatible, skill: kettle}"
    write(tmp_path, "tea", "Tea.", f"x-skillweave:\n  relations:\n    {relations}")
    write(tmp_path, "kettle", "Boils water.")
    assert found() == [("required-excluded", "error", "tea/SKILL.md", 7)]


def test_a_misspelled_key_is_found(found: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tea", "Makes tea.", "alowed-tools: Read")
    assert found() == [("misspelled-key", "warning", "tea/SKILL.md", 4)]


def test_a_finding_about_a_skill_of_a_pack_names_the_pack(cli: Any, tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("pack: {name: p}\nskills: [{id: a, description: First., instructions: ' '}]\n", encoding="utf-8")
    assert f"{pack}: warning: skill 'a' has no instructions [empty-text]" in cli("check", pack).out


def test_real_skills_are_not_shouted_at(cli: Any, skills_sample: Path) -> None:
    """The sample has no files beside each SKILL.md, so that every link to one is dead there."""
    codes = [one["code"] for one in cli("check", skills_sample, "--json").data["diagnostics"]]
    new = {"misspelled-key": 0, "misplaced-key": 3, "empty-text": 0, "unedited-template": 0}
    assert {code: codes.count(code) for code in new} == new
