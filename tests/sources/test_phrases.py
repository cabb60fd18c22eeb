"""The file of phrases beside a library."""

import json
import os
import time
from pathlib import Path

from skillweave.cachefile import CacheFolder
from skillweave.registry import Registry
from skillweave.sources.folder import Folder
from skillweave.sources.phrases import FILE


def library(folder: Path, *ids: str) -> Path:
    for one in ids:
        (folder / one).mkdir()
        (folder / one / "SKILL.md").write_text(f"---\nname: {one}\ndescription: Makes {one}.\n---\nBoil water.\n")
    return folder


def phrases(folder: Path, *lines: object) -> None:
    (folder / FILE).write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines))


async def loaded(folder: Path) -> dict[str, tuple[str, ...]]:
    registry = Registry([Folder(folder)])
    await registry.refresh()
    return {skill.id: skill.phrases for skill in registry.snapshot.values()}


async def test_skills_have_the_phrases_of_the_file_and_the_same_digest(tmp_path: Path) -> None:
    source = Folder(library(tmp_path, "tea", "soup"))
    before = {skill.id: skill.digest for skill in (await source.load()).skills}
    phrases(
        tmp_path, {"id": "tea", "phrases": ["something hot  to drink"], "model": "m"}, {"id": "gone", "phrases": ["x"]}
    )
    skills = (await source.load()).skills
    assert {skill.id: skill.phrases for skill in skills} == {"tea": ("something hot to drink",), "soup": ()}
    assert {skill.id: skill.digest for skill in skills} == before


async def test_a_file_that_comes_changes_and_goes_is_followed(tmp_path: Path) -> None:
    registry = Registry([Folder(library(tmp_path, "tea"))])
    seen = []
    for said in (None, "hot drink", "a cup of something", None):
        if said is None:
            (tmp_path / FILE).unlink(missing_ok=True)
        else:
            phrases(tmp_path, {"id": "tea", "phrases": [said]})
        await registry.refresh()
        seen.append(registry.snapshot["tea"].phrases)
    assert seen == [(), ("hot drink",), ("a cup of something",), ()]


async def test_what_is_kept_from_an_earlier_process_has_the_phrases_of_now(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path / "cache")
    (folder := tmp_path / "skills").mkdir()
    library(folder, "tea")
    for said in ("hot drink", "a cup of something"):
        phrases(folder, {"id": "tea", "phrases": [said]})
        _age(folder)
        (skill,) = (await Folder(folder, cache=cache).load()).skills
        assert skill.phrases == (said,)


def _age(folder: Path) -> None:
    """Make everything older than the clock's tick, so that marks are trusted."""
    for path in (*folder.rglob("*"), folder):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    time.sleep(0.03)


async def test_a_line_that_cannot_be_read_is_told_and_the_others_count(tmp_path: Path) -> None:
    library(tmp_path, "tea", "soup")
    phrases(tmp_path, "{broken", {"id": "tea", "phrases": "no list"}, {"id": "soup", "phrases": ["dinner"]}, "[]")
    found = await Folder(tmp_path).load()
    assert {skill.id: skill.phrases for skill in found.skills} == {"tea": (), "soup": ("dinner",)}
    assert [(one.code, one.location.line) for one in found.diagnostics] == [("bad-phrases", n) for n in (1, 2, 4)]


async def test_more_and_longer_phrases_than_count_are_cut(tmp_path: Path) -> None:
    phrases(library(tmp_path, "tea"), {"id": "tea", "phrases": ["x" * 5_000, *(f"tea {n}" for n in range(50))]})
    (skill,) = (await Folder(tmp_path).load()).skills
    assert (len(skill.phrases), len(skill.phrases[0])) == (12, 200)


async def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    phrases(tmp_path, {"id": "tea", "phrases": ["hot drink"]})
    (folder := tmp_path / "skills").mkdir()
    library(folder, "tea")
    (folder / FILE).symlink_to(tmp_path / FILE)
    assert await loaded(folder) == {"tea": ()}


async def test_a_stream_of_skills_has_the_phrases_too(tmp_path: Path) -> None:
    phrases(library(tmp_path, "tea"), {"id": "tea", "phrases": ["hot drink"]})
    assert [skill.phrases async for part in Folder(tmp_path).stream() for skill in part.skills] == [("hot drink",)]
