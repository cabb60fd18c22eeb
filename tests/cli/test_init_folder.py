import os
from pathlib import Path

import pytest

from skillweave.cli.failure import Mistake
from skillweave.cli.init import write_folder


def test_the_files_stand_below_the_new_folder(tmp_path: Path) -> None:
    write_folder(tmp_path / "a" / "b", {"x/y.md": "é\n", "SKILL.md": "s"})
    assert (tmp_path / "a" / "b" / "x" / "y.md").read_bytes() == "é\n".encode()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


@pytest.mark.parametrize("kind", ["folder", "file", "link to nothing"])
def test_what_is_there_stays_as_it_is(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "b"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine", encoding="utf-8")
    else:
        target.symlink_to(tmp_path / "nowhere")
    before = os.lstat(target)
    with pytest.raises(Mistake, match="is there already and stays as it is; choose another name"):
        write_folder(target, {"SKILL.md": "s"})
    assert os.lstat(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_nothing_is_left_of_a_folder_that_could_not_be_written_whole(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match=r"cannot be written: .*; name a folder that is yours with --in"):
        write_folder(tmp_path / "b", {"a": "first", "a/below-a-file": "second"})
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder_above_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    with pytest.raises(Mistake, match="a/b cannot be written"):
        write_folder(tmp_path / "a" / "b", {"SKILL.md": "s"})


def test_whoever_may_read_the_folder_above_may_read_the_new_one(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    write_folder(tmp_path / "b", {"SKILL.md": "s"})
    assert (tmp_path / "b").stat().st_mode == (tmp_path / "plain").stat().st_mode
