import os
from pathlib import Path

import pytest

from skillweave.sources import files
from skillweave.sources.files import FOLDER, Refused, open_below, read_below, read_inside, read_plain


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert read_plain(str(tmp_path / "a"), 100).data == b"x" * 100


def test_a_file_one_byte_over_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 101)
    with pytest.raises(Refused, match="101 bytes, more than the limit of 100 bytes"):
        read_plain(str(tmp_path / "a"), 100)


def test_an_empty_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read_plain(str(tmp_path / "a"), 100).data == b""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs files that are longer than their size")
def test_a_file_longer_than_its_size_said_is_read_up_to_its_end() -> None:
    assert Path("/proc/self/status").stat().st_size == 0
    assert read_plain("/proc/self/status", 1 << 20).data.startswith(b"Name:")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs files that are longer than their size")
def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        read_plain("/proc/self/status", 10)
    assert caught.value.code.name == "file-too-large"


def test_a_link_is_not_read_as_a_plain_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(Refused) as caught:
        read_plain(str(tmp_path / "b"), 100)
    assert caught.value.code.name == "link-outside"


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Refused, match="a pipe"):
        read_plain(str(tmp_path / "pipe"), 100)


@pytest.mark.parametrize("name", ["../b/secret", "/etc/hostname", "..", "link/secret", "x/../../b/secret"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "a" / "x").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "secret").write_text("secret")
    (tmp_path / "a" / "link").symlink_to("../b")
    with pytest.raises(Refused):
        read_inside(os.path.realpath(tmp_path), "a", name, 100)


def test_a_folder_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "secret").write_text("secret")
    with pytest.raises(Refused, match="leads out"):
        read_inside(os.path.realpath(tmp_path), "a", "../ab/secret", 100)


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("x")
    before = len(list(Path("/dev/fd").iterdir()))
    for name in ("b/c", "b", "b/nothing"):
        try:
            read_inside(os.path.realpath(tmp_path), "a", name, 100)
        except Refused:
            continue
    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.fixture(params=[True, False], ids=["stepwise", "checked"])
def swapped(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which `a/b` was found, and `a` is a link to outside by now; on both kinds of systems."""
    if request.param and not files._STEPWISE:
        pytest.skip("this system opens nothing from a folder's handle")
    monkeypatch.setattr(files, "_STEPWISE", request.param)
    root = tmp_path.resolve() / "root"
    for folder, text in ((root / "a" / "b", "ours"), (tmp_path / "outside" / "b", "theirs")):
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
    return root


def _swap(root: Path) -> None:
    (root / "a").rename(root / "moved")
    (root / "a").symlink_to(root.parent / "outside", target_is_directory=True)


def test_a_file_is_read_by_its_real_path_and_not_when_a_folder_above_it_became_a_link(swapped: Path) -> None:
    path = f"{swapped}/a/b/SKILL.md"
    assert read_below(str(swapped), path, 100).data == b"ours"
    _swap(swapped)
    with pytest.raises(Refused):
        read_below(str(swapped), path, 100)


def test_a_folder_is_not_listed_when_one_above_it_became_a_link(swapped: Path) -> None:
    os.close(open_below(str(swapped), f"{swapped}/a/b", FOLDER))
    os.close(open_below(str(swapped), str(swapped), FOLDER))
    _swap(swapped)
    with pytest.raises(OSError, match=r"symbolic|directory"):
        open_below(str(swapped), f"{swapped}/a/b", FOLDER)


def test_what_is_refused_leaves_no_file_open(swapped: Path) -> None:
    _swap(swapped)
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        with pytest.raises(Refused):
            read_below(str(swapped), f"{swapped}/a/b/SKILL.md", 100)
    assert len(list(Path("/dev/fd").iterdir())) == before
