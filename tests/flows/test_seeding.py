"""Many processes seed the same pack into one store at once, as replicas do when they all start."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from skillweave.cli import named_store
from skillweave.sources import Folder

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"
PROCESSES = 16


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store without tables, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'skills.db'}?timeout=60"
    url: str = request.getfixturevalue("postgres_url")
    return f"{url}?timeout=60"


def test_sixteen_processes_seed_one_store_at_once_and_every_skill_is_inserted_by_one(store: str) -> None:
    words = [sys.executable, "-m", "skillweave", "--no-config", "seed", str(EXAMPLES), "--pack", "coding"]
    words += ["--store", store, "--json"]
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    ended = [(process.communicate(timeout=300), process.returncode) for process in running]
    assert [(code, err) for (_, err), code in ended] == [(0, "")] * PROCESSES
    answers = [json.loads(out) for (out, _), _ in ended]
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
