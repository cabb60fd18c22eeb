"""The key of the log of approvals: drawn once, for all processes, and read by its owner only."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skillweave.errors import InvalidValue
from skillweave_stores.approvals.key import KEY_BYTES, read_or_make_key


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "approvals.key"


def test_a_key_is_made_once_and_read_again(path: Path) -> None:
    made = read_or_make_key(path)
    assert len(made) == KEY_BYTES == 32
    assert read_or_make_key(str(path)) == made
    assert path.read_text() == f"{made.hex()}\n"
    assert list(path.parent.iterdir()) == [path]


def test_keys_of_different_files_differ(path: Path) -> None:
    assert read_or_make_key(path) != read_or_make_key(path.with_suffix(".other"))


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
def test_only_the_owner_may_read_it_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        read_or_make_key(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o602, 0o610, 0o777], ids=oct)
def test_a_file_that_others_can_use_is_refused_with_the_fix(path: Path, mode: int) -> None:
    made = read_or_make_key(path)
    path.chmod(mode)
    with pytest.raises(InvalidValue, match=r"can be read by others .*run `chmod 600 .*approvals\.key`") as refused:
        read_or_make_key(path)
    assert made.hex() not in str(refused.value)
    path.chmod(0o600)
    assert read_or_make_key(path) == made


@pytest.mark.parametrize(
    "text",
    ["", "ab" * 31, "ab" * 33, "zz" * 32, "ä" * 64, "ab" * 32 + "\n\nmore", "ab" * 10_000],
    ids=["empty", "short", "long", "letters", "umlauts", "more", "very long"],
)
def test_a_file_with_something_else_is_refused_and_stays(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)
    with pytest.raises(InvalidValue, match="does not hold 64 hex digits; restore it") as refused:
        read_or_make_key(path)
    assert path.read_text(encoding="utf-8") == text
    assert "abab" not in str(refused.value)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", " \n"], ids=repr)
def test_a_key_that_somebody_wrote_by_hand_is_read(path: Path, end: str) -> None:
    path.parent.mkdir()
    path.write_bytes(f"{'aBcDeF0123456789' * 4}{end}".encode())
    path.chmod(0o600)
    assert read_or_make_key(path) == bytes.fromhex("abcdef0123456789") * 4


def test_who_makes_it_at_once_gets_the_one_key(path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        found = set(threads.map(lambda _: read_or_make_key(path), range(64)))
    assert found == {read_or_make_key(path)}
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("text", ["00" * 32, "ab" * 32, "0123" * 16])
def test_a_key_that_can_be_guessed_is_refused(path: Path, text: str) -> None:
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InvalidValue, match=r"approvals\.key holds a key that can be guessed: .*openssl rand"):
        read_or_make_key(path)


@pytest.mark.skipif(os.name != "posix", reason="pipes are those of POSIX")
def test_a_pipe_is_refused_at_once(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path, 0o600)
    with pytest.raises(InvalidValue, match=r"approvals\.key is no regular file; name"):
        read_or_make_key(path)


def test_a_folder_is_no_key(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(OSError, match="approvals"):
        read_or_make_key(path)
