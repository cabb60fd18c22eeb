"""Limits of the service on every endpoint: of each key, and of addresses that guess keys; and a silent key store."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from tests.skillweave_server.every import EVERY, name_of
from tests.skillweave_server.guarded import OPTIONS, OURS, Guarded, guarded_service
from tests.skillweave_server.wire import Heard, bearer

from skillweave_server.endpoints import Endpoint
from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused
from skillweave_server.rates import Rates
from skillweave_stores.access import Scope, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

every = pytest.mark.parametrize("endpoint", EVERY, ids=name_of)
PLACE = "/api/v1/memory/x"
FEW = ServiceOptions(requests_per_minute=1, refusals_per_minute=3)


@pytest.fixture
def limited(guarded: Guarded) -> Iterator[Guarded]:
    """The service with one request a minute for each key, and three wrong ones from each address.

    Who was told to wait has to wait for ever: no minute of the clock that ends within a test makes a difference.
    """
    before = guarded.service.rates
    guarded.service.rates = Rates(FEW, clock=lambda: 0.0)
    yield guarded
    guarded.service.rates = before


def is_too_many(answer: Heard) -> bool:
    """Whether it is the problem that there were too many requests, with how long to wait."""
    return answer.status == 429 and 1 <= int(answer.header("retry-after") or 0) <= 60


class Full(Rates):
    """Lets nobody in."""

    def __init__(self) -> None:
        super().__init__(FEW)

    async def admit(self, key_id: str) -> None:
        """Refuse."""
        raise Refused(429, "too-many-requests", "wait", {"Retry-After": "1"})


@every
async def test_one_request_too_many_is_refused_at_every_endpoint(limited: Guarded, endpoint: Endpoint) -> None:
    key = limited.key(Scope.ADMIN)
    # One more is let in where a minute of the clock ends in between.
    answers = [await limited.ask(endpoint, key) for _ in range(3)]
    assert not is_too_many(answers[0])
    assert is_too_many(answers[2])


@every
async def test_a_request_too_many_changes_nothing(
    guarded: Guarded, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded.service, "rates", Full())
    before = await guarded.kept()
    assert is_too_many(await guarded.ask(endpoint, guarded.key(Scope.ADMIN)))
    assert await guarded.kept() == before


async def test_two_keys_of_one_tenant_have_limits_of_their_own(limited: Guarded) -> None:
    first = [await limited.wire.ask("GET", PLACE, limited.key(Scope.READ)) for _ in range(3)]
    second = await limited.wire.ask("GET", PLACE, limited.key(Scope.ADMIN))
    assert is_too_many(first[-1])
    assert second.status == 200


async def test_a_key_that_has_to_wait_is_refused_before_its_body_is_read(limited: Guarded) -> None:
    key = limited.key(Scope.WEAVE)
    turn = next(one for one in EVERY if name_of(one) == "POST /conversations/{conversation}/turns")
    for _ in range(3):
        await limited.ask(turn, key)
    answer = await limited.wire.ask("POST", "/api/v1/conversations/x/turns", key, is_endless=True)
    assert is_too_many(answer)


async def test_who_guesses_a_secret_is_refused_and_locks_out_no_good_key_behind_the_address(limited: Guarded) -> None:
    fresh, spelled = new_key("fresh", [Scope.READ], tenant=OURS, now=1.0)
    assert limited.service.keys is not None
    await limited.service.keys.put(fresh)
    for wrong in (f"sw_{fresh.id}_{'A' * 43}", "sw_none"):
        answers = [await limited.wire.ask("GET", PLACE, bearer(wrong)) for _ in range(7)]
        assert [one.status for one in answers[:3]] == [401] * 3
        assert any(map(is_too_many, answers))
    # Neither has it been seen before, nor is it told to wait.
    assert (await limited.wire.ask("GET", PLACE, bearer(spelled))).status == 200


async def test_a_proxy_is_believed_only_where_it_is_trusted(tmp_path: Path) -> None:
    few = replace(OPTIONS, refusals_per_minute=1, trusted_proxies=("192.0.2.0/24",))
    async with guarded_service(tmp_path, few) as guarded:

        async def statuses(address: str) -> set[int]:
            named = [{**bearer("sw_none"), "X-Forwarded-For": f"198.51.100.{number}"} for number in range(5)]
            return {(await guarded.wire.ask("GET", PLACE, one, address=address)).status for one in named}

        assert 429 in await statuses("203.0.113.9")
        assert await statuses("192.0.2.7") == {401}


async def test_another_address_is_not_refused_for_what_one_does(limited: Guarded) -> None:
    assert any([is_too_many(await limited.wire.ask("GET", PLACE, bearer("sw_none"))) for _ in range(7)])
    # Two addresses may fall into one counter, but not nine.
    others = [await limited.wire.ask("GET", PLACE, bearer("x"), address=f"198.51.100.{one}") for one in range(9)]
    assert 401 in {one.status for one in others}


@pytest_asyncio.fixture(loop_scope="module")
async def alone(tmp_path: Path) -> AsyncIterator[Guarded]:
    """A service of one test, whose stores it may close."""
    async with guarded_service(tmp_path, replace(OPTIONS, key_seconds=30.0)) as found:
        yield found


async def test_a_silent_key_store_stops_only_keys_that_are_not_remembered(alone: Guarded) -> None:
    known, fresh = alone.key(Scope.READ), alone.key(Scope.ADMIN)
    assert (await alone.wire.ask("GET", PLACE, known)).status == 200
    await alone.silence_keys()
    assert (await alone.wire.ask("GET", PLACE, known)).status == 200
    answer = await alone.wire.ask("GET", PLACE, fresh)
    assert answer.status == 503
    assert int(answer.header("retry-after") or 0) >= 1
    assert answer.header("content-type") == "application/problem+json"
    # Nobody who has not shown a key is told where the database is.
    assert str(alone.folder).encode() not in answer.content


async def test_a_service_without_keys_is_open(alone: Guarded) -> None:
    alone.service.ring = None
    for headers in ({}, bearer("sw_none"), alone.key(Scope.READ)):
        answer = await alone.wire.ask("GET", "/api/v1/memory/the-conversation", headers)
        # It is the default tenant's, whoever asks.
        assert (answer.status, answer.json()) == (200, {})
