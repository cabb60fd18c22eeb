from pathlib import Path

import pytest

from skillweave.cli import Mistake, load_snapshot, named_skills


def test_what_is_named_is_taken_in_its_order() -> None:
    assert named_skills(["b", "a.yaml"]) == ("b", "a.yaml")


def test_the_folder_skills_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skills").mkdir()
    monkeypatch.chdir(tmp_path)
    assert named_skills(None) == ("skills",)


def test_without_it_the_option_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Mistake, match=r"there is no folder \./skills; add --skills DIR, the folder"):
        named_skills(None)


def test_a_conventional_folder_is_proposed_but_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Mistake, match=r"add --skills \.claude/skills$"):
        named_skills(None)


def test_the_first_named_source_wins_a_clash(tmp_path: Path) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "SKILL.md").write_text(f"---\nname: tea\ndescription: {place}\n---\n", encoding="utf-8")
    snapshot = load_snapshot([str(tmp_path / "one"), str(tmp_path / "two")], strict=False)
    assert snapshot["tea"].description == "one"
    assert [skill.description for skill in snapshot.shadowed] == ["two"]
