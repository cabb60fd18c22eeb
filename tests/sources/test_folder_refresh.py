"""What a folder reads again, and what it knows from the last time."""

import os
import time
from pathlib import Path

from skillweave.registry import Loaded
from skillweave.sources.folder import Folder
from skillweave.sources.tree import Nested
from tests.skill_folders import found, ids, places, skill_text, write_skill


def long_ago(root: Path) -> None:
    """Wait until no clock tick of the file system can hide a change from now on."""
    newest = max(path.lstat().st_ctime for path in (root, *root.rglob("*")))
    time.sleep(max(0.0, newest + 0.03 - time.time()))


def same_time(path: Path, text: str) -> None:
    """Write another text into the same file, and set its times back."""
    status = path.stat()
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


async def test_an_unchanged_folder_gives_the_very_same_answer(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x"})
    write_skill(tmp_path / "bad", "no front matter")
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    assert await source.load(first) is first


async def test_files_that_did_not_change_give_the_very_same_skills(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_skill(tmp_path / name)
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    write_skill(tmp_path / "two", skill_text("two", "Changed."))
    again = await source.load(first)
    assert again.skills[0] is first.skills[0]
    assert again.skills[1].description == "Changed."


async def test_a_touched_file_with_the_same_content_gives_the_very_same_skill(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one")
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    path.touch()
    assert (await source.load(first)).skills[0] is first.skills[0]


async def test_an_edit_right_after_a_load_is_seen_although_size_and_time_are_the_same(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", skill_text("one", "Says abc."))
    source = Folder(tmp_path)
    first = await source.load()
    same_time(path, skill_text("one", "Says xyz."))
    assert (await source.load(first)).skills[0].description == "Says xyz."


async def test_an_edit_that_keeps_size_and_modification_time_is_seen(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", skill_text("one", "Says abc."))
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    same_time(path, skill_text("one", "Says xyz."))
    assert (await source.load(first)).skills[0].description == "Says xyz."


async def test_a_file_swapped_for_another_is_seen(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", skill_text("one", "Says abc."))
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    new = tmp_path / "new"
    new.write_text(skill_text("one", "Says xyz."))
    os.utime(new, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    new.replace(path)
    assert (await source.load(first)).skills[0].description == "Says xyz."


async def test_new_removed_and_moved_skills_are_seen(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_skill(tmp_path / name)
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    write_skill(tmp_path / "group" / "four")
    (tmp_path / "two" / "SKILL.md").unlink()
    (tmp_path / "three").rename(tmp_path / "group" / "three")
    assert ids(await source.load(first)) == ["four", "three", "one"]


async def test_new_grown_and_removed_artifacts_are_seen(tmp_path: Path) -> None:
    write_skill(tmp_path / "one", files={"references/a.md": "x", "references/b.md": "x"})
    long_ago(tmp_path)
    source = Folder(tmp_path)
    load = await source.load()
    assert _sizes(load) == {"references/a.md": 1, "references/b.md": 1}
    write_skill(tmp_path / "one", files={"references/a.md": "longer"})
    load = await source.load(load)
    assert _sizes(load) == {"references/a.md": 6, "references/b.md": 1}
    write_skill(tmp_path / "one", files={"assets/c.txt": "c"})
    (tmp_path / "one/references/b.md").unlink()
    load = await source.load(load)
    assert _sizes(load) == {"assets/c.txt": 1, "references/a.md": 6}


async def test_new_artifacts_do_not_make_the_definition_another_one(tmp_path: Path) -> None:
    write_skill(tmp_path / "one")
    source = Folder(tmp_path)
    first = await source.load()
    write_skill(tmp_path / "one", files={"references/a.md": "x"})
    again = await source.load(first)
    assert again.skills[0].digest == first.skills[0].digest
    assert again.skills[0].artifacts


async def test_findings_about_artifacts_come_and_go(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", "---\nname: other\ndescription: x\n---\n", {"references/a.md": "x"})
    source = Folder(tmp_path)
    load = await source.load()
    (path.parent / "references" / "leak").symlink_to("/etc")
    load = await source.load(load)
    assert [finding.code for finding in load.diagnostics] == ["name-differs", "artifact-left-out"]
    assert found(load, "artifact-left-out")[0].skill == "other"
    (path.parent / "references" / "leak").unlink()
    load = await source.load(load)
    assert [finding.code for finding in load.diagnostics] == ["name-differs"]


async def test_a_broken_file_that_is_mended_loads(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one", "broken")
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    assert ids(first) == []
    path.write_text(skill_text("one"))
    again = await source.load(first)
    assert (ids(again), again.diagnostics) == (["one"], ())


async def test_a_nested_skill_that_appears_is_seen(tmp_path: Path) -> None:
    write_skill(tmp_path / "parent")
    long_ago(tmp_path)
    for nested, expected in ((Nested.PARENT, ["parent"]), (Nested.SEPARATE, ["parent", "child"])):
        source = Folder(tmp_path, nested=nested)
        first = await source.load()
        write_skill(tmp_path / "parent" / nested / "child")
        assert set(ids(await source.load(first))) == set(expected)


async def test_a_source_that_is_a_link_follows_it_anew(tmp_path: Path) -> None:
    write_skill(tmp_path / "v1" / "one", skill_text("one", "First."))
    write_skill(tmp_path / "v2" / "one", skill_text("one", "Second."))
    (tmp_path / "current").symlink_to("v1")
    long_ago(tmp_path)
    source = Folder(tmp_path / "current")
    first = await source.load()
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("v2")
    assert (await source.load(first)).skills[0].description == "Second."


async def test_progress_is_told_for_an_unchanged_folder_too(tmp_path: Path) -> None:
    write_skill(tmp_path / "one")
    long_ago(tmp_path)
    told: list[tuple[int, int]] = []
    source = Folder(tmp_path, progress=lambda done, total: told.append((done, total)))
    await source.load(await source.load())
    assert told == [(1, 1), (1, 1)]


def _sizes(load: Loaded) -> dict[str, int]:
    return {ref.id: ref.size for skill in load.skills for ref in skill.artifacts}


async def test_a_skill_file_that_is_renamed_tells_its_new_place(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "one")
    path.rename(path.with_name("skill.md"))
    long_ago(tmp_path)
    source = Folder(tmp_path)
    first = await source.load()
    path.with_name("skill.md").rename(path)
    assert places(await source.load(first)) == [f"{tmp_path}/one/SKILL.md"]
