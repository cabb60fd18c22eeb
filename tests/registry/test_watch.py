"""Following real files with the real watcher; what does not come within the patience of a test fails it."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest

from skillweave import Registry, Skill
from skillweave.errors import CannotWatch, MissingExtra, SourceUnavailable
from skillweave.registry import Changes, Precedence, watching
from skillweave.sources import InCode, Pack
from skillweave.sources.folder import Folder
from tests.skill_folders import skill_text, write_skill

PATIENCE = 20.0
QUIET = 0.02
PACK = "skills:\n  - {id: a, description: One.}\n"


async def following(changes: AsyncGenerator[Changes, None]) -> Changes:
    """What is told next."""
    return await asyncio.wait_for(anext(changes), PATIENCE)


def broken(path: Path) -> None:
    path.write_text("no front matter", encoding="utf-8")


def put_in_place(fresh: Path, old: Path) -> None:
    old.rename(old.with_name("old"))
    fresh.rename(old)


def codes(registry: Registry) -> set[str]:
    return {finding.code for finding in registry.snapshot.diagnostics}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills" / "a")
    return tmp_path / "skills"


async def test_it_begins_with_what_is_there(root: Path) -> None:
    async with aclosing(Registry([Folder(root)]).watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("a",)


async def test_an_edit_is_told(root: Path) -> None:
    registry = Registry([Folder(root)])
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        (root / "a" / "SKILL.md").write_text(skill_text("a", "New."), encoding="utf-8")
        assert (await following(changes)).changed == ("a",)
        assert registry.snapshot["a"].description == "New."


async def test_what_was_known_before_is_not_told_again(root: Path) -> None:
    registry = Registry([Folder(root)])
    await registry.refresh()
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        first = asyncio.ensure_future(following(changes))
        await asyncio.sleep(0)
        write_skill(root / "b")
        assert (await first).added == ("b",)


async def test_an_edit_before_the_first_event_is_not_lost(root: Path) -> None:
    registry = Registry([Folder(root)])
    await registry.refresh()
    write_skill(root / "b")
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("b",)


async def test_an_edit_while_the_last_one_is_looked_at_is_not_lost(root: Path) -> None:
    async with aclosing(Registry([Folder(root)]).watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        write_skill(root / "b")
        assert (await following(changes)).added == ("b",)
        write_skill(root / "c")
        write_skill(root / "d")
        assert (await following(changes)).added == ("c", "d")


@pytest.mark.skipif(sys.platform == "darwin", reason="file names are UTF-8 there")
async def test_names_that_are_no_utf_8_do_not_end_the_watch(root: Path) -> None:
    odd = os.fsdecode(b"\xff\xfe")
    write_skill(root / odd / "z", skill_text("z"))
    async with aclosing(Registry([Folder(root)]).watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("a", "z")
        waiting = asyncio.ensure_future(following(changes))
        (root / "a" / f"{odd}.md").write_text("x", encoding="utf-8")
        await asyncio.sleep(5 * QUIET)
        write_skill(root / "b")
        assert (await waiting).added == ("b",)


async def test_a_new_folder_is_followed_too(root: Path) -> None:
    async with aclosing(Registry([Folder(root)]).watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        path = write_skill(root / "deep" / "er" / "b")
        await following(changes)
        path.write_text(skill_text("b", "New."), encoding="utf-8")
        assert (await following(changes)).changed == ("b",)


async def test_a_broken_edit_keeps_the_last_good_version_and_gives_its_finding(root: Path) -> None:
    registry = Registry([Folder(root)])
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        broken(root / "a" / "SKILL.md")
        told = await following(changes)
        assert told
        assert (told.added, told.changed, told.removed) == ((), (), ())
        assert list(registry.snapshot) == ["a"]
        assert "kept-last-good" in codes(registry)


async def test_a_folder_that_vanishes_may_come_back(root: Path) -> None:
    registry = Registry([Folder(root)])
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        shutil.rmtree(root.parent)
        while "source-unavailable" not in codes(registry):
            await following(changes)
        assert list(registry.snapshot) == ["a"]
        write_skill(root / "b")
        while list(registry.snapshot) != ["b"]:
            await following(changes)


async def test_a_folder_that_is_replaced_as_a_whole_is_read_again(root: Path) -> None:
    write_skill(root.parent / "next" / "b")
    async with aclosing(Registry([Folder(root)]).watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        put_in_place(root.parent / "next", root)
        added: tuple[str, ...] = ()
        while "b" not in added:
            added = (await following(changes)).added


async def test_a_link_that_leads_elsewhere_is_read_again(root: Path) -> None:
    write_skill(root.parent / "next" / "b")
    link = root.parent / "current"
    link.symlink_to(root, target_is_directory=True)
    async with aclosing(Registry([Folder(link)]).watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("a",)
        fresh = root.parent / "fresh"
        fresh.symlink_to(root.parent / "next", target_is_directory=True)
        fresh.replace(link)
        assert (await following(changes)).added == ("b",)


async def test_a_pack_that_an_editor_replaces_is_read_again(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(PACK, encoding="utf-8")
    async with aclosing(Registry([Pack(pack)]).watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("a",)
        for name in ("b", "c"):
            draft = tmp_path / "draft"
            draft.write_text(PACK.replace("id: a", f"id: {name}"), encoding="utf-8")
            draft.replace(pack)
            assert (await following(changes)).added == (name,)


async def test_the_file_behind_links_is_followed(tmp_path: Path) -> None:
    for release, name in (("one", "a"), ("two", "b")):
        (tmp_path / release).mkdir()
        (tmp_path / release / "pack.yaml").write_text(PACK.replace("id: a", f"id: {name}"), encoding="utf-8")
    (tmp_path / "data").symlink_to("one")
    (tmp_path / "mounted").mkdir()
    (tmp_path / "mounted" / "pack.yaml").symlink_to("../data/pack.yaml")
    async with aclosing(Registry([Pack(tmp_path / "mounted" / "pack.yaml")]).watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("a",)
        (tmp_path / "fresh").symlink_to("two")
        (tmp_path / "fresh").replace(tmp_path / "data")
        assert (await following(changes)).added == ("b",)


@pytest.mark.parametrize("whole_trees", [False, True])
async def test_ignored_folders_and_neighbours_tell_nothing(
    root: Path, whole_trees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "WHOLE_TREES", whole_trees)
    registry = Registry([Folder(root)])
    loads: list[Path] = []
    inner = registry._sources[0].load

    async def load(previous: object) -> object:
        loads.append(root)
        return await inner(previous)  # type: ignore[arg-type]

    monkeypatch.setattr(registry._sources[0], "load", load)
    for ignored in (".git", "node_modules", ".venv"):
        (root / ignored / "inside").mkdir(parents=True)
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        before = len(loads)
        waiting = asyncio.ensure_future(following(changes))
        for ignored in (".git", "node_modules", ".venv"):
            write_skill(root / ignored / "inside" / "b")
        (root.parent / "neighbour.txt").write_text("x", encoding="utf-8")
        await asyncio.sleep(10 * QUIET)  # so that a change that counts is told before the next one
        write_skill(root / "c")
        assert (await waiting).added == ("c",)
        assert len(loads) == before + 1


async def test_what_another_refresh_found_first_is_told_too(root: Path) -> None:
    registry = Registry([Folder(root)])
    async with (
        aclosing(registry.watch(quiet_seconds=QUIET)) as one,
        aclosing(registry.watch(quiet_seconds=QUIET)) as other,
    ):
        assert (await following(one)).added == ("a",)
        await registry.refresh()
        second = asyncio.ensure_future(following(other))
        await asyncio.sleep(0)
        write_skill(root / "b")
        assert (await following(one)).added == ("b",)
        assert (await second).added == ("b",)


async def test_a_clash_that_is_not_allowed_does_not_end_the_watch(
    root: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(tmp_path / "more" / "b")
    registry = Registry([Folder(root), Folder(tmp_path / "more")], precedence=Precedence.ERROR)
    logged = asyncio.Event()
    monkeypatch.setattr(caplog.handler, "emit", lambda record, emit=caplog.handler.emit: (emit(record), logged.set()))
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        await following(changes)
        waiting = asyncio.ensure_future(following(changes))
        clash = write_skill(tmp_path / "more" / "a")
        await logged.wait()
        shutil.rmtree(clash.parent)
        write_skill(tmp_path / "more" / "c")
        assert (await waiting).added == ("c",)
    assert "the skills stay as they were: skill 'a' comes from" in caplog.text


async def test_closing_it_leaves_nothing_behind(root: Path) -> None:
    before = asyncio.all_tasks()
    changes = Registry([Folder(root)]).watch(quiet_seconds=QUIET)
    await following(changes)
    assert asyncio.all_tasks() > before
    await changes.aclose()
    assert asyncio.all_tasks() == before
    with pytest.raises(StopAsyncIteration):
        await anext(changes)


async def test_cancelling_the_task_leaves_nothing_behind(root: Path) -> None:
    registry = Registry([Folder(root)])

    async def run() -> None:
        async for _ in registry.watch(quiet_seconds=QUIET):
            told.set()

    told, before = asyncio.Event(), asyncio.all_tasks()
    task = asyncio.ensure_future(run())
    await asyncio.wait_for(told.wait(), PATIENCE)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before


async def test_a_watch_that_was_never_begun_needs_no_end(root: Path) -> None:
    await Registry([Folder(root)]).watch().aclose()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_folder_that_was_never_there_is_an_error(tmp_path: Path) -> None:
    changes = Registry([Folder(tmp_path / "nowhere")]).watch(quiet_seconds=QUIET)
    with pytest.raises(SourceUnavailable, match="does not exist"):
        await following(changes)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_sources_without_files_are_named_when_there_are_no_others() -> None:
    registry = Registry([InCode(Skill("a", "a", "x"), name="mine"), InCode(name="yours")])
    with pytest.raises(CannotWatch, match=r"no source can be followed \('mine', 'yours'\); name a folder or a pack"):
        registry.watch()


async def test_sources_without_files_are_not_followed_beside_others(root: Path) -> None:
    registry = Registry([InCode(Skill("z", "z", "x")), Folder(root)])
    async with aclosing(registry.watch(quiet_seconds=QUIET)) as changes:
        assert (await following(changes)).added == ("z", "a")


@pytest.mark.parametrize("seconds", [0.0, -1.0, 6.0, float("nan")])
def test_a_quiet_time_out_of_bounds_is_an_error(root: Path, seconds: float) -> None:
    with pytest.raises(ValueError, match="give more than 0 and at most 5"):
        Registry([Folder(root)]).watch(quiet_seconds=seconds)


def test_a_missing_package_is_one_line_that_names_the_extra(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(MissingExtra, match=r"needs the package watchfiles.*pip install 'skillweave\[watch\]'"):
        Registry([Folder(root)]).watch()
