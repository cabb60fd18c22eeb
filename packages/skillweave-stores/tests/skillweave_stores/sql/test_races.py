"""Many processes at once on one database: nothing is lost, nothing done twice, nobody waits in a circle."""

import asyncio
from collections import Counter

import pytest
from tests.skillweave_stores.sql.conftest import ByHand
from tests.skillweave_stores.sql.processes import SKILLS, STOPS, race, race_with_entities

from skillweave.entities import Edge, Entity
from skillweave.registry import Change, Entry
from skillweave_stores import SqlGraph, SqlSource
from tests.racing import PROCESSES

pytestmark = pytest.mark.each_database


@pytest.fixture
def url(database_url: str) -> str:
    """The URL of a new, empty database, without tables."""
    return database_url


def test_processes_that_start_at_once_on_an_empty_database_insert_each_skill_once(url: str, by_hand: ByHand) -> None:
    answers = race(url)
    assert all(isinstance(one, dict) for one in answers), answers
    changes = sum((Counter(one) for one in answers), Counter())
    assert changes == {"inserted": SKILLS, "unchanged": SKILLS * (PROCESSES - 1)}
    for table, count in (("skills", SKILLS), ("skill_versions", SKILLS), ("skill_artifacts", 2 * SKILLS)):
        assert by_hand(f"SELECT count(*) FROM {table}")[0][0] == count
    assert by_hand("SELECT version_num FROM alembic_version") == by_hand("SELECT max(version_num) FROM alembic_version")


def test_processes_that_put_the_same_entities_in_opposite_orders_all_come_to_an_end(url: str) -> None:
    assert set(race_with_entities(url)) == {"done"}
    known, edges = asyncio.run(_graph(url))
    assert [one.id for one in known] == [
        *(f"n{number:03}" for number in range(STOPS)),
        *(f"own{number:02}" for number in range(0, PROCESSES, 2)),
    ]
    # One process wrote last, and all of it.
    assert len({str(one.properties) for one in (*known[:STOPS], *edges)}) == 1
    assert len(edges) == STOPS


async def _graph(url: str) -> tuple[list[Entity], list[Edge]]:
    async with SqlGraph(url) as graph:
        pieces = [piece async for piece in graph.export()]
    return [one for one in pieces if isinstance(one, Entity)], [one for one in pieces if isinstance(one, Edge)]


async def test_packs_in_opposite_orders_do_not_wait_for_each_other_in_a_circle(url: str) -> None:
    sources = [SqlSource(url) for _ in range(4)]
    pack = [Entry({"id": f"s{n}", "description": "x"}, {"a.md": "a"}) for n in range(40)]
    rounds = [
        [Entry({**entry.definition, "description": f"{n}"}) for entry in (pack if n % 2 else reversed(pack))]
        for n in range(8)
    ]
    await asyncio.gather(*(sources[n % 4].upsert(one) for n, one in enumerate(rounds)))
    assert len({skill.description for skill in (await sources[0].load()).skills}) == 1
    assert {len(await sources[0].versions(f"s{n}")) for n in range(40)} == {8}
    for source in sources:
        await source.close()


async def test_of_two_publishers_of_one_skill_both_versions_are_kept(url: str) -> None:
    async with SqlSource(url) as mine, SqlSource(url) as theirs:
        for n in range(10):
            await asyncio.gather(
                mine.publish({"id": "alpha", "description": f"mine {n}"}, {"a.md": f"mine {n}"}),
                theirs.publish({"id": "alpha", "description": f"theirs {n}"}, {"a.md": f"theirs {n}"}),
            )
            (skill,) = (await mine.load()).skills
            assert await theirs.read(skill, "a.md") == skill.description.encode()
        versions = await mine.versions("alpha")
        assert len(versions) == 20
        for version in versions:
            assert await mine.read(version.skill, "a.md") == version.skill.description.encode()


async def test_a_roll_back_against_a_publish_leaves_one_of_them_whole(url: str) -> None:
    async with SqlSource(url) as mine, SqlSource(url) as theirs:
        await mine.publish({"id": "alpha", "description": "first"}, {"a.md": "first"})
        (first,) = await mine.versions("alpha")
        await mine.publish({"id": "alpha", "description": "second"}, {"a.md": "second"})
        for n in range(10):
            await asyncio.gather(
                mine.roll_back("alpha", first.content_hash),
                theirs.publish({"id": "alpha", "description": f"new {n}"}, {"a.md": f"new {n}"}),
            )
            (skill,) = (await theirs.load()).skills
            assert skill.description in ("first", f"new {n}")
            assert await theirs.read(skill, "a.md") == skill.description.encode()
            assert [one.skill for one in await mine.versions("alpha") if one.in_use] == [skill]


async def test_who_loads_while_others_write_sees_whole_transactions(url: str) -> None:
    ids = [f"s{n:03}" for n in range(30)]
    async with SqlSource(url) as writer, SqlSource(url) as reader:
        await writer.upsert(Entry({"id": one, "description": "0"}) for one in ids)

        async def write() -> None:
            for n in range(1, 15):
                await writer.upsert(Entry({"id": one, "description": str(n)}) for one in ids)

        writing = asyncio.create_task(write())
        loaded = await reader.load()
        while not writing.done():
            loaded = await reader.load(loaded)
            assert len({skill.description for skill in loaded.skills}) == 1
        await writing
        assert {skill.description for skill in (await reader.load(loaded)).skills} == {"14"}


async def test_a_publish_that_waited_for_the_same_publish_changes_nothing(url: str) -> None:
    async with SqlSource(url) as mine, SqlSource(url) as theirs:
        written = await asyncio.gather(
            *(one.publish({"id": "alpha", "description": "x"}, {"a.md": "a"}) for one in (mine, theirs) * 8)
        )
        assert Counter(one.change for one in written) == {Change.INSERTED: 1, Change.UNCHANGED: 15}
        assert (await mine.version()).startswith("1 ")
