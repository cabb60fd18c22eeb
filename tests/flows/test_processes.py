"""Many processes race on one ledger."""

import asyncio
import subprocess
import sys
from collections import Counter
from pathlib import Path

import skillweave
from skillweave.settings import CatalogMode, Settings
from skillweave_testing.fakes import WordCounter
from tests.racing import race

TURNS = 12


def _given(ledger: str, number: int) -> tuple[str, ...]:
    """What one process gives in its turns of the conversation that all of them have."""
    return asyncio.run(_turns(f"racer-{number}", ledger))


async def _turns(name: str, ledger: str) -> tuple[str, ...]:
    skills = [{"id": f"skill-{n}", "description": "d", "text": {"instructions": f"How, {n}."}} for n in range(4)]
    settings = Settings(catalog=CatalogMode.NEVER)
    weaver = skillweave.open(*skills, ledger=ledger, counter=WordCounter(), settings=settings)
    given: list[str] = []
    for turn in range(TURNS):
        named = [f"skill-{turn % 4}"]
        async with weaver.delivery("x", conversation="c", turn_id=f"{name}-{turn}", named=named) as injection:
            given += injection.skills
    await weaver.ledger.store.close()
    return tuple(given)


def test_many_processes_on_one_file_give_each_skill_once(tmp_path: Path) -> None:
    assert_each_given_once(str(tmp_path / "state.db"))


def test_many_processes_on_one_redis_give_each_skill_once(redis_url: str) -> None:
    assert_each_given_once(redis_url)


def test_many_processes_on_one_postgresql_give_each_skill_once(postgres_url: str) -> None:
    assert_each_given_once(postgres_url)


def assert_each_given_once(ledger: str) -> None:
    answers = race(_given, ledger)
    assert [answer for answer in answers if isinstance(answer, str)] == []
    assert Counter(skill for given in answers for skill in given) == Counter({f"skill-{n}": 1 for n in range(4)})


_FORKING = """
import os, sys
import skillweave
from skillweave_testing.fakes import WordCounter

skill = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}}
weaver = skillweave.open(skill, ledger=sys.argv[1], counter=WordCounter())
weaver.sync.weave("go", conversation="parent")
child = os.fork()
if child == 0:
    print(weaver.sync.weave("go", conversation="c").skills, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(weaver.sync.weave("go", conversation="c").skills)
"""


def test_a_forked_child_works_on_and_its_parent_knows_what_it_gave(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _FORKING, str(tmp_path / "state.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert answer.stdout == "('a-b',)\n()\n"


_WAITING = """
import asyncio, os, sys
import skillweave
from skillweave_testing.fakes import WordCounter

async def main(path, part):
    skill = {"id": "pay-bill", "description": "d", "checkpoints": ["review"], "text": {"instructions": "How to pay."}}
    weaver = skillweave.open(skill, ledger=path, counter=WordCounter())
    if part == "asks":
        async with weaver.delivery("x", conversation="c", turn_id="t", named=["pay-bill"]) as injection:
            print(injection.waits, await weaver.approvals.hold("c", "t"), flush=True)
            os._exit(0)
    elif part == "decides":
        await weaver.weave("another message", conversation="c")
        print((await weaver.ledger.state("c")).records[0].state.value)
        judgement = await weaver.approvals.decide("c", "pay-bill", "review", "approved", by="Ann")
        print(judgement.resumed)
    else:
        print(await weaver.confirm("c", "t"), (await weaver.ledger.state("c")).records[0].state.value)
    await weaver.ledger.store.close()

asyncio.run(main(sys.argv[1], sys.argv[2]))
"""


def test_three_processes_share_one_checkpoint_the_first_of_which_dies_waiting(tmp_path: Path) -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", _WAITING, str(tmp_path / "state.db"), part],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for part in ("asks", "decides", "confirms")
    ]
    assert said == ["True ('skill:pay-bill',)\n", "claimed\n('t',)\n", "True given\n"]
