from pathlib import Path

import pytest

from skillweave.cli.arguments.skills import named_skills
from skillweave.cli.failure import Mistake
from skillweave.cli.options import Loading


def test_what_is_named_is_taken_in_its_order() -> None:
    assert named_skills(["b", "a.yaml"]) == ("b", "a.yaml")


def test_the_folder_skills_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skills").mkdir()
    monkeypatch.chdir(tmp_path)
    assert named_skills(None) == ("skills",)


def test_without_it_the_option_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Mistake, match=r"none are in \./skills, .*; add --skills DIR, the folder"):
        named_skills(None)


def test_the_folders_of_other_clients_are_proposed_but_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".cursor" / "skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Mistake, match=r"add --skills \.cursor/skills$"):
        named_skills(None)


def test_the_projects_folders_are_taken_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("skills", ".agents/skills", ".claude/skills"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert named_skills(None) == ("skills", ".agents/skills", ".claude/skills")


def test_the_users_folders_are_taken_where_the_project_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(tmp_path / "project")
    assert named_skills(None) == (str(home / ".claude" / "skills"),)
    (tmp_path / "project" / "skills").mkdir()
    assert named_skills(None) == ("skills",)


def test_one_folder_under_two_names_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skills").mkdir()
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "skills").symlink_to("../skills")
    monkeypatch.chdir(tmp_path)
    assert named_skills(None) == ("skills",)


def test_a_folder_that_is_a_link_out_of_the_project_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    (tmp_path / "project" / ".claude" / "skills").symlink_to(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path / "project")
    with pytest.raises(Mistake, match="none are in"):
        named_skills(None)


def test_the_first_named_source_wins_a_clash(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "SKILL.md").write_text(f"---\nname: tea\ndescription: {place}\n---\n", encoding="utf-8")
    snapshot = Loading([str(tmp_path / "one"), str(tmp_path / "two")]).snapshot()
    assert snapshot["tea"].description == "one"
    assert [skill.description for skill in snapshot.shadowed] == ["two"]
