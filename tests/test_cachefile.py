import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillweave.cachefile import HEAD, SUFFIX, CacheFolder, code_key, key_of

KEY = key_of("one")


@pytest.fixture
def cache(tmp_path: Path) -> CacheFolder:
    return CacheFolder(tmp_path / "cache")


def only_file(cache: CacheFolder) -> Path:
    (path,) = cache.path.iterdir()
    return path


def test_what_was_written_is_read(cache: CacheFolder) -> None:
    assert cache.write("kind", KEY, ("ab", "", 3))
    assert cache.read("kind", KEY) == ("ab", "", 3)


def test_what_cannot_be_packed_is_not_kept(cache: CacheFolder) -> None:
    assert not cache.write("kind", KEY, lambda: None)
    assert not cache.path.exists()


def test_what_is_kept_is_made_once(cache: CacheFolder) -> None:
    made = iter((("one",),))
    assert cache.kept("kind", KEY, tuple, (), lambda: next(made)) == ("one",)
    assert cache.kept("kind", KEY, tuple, (), lambda: next(made)) == ("one",)


def test_a_value_of_another_class_is_made_anew(cache: CacheFolder) -> None:
    cache.write("kind", KEY, "text")
    assert cache.kept("kind", KEY, tuple, (), lambda: ("one",)) == ("one",)


def test_nothing_is_read_of_another_key_and_another_kind(cache: CacheFolder) -> None:
    cache.write("kind", KEY, "a")
    assert cache.read("kind", key_of("two")) is None
    assert cache.read("other", KEY) is None


def test_a_key_depends_on_where_its_parts_end() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")


def test_the_key_of_code_is_that_of_all_its_files() -> None:
    assert code_key("formats") != code_key("formats", "skill")
    assert code_key("formats") == code_key("formats")


@pytest.mark.parametrize("place", [0, 20, 60, HEAD, HEAD + 2])
def test_a_damaged_file_is_told_and_removed(cache: CacheFolder, place: int, caplog: pytest.LogCaptureFixture) -> None:
    cache.write("kind", KEY, "abc")
    path = only_file(cache)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert cache.read("kind", KEY) is None
    assert "is damaged or of another program; it is made anew" in caplog.text
    assert not path.exists()


@pytest.mark.parametrize("left", [0, 10, HEAD, HEAD + 1])
def test_a_file_that_was_cut_off_counts_as_absent(cache: CacheFolder, left: int) -> None:
    cache.write("kind", KEY, "abc")
    path = only_file(cache)
    path.write_bytes(path.read_bytes()[:left])
    assert cache.read("kind", KEY) is None


def test_where_nothing_can_be_written_nothing_is_kept_and_nothing_raises(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = CacheFolder(tmp_path / "file" / "cache")
    assert not cache.write("kind", KEY, "a")
    assert cache.read("kind", KEY) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="needs a user with limits")
def test_a_folder_that_may_only_be_read_is_read(cache: CacheFolder) -> None:
    cache.write("kind", KEY, "a")
    cache.path.chmod(0o500)
    try:
        assert cache.read("kind", KEY) is not None
        assert not cache.write("kind", key_of("two"), "b")
    finally:
        cache.path.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to give files away")
def test_a_file_of_another_user_is_not_read(cache: CacheFolder, caplog: pytest.LogCaptureFixture) -> None:
    cache.write("kind", KEY, "a")
    os.chown(only_file(cache), 12345, 12345)
    assert cache.read("kind", KEY) is None
    assert "is another user's" in caplog.text


def test_beyond_the_limit_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path, limit=2 * (HEAD + 350))
    for age, name in enumerate(("old", "used", "new")):
        cache.write("kind", key_of(name), "x" * 200)
        for path in tmp_path.iterdir():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 100 + age))
        if name == "used":
            os.utime(tmp_path / f"kind-{key_of('used').hex()[:40]}{SUFFIX}")
    assert cache.read("kind", key_of("old")) is None
    assert cache.read("kind", key_of("used")) is not None
    assert cache.read("kind", key_of("new")) is not None


_WRITER = """
import sys
from pathlib import Path
from skillweave.cachefile import CacheFolder, key_of
cache = CacheFolder(Path(sys.argv[1]))
for turn in range(200):
    cache.write("kind", key_of("one"), sys.argv[2] * 5000)
    content = cache.read("kind", key_of("one"))
    assert content is not None and len(set(content)) == 1, turn
"""


def test_processes_that_write_the_same_file_never_see_a_mixture(cache: CacheFolder) -> None:
    commands = [[sys.executable, "-c", _WRITER, str(cache.path), letter] for letter in "ab"]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for command in commands]
    assert [process.communicate(timeout=120)[1] for process in running] == ["", ""]
    assert [path.suffix for path in cache.path.iterdir()] == [SUFFIX]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    folder = CacheFolder(tmp_path)
    folder.write("kind", b"key", "content")
    (path,) = tmp_path.iterdir()
    path.unlink()
    os.mkfifo(path)
    assert folder.read("kind", b"key") is None
