"""Adding and removing skills: all or nothing, with a lock, and never over somebody's own work."""

import json
import subprocess
import sys
from collections import UserList
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import ZipFile

import pytest

from skillweave.installs import adding, packages
from skillweave.installs.adding import add_skills, remove_skill
from skillweave.installs.fetching import fetched
from skillweave.installs.lock import LOCK_FILE, read_lock, standings
from skillweave.installs.packages import InstallRefused, packages_in
from skillweave.sources.folder import Folder
from tests.skill_folders import skill_text, write_skill


def add(source: Path, folder: Path, wanted: Sequence[str] | None = None, *, force: bool = False) -> dict[str, str]:
    with fetched(str(source)) as (root, origin):
        found = packages_in(root, None if wanted is None else tuple(wanted), everything=True)
        return {one.skill_id: one.change for one in add_skills(folder, found, origin, force=force)}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Two skills of somebody else."""
    write_skill(tmp_path / "theirs" / "tea", files={"references/a.md": "Green.", "LICENSE": "Free."})
    write_skill(tmp_path / "theirs" / "milk")
    return tmp_path / "theirs"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def conditions(folder: Path) -> dict[str, str]:
    return {one.skill_id: one.condition.value for one in standings(folder, read_lock(folder))}


def test_every_file_of_a_skill_is_copied(theirs: Path, mine: Path) -> None:
    assert add(theirs / "tea", mine) == {"tea": "new"}
    assert files(mine / "tea") == files(theirs / "tea")


def test_the_lock_says_where_it_came_from_with_the_digest_of_every_file(theirs: Path, mine: Path) -> None:
    write_skill(theirs / "tea", skill_text("tea", version="1.2.0"))
    add(theirs, mine, ["tea"])
    locked = json.loads((mine / LOCK_FILE).read_text(encoding="utf-8"))["skills"]["tea"]
    assert (locked["source"], locked["kind"], locked["path"], locked["version"]) == (
        str(theirs),
        "folder",
        "tea",
        "1.2.0",
    )
    assert locked["sha256"].keys() == {"SKILL.md", "references/a.md", "LICENSE"}
    assert all(len(digest) == 64 for digest in locked["sha256"].values())


def test_what_was_added_is_unchanged_until_somebody_edits_it(theirs: Path, mine: Path) -> None:
    add(theirs, mine)
    assert conditions(mine) == {"milk": "unchanged", "tea": "unchanged"}
    (mine / "tea" / "references" / "b.md").write_text("new", encoding="utf-8")
    (mine / "milk" / "SKILL.md").unlink()
    (mine / "milk").rmdir()
    assert conditions(mine) == {"milk": "missing", "tea": "edited"}


def test_a_newer_version_takes_the_place_of_an_unedited_one(theirs: Path, mine: Path) -> None:
    add(theirs, mine)
    (theirs / "tea" / "LICENSE").unlink()
    assert add(theirs, mine) == {"milk": "unchanged", "tea": "replaced"}
    assert files(mine / "tea") == files(theirs / "tea")


def test_an_edited_skill_is_not_replaced_unless_it_is_forced(theirs: Path, mine: Path) -> None:
    add(theirs, mine)
    (mine / "tea" / "SKILL.md").write_text("edited", encoding="utf-8")
    before = files(mine)
    write_skill(theirs / "milk", skill_text("milk", body="new"))
    with pytest.raises(InstallRefused, match=r"was edited since it was added \(SKILL.md\)"):
        add(theirs, mine)
    assert files(mine) == before
    assert add(theirs, mine, force=True) == {"milk": "replaced", "tea": "replaced"}
    assert conditions(mine) == {"milk": "unchanged", "tea": "unchanged"}


def test_ones_own_skill_is_not_replaced_unless_it_is_forced(theirs: Path, mine: Path) -> None:
    write_skill(mine / "tea", skill_text("tea", body="my own"))
    with pytest.raises(InstallRefused, match="is there already and was not added"):
        add(theirs, mine, ["tea"])
    assert b"my own" in (mine / "tea" / "SKILL.md").read_bytes()
    assert add(theirs, mine, ["tea"], force=True) == {"tea": "replaced"}


def test_a_link_in_the_place_of_a_skill_is_never_touched(theirs: Path, mine: Path, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    mine.mkdir()
    (mine / "tea").symlink_to(tmp_path / "own")
    with pytest.raises(InstallRefused, match="is a link and is left alone"):
        add(theirs, mine, ["tea"], force=True)
    assert list((tmp_path / "own").iterdir()) == []


def test_a_link_in_a_skill_is_refused(theirs: Path, mine: Path) -> None:
    (theirs / "tea" / "references" / "b.md").symlink_to("/etc/hostname")
    with pytest.raises(InstallRefused, match=r"'references/b.md' is a link"):
        add(theirs, mine)
    assert not mine.exists()


def test_a_skill_with_too_many_or_too_large_files_is_refused(theirs: Path, mine: Path) -> None:
    for number in range(513):
        (theirs / "tea" / f"{number}.txt").write_text("x", encoding="utf-8")
    with pytest.raises(InstallRefused, match="more than 512 files"):
        add(theirs, mine)
    with (theirs / "milk" / "large").open("wb") as large:
        large.truncate((16 << 20) + 1)
    with pytest.raises(InstallRefused, match="at most 16 MiB together"):
        add(theirs / "milk", mine)


def test_of_several_skills_none_is_read_until_one_is_named(theirs: Path) -> None:
    (theirs / "tea" / "link").symlink_to("/etc/hostname")
    with pytest.raises(InstallRefused, match="the source has 2 skills: milk, tea; name some"):
        packages_in(theirs)
    assert [package.skill_id for package in packages_in(theirs, ("milk",))] == ["milk"]


def test_skills_that_are_too_large_together_are_refused(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "MOST_BYTES", 1 << 20)
    for name in ("tea", "milk"):
        (theirs / name / "large").write_bytes(b"x" * (3 << 18))
    with pytest.raises(InstallRefused, match="more than 1 MiB together; add them in several steps"):
        packages_in(theirs, everything=True)


def test_an_unknown_skill_is_refused_with_those_that_there_are(theirs: Path, mine: Path) -> None:
    with pytest.raises(InstallRefused, match="has no skill 'coffee'; its skills are: milk, tea"):
        add(theirs, mine, ["coffee"])


def test_a_source_without_a_skill_is_refused(tmp_path: Path, mine: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InstallRefused, match="holds no skill that can be read"):
        add(tmp_path / "empty", mine)


@pytest.mark.parametrize("fails", range(1, 6))
def test_where_a_step_fails_everything_is_as_it_was(
    theirs: Path, mine: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    add(theirs, mine)
    before = files(mine)
    for name in ("tea", "milk"):
        write_skill(theirs / name, skill_text(name, body="new"))
    steps = 0
    move, write = Path.rename, adding.write_lock

    def stepping(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == fails:
            raise OSError(28, "No space left on device")

    def moving(path: Path, target: Path) -> Path:
        stepping()
        return move(path, target)

    def writing(folder: Path, lock: object) -> None:
        stepping()
        write(folder, lock)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "rename", moving)
    monkeypatch.setattr(adding, "write_lock", writing)
    with pytest.raises(InstallRefused, match="everything is as it was"):
        add(theirs, mine)
    assert files(mine) == before


@pytest.mark.parametrize("moves", range(1, 5))
def test_an_interrupt_right_after_a_move_puts_everything_back(
    theirs: Path, mine: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    add(theirs, mine)
    before = files(mine)
    for name in ("tea", "milk"):
        write_skill(theirs / name, skill_text(name, body="new"))
    left = moves
    move = Path.rename

    def interrupted(path: Path, target: Path) -> Path:
        nonlocal left
        moved = move(path, target)
        left -= 1
        if left == 0:
            raise KeyboardInterrupt
        return moved

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        add(theirs, mine)
    assert files(mine) == before


def test_what_was_taken_out_is_kept_where_it_cannot_be_put_back(
    theirs: Path, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(theirs, mine, ["tea"])
    kept = files(mine / "tea")
    write_skill(theirs / "tea", skill_text("tea", body="new"))
    steps = 0
    move = Path.rename

    def moving(path: Path, target: Path) -> Path:
        nonlocal steps
        steps += 1
        if steps > 1:
            raise OSError(5, "Input/output error")
        return move(path, target)

    monkeypatch.setattr(Path, "rename", moving)
    with pytest.raises(InstallRefused, match="move them by hand"):
        add(theirs, mine, ["tea"])
    assert files(mine / ".skillweave" / "change" / "old" / "tea") == kept


def test_a_change_that_was_ended_in_the_middle_is_told(theirs: Path, mine: Path) -> None:
    (mine / ".skillweave" / "change").mkdir(parents=True)
    with pytest.raises(InstallRefused, match="one was ended in the middle"):
        add(theirs, mine)


def test_nothing_but_skills_and_the_lock_is_left(theirs: Path, mine: Path) -> None:
    add(theirs, mine)
    assert sorted(path.name for path in mine.iterdir()) == ["milk", LOCK_FILE, "tea"]


def test_an_added_skill_is_removed_with_its_entry(theirs: Path, mine: Path) -> None:
    add(theirs, mine)
    remove_skill(mine, "tea")
    assert sorted(path.name for path in mine.iterdir()) == ["milk", LOCK_FILE]
    remove_skill(mine, "milk")
    assert list(mine.iterdir()) == []


def test_an_edited_skill_is_not_removed_unless_it_is_forced(theirs: Path, mine: Path) -> None:
    add(theirs, mine, ["tea"])
    (mine / "tea" / "notes.md").write_text("mine", encoding="utf-8")
    with pytest.raises(InstallRefused, match=r"was edited since it was added \(notes.md\)"):
        remove_skill(mine, "tea")
    assert (mine / "tea" / "notes.md").exists()
    remove_skill(mine, "tea", force=True)
    assert not (mine / "tea").exists()


@pytest.mark.parametrize("name", ["milk", "..", "../theirs", "/etc"])
def test_what_was_not_added_is_not_removed(theirs: Path, mine: Path, name: str) -> None:
    write_skill(mine / "milk")
    add(theirs, mine, ["tea"])
    with pytest.raises(InstallRefused, match="was not added"):
        remove_skill(mine, name, force=True)
    assert (mine / "milk" / "SKILL.md").exists()


def test_a_lock_that_names_a_place_outside_is_refused(theirs: Path, mine: Path) -> None:
    add(theirs, mine, ["tea"])
    path = mine / LOCK_FILE
    path.write_text(path.read_text(encoding="utf-8").replace('"tea": {', '"../theirs/tea": {'), encoding="utf-8")
    with pytest.raises(InstallRefused, match="is no id of a skill"):
        remove_skill(mine, "../theirs/tea", force=True)
    assert (theirs / "tea" / "SKILL.md").exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"skills": []}', '{"version": 2, "skills": {}}'])
def test_a_lock_that_cannot_be_read_is_refused(theirs: Path, mine: Path, text: str) -> None:
    mine.mkdir()
    (mine / LOCK_FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InstallRefused, match=LOCK_FILE):
        add(theirs, mine)
    assert (mine / LOCK_FILE).read_text(encoding="utf-8") == text


def test_the_folder_of_one_skill_is_no_place_for_others(theirs: Path) -> None:
    with pytest.raises(InstallRefused, match="is a skill itself"):
        add(theirs / "tea", theirs / "milk")


KILLED = """
import os, sys
from pathlib import Path
from skillweave.installs.adding import add_skills
from skillweave.installs.fetching import fetched
from skillweave.installs.packages import packages_in

