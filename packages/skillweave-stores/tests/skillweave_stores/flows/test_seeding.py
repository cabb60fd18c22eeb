"""Many processes seed the same pack into one store at once, as replicas do when they all start."""

import asyncio
import json
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from skillweave.cli.entry import run
from skillweave.registry import Registry
from skillweave.registry.registry import POLL_SECONDS
from skillweave.sources.folder import Folder
from skillweave_stores.commands.options import named_store
from tests.racing import PROCESSES, race

RELEASE = "---\nname: release\ndescription: {}\n---\n\nText.\n"
EXAMPLES = Path(__file__).parents[5] / "examples" / "skills"


@pytest.fixture
def store(database_url: str) -> str:
    """The URL of a store without tables, of each kind."""
    return f"{database_url}?timeout=60"


def _seeded(words: list[str], _: int) -> tuple[int, str, str]:
    """How one process's command ends, and what it prints."""
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        code = run(words)
    return code, out.getvalue(), err.getvalue()


def test_many_processes_seed_one_store_at_once_and_every_skill_is_inserted_by_one(store: str) -> None:
    words = ["--no-config", "store", "put", str(EXAMPLES), "--pack", "coding", "--store", store, "--json"]
    ended = race(_seeded, words)
    assert [(code, err) for code, _, err in ended] == [(0, "")] * PROCESSES
    answers = [json.loads(out) for _, out, _ in ended]
    inserted = Counter(skill for answer in answers for skill in answer["inserted"])
    unchanged = Counter(skill for answer in answers for skill in answer["unchanged"])
    assert set(inserted.values()) == {1}
    assert unchanged == Counter(dict.fromkeys(inserted, PROCESSES - 1))
    assert not any(answer["updated"] or answer["refused"] for answer in answers)

    async def stored() -> tuple[list[str], set[int]]:
        async with named_store(store) as opened:
            skills = (await opened.load(None)).skills
            return [skill.id for skill in skills], {len(await opened.versions(skill.id)) for skill in skills}

    ids, versions = asyncio.run(stored())
    assert ids == sorted(inserted)
    assert versions == {1}
    assert {skill.id for skill in asyncio.run(Folder(EXAMPLES).load()).skills} < set(ids)


@pytest.mark.soak
async def test_what_another_process_publishes_and_rolls_back_reaches_who_watches_the_store(
    store: str, tmp_path: Path
) -> None:
    """Whoever watches asks once a second, so that a replica follows within two."""
    assert POLL_SECONDS <= 1
    async with named_store(store) as opened:
        registry = Registry([opened])
        changes = registry.watch()
        await registry.refresh()
        (tmp_path / "release").mkdir()
        for description, kind in (("First.", "added"), ("Second.", "changed")):
            (tmp_path / "release" / "SKILL.md").write_text(RELEASE.format(description), encoding="utf-8")
            await _ran("store", "put", str(tmp_path / "release"), "--store", store)
            assert getattr(await anext(changes), kind) == ("release",)
            assert registry.snapshot["release"].description == description
        await _ran("store", "rollback", "release", "--store", store)
        assert (await anext(changes)).changed == ("release",)
        assert registry.snapshot["release"].description == "First."
        await _ran("store", "unpublish", "release", "--store", store)
        assert (await anext(changes)).removed == ("release",)
        await changes.aclose()


async def _ran(*words: str) -> None:
    """Run a command in a process of its own."""
    running = await asyncio.create_subprocess_exec(sys.executable, "-m", "skillweave", "--no-config", *words)
    assert await running.wait() == 0
