"""What goes wrong at a store in the middle of a run costs another run at most: nothing is lost or there twice."""

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from benchmarks.seeding import write_skills
from skillweave import Skill, StoreUnavailable
from skillweave.sources import InCode
from skillweave_stores import SqlSource
from skillweave_stores.seed import Seeded, seed
from skillweave_stores.seed.filling import MOST_ENTRIES
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy

SKILLS = tuple(Skill(f"s-{number:03}", "S", "x") for number in range(MOST_ENTRIES * 3))


@pytest.fixture
def restartable_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a new database on a server that a test may restart."""
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE restarted")
    yield postgres_server.url("restarted")
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE restarted WITH (FORCE)")


def once(act: Callable[[], None]) -> Callable[[int, int], None]:
    """A progress that does something after the first chunk."""
    waiting = [act]

    def tell(_done: int, _read: int) -> None:
        if waiting:
            waiting.pop()()

    return tell


async def all_there(store: SqlSource) -> None:
    """Every skill is stored, each in one version, and there is nothing to do any more."""
    again = await seed(store, InCode(*SKILLS))
    assert (len(again.unchanged), again.changed) == (len(SKILLS), False)
    assert [skill.id for skill in (await store.load()).skills] == [skill.id for skill in SKILLS]
    assert {len(await store.versions(skill.id)) for skill in SKILLS[:: MOST_ENTRIES // 2]} == {1}


@pytest.mark.parametrize("crash", [True, False], ids=["crash", "restart"])
async def test_a_server_that_restarts_in_the_middle_costs_another_run_at_most(
    postgres_server: PostgresServer, restartable_url: str, crash: bool
) -> None:
    async with SqlSource(restartable_url) as store:
        done: Seeded | None = None
        act = once(lambda: postgres_server.restart(crash=crash))
        for _ in range(3):
            with suppress(StoreUnavailable):
                done = done or await seed(store, InCode(*SKILLS), progress=act)
        assert done is not None
        assert len(done.inserted) + len(done.unchanged) == len(SKILLS)
        await all_there(store)


async def test_a_network_that_falls_silent_ends_the_run_in_words_and_the_next_one_stores_the_rest(
    postgres_url: str,
) -> None:
    async with Proxy(postgres_url) as proxy:
        async with SqlSource(f"{proxy.url}?timeout=1") as store:
            with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:\d+/") as refusal:
                await seed(store, InCode(*SKILLS), progress=once(proxy.fall_silent))
            assert refusal.value.__notes__ == [
                f"skills stored before that: {MOST_ENTRIES}; run it again, and the rest follows"
            ]
            proxy.speak()
        async with SqlSource(proxy.url) as store:
            done = await seed(store, InCode(*SKILLS))
            assert len(done.unchanged) >= MOST_ENTRIES
            await all_there(store)


async def test_an_answer_that_is_lost_on_its_way_stores_nothing_twice(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as store:
        done = await seed(store, InCode(*SKILLS), progress=once(proxy.lose_answer))
        assert len(done.inserted) + len(done.unchanged) == len(SKILLS)
        await all_there(store)


LIMITED = 2 * 1024 * 1024


@pytest.mark.soak
def test_a_file_that_cannot_grow_ends_the_run_in_words_and_the_next_one_stores_the_rest(tmp_path: Path) -> None:
    write_skills(tmp_path / "skills", MOST_ENTRIES * 4, 5_000)
    words = [sys.executable, "-m", "skillweave", "--no-config", "seed", str(tmp_path / "skills")]
    words += ["--store", f"sqlite:///{tmp_path / 'skills.db'}"]

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMITED, LIMITED))

    full = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit)
    assert (full.returncode, full.stdout) == (3, "")
    assert "skills.db" in full.stderr.splitlines()[0]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    again = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert again.stdout.startswith(f"nothing changed; {MOST_ENTRIES * 4} skills unchanged in ")