theirs, mine, step = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
move = Path.rename

def moving(path, target):
    global step
    step -= 1
    if step == 0:
        os._exit(9)
    return move(path, target)

Path.rename = moving
with fetched(theirs) as (root, origin):
    add_skills(mine, packages_in(root, everything=True), origin)
"""


@pytest.mark.parametrize("step", range(1, 5))
def test_a_command_that_is_killed_leaves_no_half_copied_skill(theirs: Path, mine: Path, step: int) -> None:
    add(theirs, mine)
    old = {name: files(mine / name) for name in ("tea", "milk")}
    for name in ("tea", "milk"):
        write_skill(theirs / name, skill_text(name, body="new"))
    new = {name: files(theirs / name) for name in ("tea", "milk")}
    words = [sys.executable, "-c", KILLED, str(theirs), str(mine), str(step)]
    assert subprocess.run(words, check=False, timeout=60).returncode == 9
    for name in ("tea", "milk"):
        there, taken_out = mine / name, mine / ".skillweave" / "change" / "old" / name
        assert files(there) in (old[name], new[name]) or files(taken_out) == old[name]
    with pytest.raises(InstallRefused, match="was ended in the middle"):
        add(theirs, mine)


async def test_no_source_looks_at_what_is_being_changed(theirs: Path, mine: Path) -> None:
    write_skill(mine / ".skillweave" / "change" / "new" / "tea")
    write_skill(mine / "milk")
    assert [skill.id for skill in (await Folder(mine).load()).skills] == ["milk"]


class Overtaken(UserList[packages.Package]):
    """Packages that somebody else's command overtakes: it begins when these are first looked at."""

    overtake: Callable[[], object]

    def __iter__(self) -> Iterator[packages.Package]:
        with suppress(InstallRefused):
            self.overtake()
        return super().__iter__()


