"""Two tenants with the same ids: neither sees nor changes anything of the other."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from redis import Redis
from tests.skillweave_server.every import EVERY, name_of, takes_key
from tests.skillweave_server.guarded import (
    IDS,
    MARK,
    NOBODY,
    OTHER_IDS,
    OURS,
    THEIRS,
    Guarded,
    guarded_service,
    guarded_service_on,
)

from skillweave.events import Announced
from skillweave.events.event import Event
from skillweave_server.endpoints import Endpoint
from skillweave_stores.access import Scope
from skillweave_testing.fixtures import new_database, postgres_of, redis_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

every = pytest.mark.parametrize("endpoint", EVERY, ids=name_of)


@pytest.fixture(scope="module", params=["embedded", "servers"])
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[str, str] | None]:
    """The URLs of a PostgreSQL database and of a Redis, and none of both for the embedded store."""
    if request.param == "embedded":
        yield None
        return
    redis = redis_of(request)
    for postgres in new_database(postgres_of(request)):
        with Redis.from_url(redis) as client:
            client.flushdb()
        yield postgres, redis


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def filled(tmp_path_factory: pytest.TempPathFactory, servers: tuple[str, str] | None) -> AsyncIterator[Guarded]:
    """A service in which the first tenant has things under ids of its own besides those that both have."""
    folder = tmp_path_factory.mktemp("tenants")
    async with guarded_service(folder) if servers is None else guarded_service_on(folder, *servers) as guarded:
        await guarded.fill(OTHER_IDS)
        yield guarded


@every
async def test_nothing_of_another_tenant_is_seen_or_changed(filled: Guarded, endpoint: Endpoint) -> None:
    before = await filled.kept()
    key = filled.key(Scope.ADMIN, THEIRS)
    for ids in (IDS, OTHER_IDS):
        answer = await filled.ask(endpoint, key, ids)
        assert answer.status < 500
        assert MARK.encode() not in answer.content
        assert not any(MARK.encode() in value for _, value in answer.headers)
    assert await filled.kept() == before


@pytest.mark.parametrize("endpoint", [one for one in EVERY if one.method in ("GET", "DELETE")], ids=name_of)
async def test_what_another_tenant_has_is_answered_as_what_nobody_has(filled: Guarded, endpoint: Endpoint) -> None:
    key = filled.key(Scope.ADMIN, NOBODY)
    ours = await filled.ask(endpoint, key, OTHER_IDS)
    nobodys = await filled.ask(endpoint, key, {name: f"none-{one}" for name, one in IDS.items()})
    assert ours.status == nobodys.status
    # The ids themselves may be told, and nothing else may differ.
    assert ours.content.replace(b"ours-", b"") == nobodys.content.replace(b"none-", b"")


async def test_the_owner_sees_what_the_other_does_not(filled: Guarded) -> None:
    """What the tests above look for is there: otherwise they could not fail."""
    shown = [
        name_of(endpoint)
        for endpoint in EVERY
        if endpoint.method == "GET" and MARK.encode() in (await filled.ask(endpoint, filled.key(Scope.ADMIN))).content
    ]
    assert {"GET /memory/{conversation}", "GET /approvals", "GET /approvals/{approval}"} <= set(shown)


STREAM = f"/api/v1/conversations/{IDS['conversation']}/stream?after="


async def test_a_stream_has_the_events_of_its_tenant_alone(filled: Guarded) -> None:
    await filled.fill(IDS, THEIRS, "for-others")
    ours = await filled.wire.ask("GET", STREAM, filled.key(Scope.READ), until=MARK.encode())
    theirs = await filled.wire.ask("GET", STREAM, filled.key(Scope.READ, THEIRS), until=b"for-others")
    nobodys = await filled.wire.ask("GET", STREAM, filled.key(Scope.READ, NOBODY))
    assert MARK.encode() in ours.content
    assert b"for-others" in theirs.content
    assert MARK.encode() not in theirs.content
    assert b"data:" not in nobodys.content


async def test_a_position_in_the_stream_of_another_tenant_is_none_in_ours(filled: Guarded) -> None:
    await filled.fill(IDS, THEIRS, "for-others")
    (last, *_) = [one.position for one in await filled.service.events.read(IDS["conversation"], tenant=OURS)]
    for headers in ({"Last-Event-ID": last}, {"Last-Event-ID": "1"}):
        answer = await filled.wire.ask("GET", STREAM, {**filled.key(Scope.READ, THEIRS), **headers})
        assert MARK.encode() not in answer.content
        assert answer.status in (200, 410)


async def test_what_an_event_says_cannot_begin_another_one(filled: Guarded) -> None:
    forged = "x\r\n\r\nevent: turn.decided\ndata: {}\u2028\n\nid: 9"
    told = Event("forged-1", "NOTED", "forged", None, Announced(IDS["skill"], {forged: forged}))
    await filled.service.events.append("forged", [told], tenant=OURS)
    target, key = "/api/v1/conversations/forged/stream?after=", filled.key(Scope.READ)
    heard = await filled.wire.ask("GET", target, key, until=b"data:")
    lines = heard.content.decode().splitlines()
    assert [line for line in lines if line.startswith("event:")] == ["event: NOTED"]
    assert len([line for line in lines if line.startswith("data:")]) == 1
    assert len([line for line in lines if line.startswith("id:")]) == 1


with_key = pytest.mark.parametrize("endpoint", [one for one in EVERY if takes_key(one)], ids=name_of)


@with_key
async def test_the_same_idempotency_key_of_two_tenants_is_two_requests(filled: Guarded, endpoint: Endpoint) -> None:
    # The tests above may have taken away what one of them had.
    await filled.fill(IDS)
    await filled.fill(IDS, THEIRS, "for-others")
    ids, sent = {**IDS, "id": "the-same"}, {"Idempotency-Key": "the-same"}
    ours = await filled.ask(endpoint, {**filled.key(Scope.ADMIN), **sent}, ids)
    before = await filled.kept()
    theirs = await filled.ask(endpoint, {**filled.key(Scope.ADMIN, THEIRS), **sent}, ids)
    assert ours.status == theirs.status
    assert MARK.encode() not in theirs.content
    assert await filled.kept() == before
