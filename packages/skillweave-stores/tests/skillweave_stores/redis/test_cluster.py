"""Conversations that are spread over the nodes of a real cluster."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
from redis import Redis

import skillweave
from skillweave import State, StoreUnavailable
from skillweave.ledger import Writes
from skillweave_stores import RedisStore
from skillweave_testing import WordCounter
from skillweave_testing.servers import RedisServer

HALVES = ((0, 8191), (8192, 16383))


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[RedisServer]]:
    """Two nodes of one cluster, each of which holds half of the slots."""
    with RedisServer(cluster=True) as one, RedisServer(cluster=True) as other:
        for node, half in zip((one, other), HALVES, strict=True):
            with Redis.from_url(node.url()) as client:
                client.execute_command("CLUSTER", "FLUSHSLOTS")
                client.execute_command("CLUSTER", "RESET")
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", *half)
        with Redis.from_url(one.url()) as client:
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port, other.bus)
        for node in (one, other):
            node.wait_for_cluster(nodes=2)
        yield [one, other]


@pytest.fixture
def url(nodes: list[RedisServer]) -> str:
    for node in nodes:
        node.flush()
    return nodes[0].url().replace("redis://", "redis+cluster://")


@pytest.fixture
async def store(url: str) -> AsyncIterator[RedisStore]:
    async with RedisStore(url) as store:
        yield store


@pytest.mark.soak
async def test_a_page_of_conversations_is_from_all_nodes(store: RedisStore, nodes: list[RedisServer]) -> None:
    names = [f"c{n:02}" for n in range(40)]
    await asyncio.gather(*(store.swap(name, 0, Writes(State())) for name in names))
    for node in nodes:
        with Redis.from_url(node.url()) as client:
            assert client.dbsize(), "each node has some of them"
    assert await store.conversations() == tuple(names)
    assert await store.conversations("c1", 3, "c11") == ("c12", "c13", "c14")
    assert await store.count() == 40


async def test_turns_go_to_the_node_of_their_conversation(store: RedisStore) -> None:
    skill = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}}
    weaver = skillweave.open(skill, ledger=store, counter=WordCounter())
    for expected in (("a-b",), ()):
        given = await asyncio.gather(*(weaver.weave("go", conversation=f"c{n}") for n in range(20)))
        assert [one.skills for one in given] == [expected] * 20
        assert all(one.diagnostics == () for one in given)
    assert len(await weaver.why("c1")) >= 1


async def test_what_each_node_may_lose_is_told(store: RedisStore, nodes: list[RedisServer]) -> None:
    with Redis.from_url(nodes[1].url()) as client:
        client.config_set("appendfsync", "everysec")
        try:
            (found,) = await store.durability()
        finally:
            client.config_set("appendfsync", "always")
    assert f"(node 127.0.0.1:{nodes[1].port})" in found.message


async def test_a_node_that_crashes_costs_the_calls_of_the_moment_and_no_conversation(
    store: RedisStore, nodes: list[RedisServer]
) -> None:
    names = [f"c{n}" for n in range(40)]
    for name in names:
        await store.swap(name, 0, Writes(State(last_turn=name)))
    loads = [asyncio.create_task(store.load(name)) for name in names * 3]
    await asyncio.sleep(0)
    await asyncio.to_thread(nodes[1].restart, crash=True)
    failed = [one for one in await asyncio.gather(*loads, return_exceptions=True) if isinstance(one, BaseException)]
    assert [repr(one) for one in failed if not isinstance(one, StoreUnavailable)] == []
    for node in nodes:
        await asyncio.to_thread(node.wait_for_cluster, nodes=2)
    assert [(await store.load(name))[0].last_turn for name in names] == names


async def test_a_node_that_is_asked_as_if_it_were_alone_says_how_it_wants_to_be_asked(nodes: list[RedisServer]) -> None:
    async with RedisStore(nodes[0].url(), retries=0) as store:
        loads = (store.load(f"c{n}") for n in range(40))
        refused = [one for one in await asyncio.gather(*loads, return_exceptions=True) if isinstance(one, Exception)]
    assert refused, "some conversations are on the other node"
    assert all("is a node of a cluster; write redis+cluster://" in str(one) for one in refused)
    assert all(isinstance(one, StoreUnavailable) for one in refused)