def test_what_another_command_adds_at_the_same_time_stays_in_the_lock(theirs: Path, mine: Path) -> None:
    with fetched(str(theirs / "tea")) as (root, origin):
        found = Overtaken(packages_in(root))
        found.overtake = lambda: add(theirs / "milk", mine)
        add_skills(mine, found, origin)
    there = {path.name for path in mine.iterdir() if path.is_dir()}
    assert there == set(read_lock(mine).skills)


def test_a_lock_of_a_newer_version_and_shape_asks_for_an_upgrade(mine: Path) -> None:
    mine.mkdir()
    (mine / LOCK_FILE).write_text('{"version": 2, "skills": []}', encoding="utf-8")
    with pytest.raises(InstallRefused, match="written by a newer skillweave"):
        read_lock(mine)


def test_a_source_without_a_skill_is_not_named_by_where_it_was_unpacked(tmp_path: Path, mine: Path) -> None:
    with ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    with pytest.raises(InstallRefused, match="holds no skill that can be read: it holds none") as refused:
        add(tmp_path / "empty.zip", mine)
    assert "skillweave-" not in str(refused.value)


def test_a_skill_with_its_file_in_two_spellings_is_refused_with_both_named(theirs: Path, mine: Path) -> None:
    (theirs / "tea" / "skill.md").write_text(skill_text("tea"))
    with pytest.raises(InstallRefused, match=r"the skill in 'tea' has SKILL.md and skill.md, and agents differ"):
        add(theirs, mine)
    assert not mine.exists()
