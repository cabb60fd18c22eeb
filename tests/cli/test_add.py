"""`skillweave add`, `list` and `remove`."""

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def theirs(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two skills of somebody else, and an empty project as the current folder."""
    write(tmp_path / "theirs", "tea", "Makes tea.", "metadata: {version: '1.2'}")
    write(tmp_path / "theirs", "milk", "Warms milk.")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "theirs"


def test_an_added_skill_is_used_from_then_on(cli: Any, theirs: Path) -> None:
    done = cli("add", theirs / "tea", "--json")
    assert (done.code, [(one["skill_id"], one["change"]) for one in done.data["skills"]]) == (0, [("tea", "new")])
    assert cli("show", "tea", "--json").data["skill"]["id"] == "tea"


def test_people_are_told_where_it_came_from_and_to_read_it(cli: Any, theirs: Path) -> None:
    out = cli("add", theirs / "tea").out
    assert " ".join(out.split()).startswith(f"new tea, version 1.2, 1 file from {theirs / 'tea'}")
    assert out.endswith("Read what you added before an agent does:\n  skillweave check skills\n")


def test_of_several_skills_one_is_named_or_all_are(cli: Any, theirs: Path) -> None:
    done = cli("add", theirs)
    assert done.code == 1
    assert "the source has 2 skills: milk, tea; name some with --skill, or add --all-skills" in done.err
    assert not Path("skills").exists()
    assert cli("add", theirs, "--skill", "tea").code == 0
    assert [one["change"] for one in cli("add", theirs, "--all-skills", "--json").data["skills"]] == [
        "new",
        "unchanged",
    ]


def test_all_and_some_at_once_is_a_mistake(cli: Any, theirs: Path) -> None:
    assert "leave out one of the two" in cli("add", theirs, "--all-skills", "--skill", "tea").err


def test_an_archive_goes_into_another_folder(cli: Any, theirs: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "gztar", theirs)
    assert cli("add", archive, "--all-skills", "--in", ".claude/skills").code == 0
    done = cli("add", "--in", ".claude/skills", "--json")
    assert [(one["skill_id"], one["condition"]) for one in done.data["skills"]] == [
        ("milk", "unchanged"),
        ("tea", "unchanged"),
    ]


def test_what_was_edited_is_listed_and_not_lost(cli: Any, theirs: Path) -> None:
    cli("add", theirs / "tea")
    Path("skills/tea/notes.md").write_text("mine", encoding="utf-8")
    assert "edited" in cli("add").out
    assert "notes.md" in cli("add").out
    for words in (("add", theirs / "tea"), ("remove", "tea")):
        done = cli(*words)
        assert (done.code, done.out) == (1, "")
        assert "was edited since it was added (notes.md)" in done.err
    assert cli("remove", "tea", "--force").code == 0
    assert not Path("skills/tea").exists()


def test_an_empty_list_says_so(cli: Any, theirs: Path) -> None:
    assert cli("add").out == "0 added skills in skills.\n"


def test_what_was_never_added_is_not_removed(cli: Any, theirs: Path, write: Any) -> None:
    write(Path("skills"), "jam", "Makes jam.")
    done = cli("remove", "jam", "--force", "--json")
    assert (done.code, done.data["error"]["type"]) == (1, "InstallRefused")
    assert Path("skills/jam/SKILL.md").exists()


def test_a_folder_whose_name_has_control_characters_is_shown_with_escapes(cli: Any, theirs: Path) -> None:
    for words in (("add",), ("add", theirs / "tea")):
        shown = cli(*words, "--in", "odd\x1b[31m").out
        assert "odd\\x1b[31m" in shown
        assert "\x1b" not in shown
