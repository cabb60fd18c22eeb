from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def untidy(tmp_path: Path, write: Any) -> Path:
    write(tmp_path, "good", "A good one.")
    write(tmp_path, "tools", "Tools in a list.", "allowed-tools: [Read, Grep]")
    write(tmp_path, "patterns", "A pattern that cannot work.", "triggers: {patterns: ['a(?=b)']}")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "SKILL.md").write_text("no front matter", encoding="utf-8")
    return tmp_path


def test_the_json_has_counts_and_diagnostics(cli: Any, untidy: Path) -> None:
    answer = cli("check", "--skills", untidy, "--json").data
    assert answer.keys() == {"loaded", "skipped", "repaired", "host_keys", "diagnostics", "fixed"}
    assert (answer["loaded"], answer["skipped"], answer["repaired"]) == (3, 1, 1)
    for found in answer["diagnostics"]:
        assert found.keys() == {"code", "severity", "skill", "path", "line", "message", "fix"}


def test_triggers_that_cannot_work_are_found(cli: Any, untidy: Path) -> None:
    answer = cli("check", "--skills", untidy, "--json").data
    assert "broken-pattern" in [found["code"] for found in answer["diagnostics"]]


def test_an_error_gives_exit_code_1_with_the_json_on_stdout(cli: Any, untidy: Path) -> None:
    assert cli("check", "--skills", untidy, "--json").code == 1


def test_tidy_skills_pass(cli: Any, examples: Path) -> None:
    done = cli("check", "--skills", examples)
    assert (done.code, done.err) == (0, "")
    assert done.out == "22 skills loaded, 0 skipped, 0 repaired: nothing is wrong.\n"


def test_a_warning_does_not_fail(cli: Any, tmp_path: Path, write: Any) -> None:
    write(tmp_path, "tools", "Tools in a list.", "allowed-tools: [Read, Grep]")
    assert cli("check", "--skills", tmp_path).code == 0


def test_people_read_one_line_for_each_finding(cli: Any, untidy: Path) -> None:
    text = cli("check", "--skills", untidy).out
    (line,) = (line for line in text.splitlines() if "frontmatter-missing" in line)
    assert "bad/SKILL.md" in line
    assert ": error: " in line
    assert text.splitlines()[-1].startswith("3 skills loaded, 1 skipped, 1 repaired: ")


def test_strict_skips_what_the_open_format_does_not_allow(cli: Any, untidy: Path) -> None:
    answer = cli("check", "--skills", untidy, "--strict", "--json").data
    assert (answer["loaded"], answer["skipped"]) == (1, 3)


def test_an_empty_folder_is_a_warning(cli: Any, tmp_path: Path) -> None:
    done = cli("check", "--skills", tmp_path, "--json")
    assert done.code == 0
    assert [found["code"] for found in done.data["diagnostics"]] == ["no-skills"]


def test_every_real_skill_is_counted_once(cli: Any, skills_sample: Path) -> None:
    answer = cli("check", "--skills", skills_sample, "--json").data
    assert (answer["loaded"], answer["skipped"]) == (841, 0)


def test_a_broken_output_contract_is_found(cli: Any, tmp_path: Path, write: Any) -> None:
    contract = "x-skillweave: {output_contract: {type: report, schema: {type: objekt}}}"
    path = write(tmp_path, "tea", "Makes tea.", contract)
    done = cli("check", "--skills", tmp_path, "--json")
    (found,) = done.data["diagnostics"]
    assert (done.code, found["code"], found["skill"], found["path"]) == (1, "schema-invalid", "tea", str(path))
    assert done.data["skipped"] == 0


@pytest.mark.parametrize("named", ["", "tea", "tea/SKILL.md"])
def test_a_folder_or_a_file_is_named_without_an_option(cli: Any, tmp_path: Path, write: Any, named: str) -> None:
    write(tmp_path, "tea", "Makes tea.")
    assert cli("check", tmp_path / named).out.splitlines()[-1].startswith("1 skill loaded, 0 skipped")


def test_several_paths_and_skills_beside_them_are_all_looked_at(cli: Any, tmp_path: Path, write: Any) -> None:
    for name in ("tea", "milk", "water"):
        write(tmp_path, name, f"Makes {name}.")
    done = cli("check", tmp_path / "tea", tmp_path / "milk", "--skills", tmp_path / "water", "--json")
    assert done.data["loaded"] == 3


def test_a_path_goes_before_the_configured_skills(cli: Any, tmp_path: Path, write: Any, monkeypatch: Any) -> None:
    write(tmp_path / "one", "tea", "Makes tea.")
    write(tmp_path / "two", "milk", "Warms milk.")
    (tmp_path / "skillweave.toml").write_text('skills = ["one"]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert cli("check", "two", "--json").data["loaded"] == 1
    assert "SKILL.md" not in cli("check", "two").out


@pytest.fixture
def installed(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as another tool installs skills: the files in .agents/skills, links to them in .claude/skills."""
    (tmp_path / ".git").mkdir()
    write(tmp_path / ".agents" / "skills", "tea", "Makes tea.")
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / ".claude" / "skills" / "tea").symlink_to("../../.agents/skills/tea")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_other_tools_installed_is_taken_once_and_named(cli: Any, installed: Path) -> None:
    done = cli("check")
    assert done.out == "1 skill loaded, 0 skipped, 0 repaired: nothing is wrong.\n"
    assert done.err == "skillweave: using the skills of .agents/skills and .claude/skills; --skills names others\n"


def test_links_into_the_same_repository_load(cli: Any, installed: Path) -> None:
    assert cli("check", ".claude/skills", "--json").data["loaded"] == 1
