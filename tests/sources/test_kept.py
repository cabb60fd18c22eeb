"""What a folder keeps on disk: the next process reads only what changed, and gets the same as without."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.cachefile import CacheFolder
from skillweave.formats.strictness import Strictness
from skillweave.registry import Loaded
from skillweave.sources.folder import Folder
from tests.skill_folders import ids, skill_text, write_skill


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "skills"
    write_skill(folder / "one", files={"references/more.md": "more", "scripts/run.py": "pass"})
    write_skill(folder / "two", "---\nname: two\n---\nno description\n")
    write_skill(folder / "group/three", skill_text("three", body="x" * 1000))
    made_long_ago(folder)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> CacheFolder:
    return CacheFolder(tmp_path / "cache")


def made_long_ago(folder: Path) -> None:
    """A file that changed in this very moment is read again, as another change might not show."""
    time.sleep(0.05)
    assert folder.exists()


def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The places of the files that are parsed from now on."""
    from skillweave.formats import skill_md

    places: list[str] = []
    real = skill_md.read_skill_md

    def counting(data: bytes, **named: object) -> object:
        places.append(str(named["path"]))
        return real(data, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(skill_md, "read_skill_md", counting)
    return places


async def fresh(folder: Path, cache: CacheFolder | None, **named: object) -> Loaded:
    return await Folder(folder, cache=cache, **named).load(None)  # type: ignore[arg-type]


async def test_unchanged_files_are_not_parsed_again(
    skills: Path, cache: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await fresh(skills, cache)
    places = parsed(monkeypatch)
    again = await fresh(skills, cache)
    assert places == []
    assert (again.skills, again.diagnostics) == (first.skills, first.diagnostics)


async def test_of_several_files_only_the_changed_one_is_parsed(
    skills: Path, cache: CacheFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fresh(skills, cache)
    write_skill(skills / "one", skill_text("one", "Does another thing."))
    places = parsed(monkeypatch)
    again = await fresh(skills, cache)
    assert [Path(place).parent.name for place in places] == ["one"]
    assert (again.skills, again.diagnostics) == ((await fresh(skills, None)).skills, again.diagnostics)
    assert again.skills[1].description == "Does another thing."


async def test_a_change_is_kept_in_its_turn(skills: Path, cache: CacheFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    await fresh(skills, cache)
    write_skill(skills / "four")
    made_long_ago(skills)
    await fresh(skills, cache)
    places = parsed(monkeypatch)
    assert ids(await fresh(skills, cache)) == ids(await fresh(skills, None))
    assert len(places) == 4, "those of the load without a cache"


async def test_a_new_artifact_and_one_of_another_size_are_seen(skills: Path, cache: CacheFolder) -> None:
    await fresh(skills, cache)
    (skills / "one/references/more.md").write_text("much more")
    (skills / "one/references/new.md").write_text("new")
    assert (await fresh(skills, cache)).skills == (await fresh(skills, None)).skills


async def test_a_removed_skill_is_gone(skills: Path, cache: CacheFolder) -> None:
    await fresh(skills, cache)
    (skills / "one/SKILL.md").unlink()
    assert ids(await fresh(skills, cache)) == ["three"]


async def test_another_way_to_read_the_folder_has_its_own_memory(skills: Path, cache: CacheFolder) -> None:
    lenient = await fresh(skills, cache)
    strict = await fresh(skills, cache, strictness=Strictness.STRICT)
    named = await fresh(skills, cache, name="mine")
    assert strict.diagnostics == (await fresh(skills, None, strictness=Strictness.STRICT)).diagnostics
    assert named.skills[0].origin != lenient.skills[0].origin


async def test_what_cannot_be_read_back_is_read_anew_and_kept(skills: Path, cache: CacheFolder) -> None:
    expected = await fresh(skills, cache)
    (path,) = cache.path.iterdir()
    path.write_bytes(path.read_bytes()[:-5])
    assert (await fresh(skills, cache)).skills == expected.skills
    assert [one.name for one in cache.path.iterdir()] == [path.name]


async def test_a_cache_that_cannot_be_written_changes_nothing(skills: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert (await fresh(skills, CacheFolder(tmp_path / "file/cache"))).skills == (await fresh(skills, None)).skills


@given(edits=st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(("write", "remove", "artifact"))), max_size=6))
async def test_after_any_edits_the_kept_answer_is_the_fresh_one(
    edits: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("edits")
    cache = CacheFolder(home / "cache")
    write_skill(home / "skills/base")
    for number, (name, edit) in enumerate(edits):
        folder = home / "skills" / name
        if edit == "write":
            write_skill(folder, skill_text(name, f"Version {number}."))
        elif edit == "artifact":
            write_skill(folder, files={f"references/{number}.md": "x" * number})
        else:
            (folder / "SKILL.md").unlink(missing_ok=True)
        kept = await fresh(home / "skills", cache)
        plain = await fresh(home / "skills", None)
        assert (kept.skills, kept.diagnostics) == (plain.skills, plain.diagnostics)
