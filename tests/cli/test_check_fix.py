"""`skillweave check --fix`: what can be mended without thinking is written back, and nothing else."""

import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def untidy(tmp_path: Path, write: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tidy skill and two that are repaired on reading, in ./skills."""
    write(tmp_path / "skills", "tidy", "A tidy one.")
    write(tmp_path / "skills", "tools", "Tools with commas.", "alowed-tools: Read, Grep")
    path = write(tmp_path / "skills", "tea", "Makes tea.")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "skills"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_mended_and_then_checked(cli: Any, untidy: Path) -> None:
    before = contents(untidy)
    key = "the key `alowed-tools` is `allowed-tools` now"
    done = cli("check", "--fix")
    assert done.out.splitlines() == [
        "skills/tea/SKILL.md: fixed: lines end in LF",
        f"skills/tools/SKILL.md: fixed: {key}; `allowed-tools` is one text with spaces",
        "",
        "3 skills loaded, 0 skipped, 0 repaired: nothing is wrong.",
    ]
    after = contents(untidy)
    assert after["tidy/SKILL.md"] == before["tidy/SKILL.md"]
    assert after["tea/SKILL.md"] == before["tea/SKILL.md"].replace(b"\r\n", b"\n")
    assert b"\nallowed-tools: Read Grep\n" in after["tools/SKILL.md"]
    assert after.keys() == before.keys()


def test_a_dry_run_shows_a_diff_and_writes_nothing(cli: Any, untidy: Path) -> None:
    before = contents(untidy)
    out = cli("check", "--fix", "--dry-run").out
    assert "--- a/skills/tools/SKILL.md\n+++ b/skills/tools/SKILL.md\n" in out
    assert "-alowed-tools: Read, Grep\n+allowed-tools: Read Grep\n" in out
    assert contents(untidy) == before


def test_the_json_has_the_changes_and_the_diff_of_each_file(cli: Any, untidy: Path) -> None:
    fixed = cli("check", "skills/tea", "--fix", "--json").data["fixed"]
    assert [(one["path"], one["changes"]) for one in fixed] == [("skills/tea/SKILL.md", ["lines end in LF"])]
    assert fixed[0]["diff"].startswith("--- a/skills/tea/SKILL.md\n")


def test_a_second_time_there_is_nothing_to_fix(cli: Any, untidy: Path) -> None:
    cli("check", "--fix")
    assert cli("check", "--fix", "--json").data["fixed"] == []


def test_a_file_that_is_reached_by_a_link_is_left_alone(cli: Any, untidy: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "tea").symlink_to("../skills/tea")
    before = contents(untidy)
    done = cli("check", "linked", "--fix", "--json")
    assert (done.data["loaded"], done.data["fixed"]) == (1, [])
    assert contents(untidy) == before
    assert (tmp_path / "linked" / "tea").is_symlink()


def test_a_skill_file_that_is_a_link_is_left_alone(cli: Any, untidy: Path) -> None:
    path = untidy / "tea" / "SKILL.md"
    path.rename(untidy / "tea" / "text.md")
    path.symlink_to("text.md")
    assert cli("check", "skills/tea", "--fix", "--json").data["fixed"] == []
    assert path.is_symlink()


def test_a_folder_that_is_a_link_itself_is_mended_where_it_leads(cli: Any, untidy: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to("skills")
    assert len(cli("check", "alias", "--fix", "--json").data["fixed"]) == 2
    assert b"\r\n" not in (untidy / "tea" / "SKILL.md").read_bytes()


def test_the_rights_of_a_file_are_kept(cli: Any, untidy: Path) -> None:
    path = untidy / "tea" / "SKILL.md"
    path.chmod(0o640)
    cli("check", "--fix")
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_folder_that_cannot_be_written_is_told(cli: Any, untidy: Path) -> None:
    (untidy / "tea").chmod(0o555)
    done = cli("check", "skills/tea", "--fix")
    assert "skills/tea/SKILL.md is not fixed: Permission denied" in done.err


def test_a_file_that_changes_meanwhile_keeps_what_was_written(
    cli: Any, untidy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = untidy / "tea" / "SKILL.md"
    sync = os.fsync

    def synced(handle: int) -> None:
        path.write_bytes(path.read_bytes() + b"more")
        sync(handle)

    monkeypatch.setattr(os, "fsync", synced)
    done = cli("check", "skills/tea", "--fix", "--no-cache")
    assert "skills/tea/SKILL.md is not fixed: it was changed meanwhile" in done.err
    assert path.read_bytes().endswith(b"more")
    assert [one.name for one in path.parent.iterdir()] == ["SKILL.md"]


@pytest.mark.parametrize(("words", "what"), [(("--dry-run",), "add --fix"), (("--fix", "--watch"), "leave out one")])
def test_what_does_not_go_together_is_a_mistake(cli: Any, untidy: Path, words: tuple[str, ...], what: str) -> None:
    done = cli("check", *words)
    assert (done.code, done.out) == (1, "")
    assert what in done.err


def test_a_pack_is_left_to_its_author(cli: Any, tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_bytes(b"skills: [{id: a, description: First., instructions: Go.}]\r\n")
    assert cli("check", pack, "--fix", "--json").data["fixed"] == []
    assert pack.read_bytes().endswith(b"\r\n")
