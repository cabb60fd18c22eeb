import asyncio
from pathlib import Path

import pytest

from skillweave.errors import CannotWatch
from skillweave.registry.watching import FileWatcher, Places, Vanished

PATIENCE = 20.0


def here(path: Path) -> Places:
    return Places(level={str(path): frozenset()})


async def test_a_change_that_came_before_anybody_waits_is_told(tmp_path: Path) -> None:
    async with FileWatcher(here(tmp_path), 0.01) as watcher:
        (tmp_path / "x").write_text("x", encoding="utf-8")
        await asyncio.wait_for(watcher.changed(), PATIENCE)
        await asyncio.wait_for(watcher.changed(), PATIENCE)


async def test_a_tree_is_followed_with_all_below(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    async with FileWatcher(Places(deep=frozenset({str(tmp_path)})), 0.01) as watcher:
        (tmp_path / "a" / "b" / "x").write_text("x", encoding="utf-8")
        await asyncio.wait_for(watcher.changed(), PATIENCE)


async def test_a_place_that_is_not_there_has_vanished(tmp_path: Path) -> None:
    with pytest.raises(Vanished):
        async with FileWatcher(here(tmp_path / "gone"), 0.01):
            pass


async def test_what_the_system_refuses_is_said_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object, **__: object) -> object:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("watchfiles.awatch", refuses)
    with pytest.raises(CannotWatch, match=r"OS file watch limit reached.*max_user_watches"):
        async with FileWatcher(here(tmp_path), 0.01):
            pass


async def test_nothing_waits_any_more_when_it_is_left(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    async with FileWatcher(here(tmp_path), 0.01):
        assert asyncio.all_tasks() > before
    assert asyncio.all_tasks() == before
