"""Several processes on one database: what one publishes another gives, and what a turn costs while it is silent."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from skillweave import Checkpoint, MemoryStore, Registry, Ruling, Weaver
from skillweave.errors import AgentNotFound
from skillweave.registry import Agent
from skillweave_stores import PostgresStore, SqlSource
from skillweave_testing import ManualClock, WordCounter
from tests.proxy import Proxy

pytestmark = pytest.mark.each_database

DOCUMENT = "references/forms.md"
CLERK = Agent("clerk", skills=("greet",), checkpoints=(Checkpoint("sign-off", before="pay"),))


def greeting(instructions: str) -> dict[str, object]:
    return {"id": "greet", "description": "x", "triggers": {"keywords": ["hello"]}, "instructions": instructions}


@dataclass
class Replicas:
    """One process that publishes, and another that serves turns on its own connections; time is moved by hand."""

    publisher: SqlSource
    weaver: Weaver
    clock: ManualClock

    async def given(self, conversation: str) -> str:
        injection = await self.weaver.weave("hello", conversation=conversation)
        return "\n".join(message.text for message in injection.messages)


@pytest.fixture(params=["sqlite", "postgresql"])
async def replicas(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Replicas]:
    sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path / 'skills.db'}" if sqlite else request.getfixturevalue("postgres_url")
    clock = ManualClock()
    async with SqlSource(url) as publisher, SqlSource(url) as served:
        await publisher.publish(greeting("Old."), {DOCUMENT: "old document"})
        await publisher.put_agents([CLERK])
        weaver = Weaver(Registry([served], clock=clock), MemoryStore(), counter=WordCounter())
        yield Replicas(publisher, weaver, clock)


async def test_a_publish_on_one_replica_is_seen_by_another_within_two_seconds(replicas: Replicas) -> None:
    assert "Old." in await replicas.given("before")
    await replicas.publisher.publish(greeting("New."), {DOCUMENT: "new document"})
    replicas.clock.advance(2)
    given = await replicas.given("after")
    assert ("New." in given, "new document" in given, "old document" in given) == (True, True, False)


async def test_a_roll_back_and_a_removal_are_seen_too(replicas: Replicas) -> None:
    await replicas.given("before")
    await replicas.publisher.publish(greeting("New."), {DOCUMENT: "new document"})
    replicas.clock.advance(2)
    assert "New." in await replicas.given("published")
    _, old = await replicas.publisher.versions("greet")
    await replicas.publisher.roll_back("greet", old.content_hash)
    replicas.clock.advance(2)
    given = await replicas.given("rolled back")
    assert ("Old." in given, "old document" in given) == (True, True)
    await replicas.publisher.remove("greet")
    replicas.clock.advance(2)
    assert await replicas.given("removed") == ""


async def test_a_document_of_the_version_that_a_turn_gives_is_read_although_another_is_in_use(
    replicas: Replicas,
) -> None:
    await replicas.weaver.skills.snapshot()
    await replicas.publisher.publish(greeting("New."), {DOCUMENT: "new document"})
    given = await replicas.given("at once")
    assert ("Old." in given, "old document" in given) == (True, True)


async def test_an_agent_that_is_changed_on_one_replica_is_another_on_all(replicas: Replicas) -> None:
    clerk = await replicas.weaver.for_agent("clerk")
    injection = await clerk.weave("hello", conversation="c")
    assert (injection.skills, injection.tools.authorize("pay").ruling) == (("greet",), Ruling.ASK)
    await replicas.publisher.put_agents([Agent("clerk", skills=())])
    replicas.clock.advance(2)
    assert (await clerk.weave("hello", conversation="d")).skills == ()
    await replicas.publisher.remove_agent("clerk")
    replicas.clock.advance(2)
    with pytest.raises(AgentNotFound):
        await clerk.weave("hello", conversation="e")


@dataclass
class Counted:
    """A replica with its skills and its conversations behind a network of their own each."""

    weaver: Weaver
    clock: ManualClock
    skills: Proxy
    conversations: Proxy


@pytest.fixture
async def counted(postgres_url: str) -> AsyncIterator[Counted]:
    clock = ManualClock()
    async with AsyncExitStack() as open_until_the_end:
        enter = open_until_the_end.enter_async_context
        async with SqlSource(postgres_url) as publisher:
            await publisher.publish(greeting("Old."))
        skills, conversations = await enter(Proxy(postgres_url)), await enter(Proxy(postgres_url))
        source, store = await enter(SqlSource(skills.url)), await enter(PostgresStore(conversations.url))
        weaver = Weaver(Registry([source], clock=clock), store, counter=WordCounter(), fetch_seconds=0.2)
        await weaver.weave("hello", conversation="before")
        skills.trips = conversations.trips = 0
        yield Counted(weaver, clock, skills, conversations)


async def test_the_versions_of_a_second_cost_one_round_trip_for_all_its_turns(counted: Counted) -> None:
    for number in range(10):
        await counted.weaver.weave("hello", conversation=f"c{number}")
    assert (counted.skills.trips, counted.conversations.trips) == (0, 20)
    counted.clock.advance(1)
    await asyncio.gather(*(counted.weaver.preview("hello", conversation=f"d{number}") for number in range(10)))
    assert counted.skills.trips == 1


async def test_while_the_database_of_skills_is_silent_turns_go_on_and_are_kept(counted: Counted) -> None:
    counted.skills.fall_silent()
    counted.clock.advance(1)
    injections = await asyncio.gather(
        *(counted.weaver.weave("hello", conversation=f"c{number}") for number in range(5))
    )
    assert {injection.skills for injection in injections} == {("greet",)}
    assert {tuple(found.code for found in injection.diagnostics) for injection in injections} == {
        ("skills-may-be-old",)
    }
    assert {injection.revision for injection in injections} == {1}
    counted.skills.speak()
    counted.clock.advance(60)
    assert (await counted.weaver.weave("hello", conversation="again")).diagnostics == ()
