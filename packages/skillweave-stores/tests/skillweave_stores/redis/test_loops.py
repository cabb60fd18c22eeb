"""One store in several event loops, threads and processes."""

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import pytest
from redis import Redis

import skillweave
from skillweave import State
from skillweave.ledger import Writes
from skillweave_stores import RedisStore
from skillweave_testing import WordCounter

SKILL = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}}

# Connections of a loop that has ended are closed with the objects that hold them, of which Python warns.
ENDED_LOOPS = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")


@ENDED_LOOPS
def test_a_store_works_in_one_loop_after_the_other(redis_url: str) -> None:
    store = RedisStore(redis_url)
    for revision in range(3):
        assert asyncio.run(store.swap("c", revision, Writes(State())))
    asyncio.run(store.close())
    gc.collect()


@ENDED_LOOPS
def test_connections_of_loops_that_have_ended_do_not_add_up(redis_url: str) -> None:
    store = RedisStore(redis_url)
    for _ in range(10):
        asyncio.run(store.load("c"))
    gc.collect()
    with Redis.from_url(redis_url) as client:
        ours = [one for one in client.client_list() if one["name"] == "skillweave"]
    asyncio.run(store.close())
    gc.collect()
    assert len(ours) <= 2


async def test_a_store_serves_a_loop_and_the_verbs_without_await_at_once(redis_url: str) -> None:
    async with RedisStore(redis_url) as store:
        weaver = skillweave.open(SKILL, ledger=store, counter=WordCounter())
        given = await asyncio.gather(
            *(asyncio.to_thread(weaver.sync.weave, "go", conversation="c") for _ in range(5)),
            *(weaver.weave("go", conversation="c") for _ in range(5)),
        )
        assert sorted(one.skills for one in given) == [()] * 9 + [("a-b",)]


_FORKING = """
import os, sys
import skillweave
from skillweave_testing.fakes import WordCounter

skill = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}}
weaver = skillweave.open(skill, ledger=sys.argv[1], counter=WordCounter())
weaver.sync.weave("go", conversation="parent")
for _ in range(3):
    child = os.fork()
    if child == 0:
        import gc
        print(weaver.sync.weave("go", conversation="c").skills, flush=True)
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    print(weaver.sync.weave("go", conversation="parent").diagnostics, flush=True)
print(weaver.sync.weave("go", conversation="c").skills)
"""


def test_forked_children_and_their_parent_work_on(redis_url: str) -> None:
    # Without a second try: a child that disturbs the connection of its parent would cost it a call.
    url = f"{redis_url}?retries=0"
    answer = subprocess.run(
        [sys.executable, "-c", _FORKING, url], capture_output=True, text=True, timeout=60, check=True
    )
    assert answer.stdout == "('a-b',)\n()\n()\n()\n()\n()\n()\n"


def test_the_package_is_not_imported_before_a_ledger_needs_it(tmp_path: Path) -> None:
    code = (
        "import sys, skillweave, skillweave.stores, skillweave.cli.app; skillweave.open(ledger=sys.argv[1]); "
        "print('redis' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state.db")]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout == "False\n"
