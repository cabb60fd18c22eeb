"""What a flood of one tenant has of the service is bounded, and the verdicts of another stay what they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from tests.skillweave_server.parts import reached, service_in

from skillweave import State
from skillweave_server.app import create_app
from skillweave_server.opening import Entry
from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused
from skillweave_server.service import Service
from skillweave_server.shares import STREAMS, WORKING, Share
from skillweave_stores.access import Scope, new_key

MOST = WORKING * 2
"""Of so many requests of a tenant two work at a time."""
VERDICT = {"conversation": "c", "tool": "write"}
CAREFUL = {
    "id": "careful",
    "description": "Writes nothing.",
    "triggers": {"keywords": ["careful"]},
    "tools": {"forbidden": ["write"]},
    "text": {"instructions": "Read only."},
}


@dataclass
class Held:
    """A service of which one tenant's States are not told before `going` is set; `most` came at once."""

    service: Service
    http: httpx.AsyncClient
    keys: dict[str, str]
    going: asyncio.Event = field(default_factory=asyncio.Event)
    working: int = 0
    most: int = 0

    async def verdict(self, tenant: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[tenant]}"}
        return await self.http.post("/api/v1/authorize", json=VERDICT, headers=headers)


@asynccontextmanager
async def held_service(folder: Path) -> AsyncIterator[Held]:
    options = ServiceOptions(requests_at_once=MOST, requests_per_minute=None)
    service = service_in(folder, (CAREFUL,), entry=Entry.KEYS, options=options)
    keys = {}
    assert service.keys is not None
    for tenant in ("flooding", "quiet"):
        kept, keys[tenant] = new_key(tenant, [Scope.WEAVE], tenant=tenant, now=1.0)
        await service.keys.put(kept)
    async with reached(create_app(service)) as http:
        held = Held(service, http, keys)
        store = service.weaver("flooding").ledger.store
        load = store.load

        async def loaded(conversation: str, *, tenant: str = "") -> tuple[State, float]:
            if tenant == "flooding":
                held.working += 1
                held.most = max(held.most, held.working)
                try:
                    await held.going.wait()
                finally:
                    held.working -= 1
            return await load(conversation, tenant=tenant)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store, "load", loaded)
            yield held
            held.going.set()


async def test_beyond_its_share_a_tenant_is_told_to_wait_and_others_are_answered(tmp_path: Path) -> None:
    async with held_service(tmp_path) as held:
        await held.service.weaver("quiet").weave("be careful", conversation="c")
        flood = [asyncio.create_task(held.verdict("flooding")) for _ in range(MOST + 5)]
        done, waiting = set[asyncio.Task[httpx.Response]](), set(flood)
        while len(done) < 5:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        refused = [one.result() for one in done]
        assert {(one.status_code, one.headers["retry-after"]) for one in refused} == {(429, "1")}
        assert refused[0].json()["type"].endswith("too-many-requests")
        assert (await held.verdict("quiet")).json()["ruling"] == "deny"
        held.going.set()
        assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
        assert (await held.verdict("flooding")).status_code == 200


async def test_of_the_requests_of_a_tenant_a_sixteenth_works_at_a_time(tmp_path: Path) -> None:
    async with held_service(tmp_path) as held:
        flood = [asyncio.create_task(held.verdict("flooding")) for _ in range(MOST)]
        while held.working < MOST // WORKING:  # noqa: ASYNC110 - the service tells nobody
            await asyncio.sleep(0)
        held.going.set()
        assert {one.status_code for one in await asyncio.gather(*flood)} == {200}
        assert held.most == MOST // WORKING


async def test_a_request_that_fails_or_is_broken_off_gives_its_place_back(tmp_path: Path) -> None:
    async with held_service(tmp_path) as held:
        flood = [asyncio.create_task(held.verdict("flooding")) for _ in range(MOST)]
        while held.working < MOST // WORKING:  # noqa: ASYNC110 - the service tells nobody
            await asyncio.sleep(0)
        for one in flood:
            one.cancel()
        await asyncio.gather(*flood, return_exceptions=True)
        headers = {"Authorization": f"Bearer {held.keys['flooding']}"}
        assert (await held.http.post("/api/v1/authorize", content=b"{", headers=headers)).status_code == 415
        share = held.service.shares.of("flooding")
        assert (share.requests, share.streams) == (0, 0)


def test_streams_are_counted_apart_from_requests() -> None:
    share = Share(2)
    ends = []
    for _ in range(2 * STREAMS):
        share.enter()
        ends.append(share.follow())
    assert share.requests == 0
    share.enter()
    with pytest.raises(Refused):
        share.follow()
    ends[0]()
    share.follow()


async def test_a_flood_of_refusals_is_answered_late(monkeypatch: pytest.MonkeyPatch) -> None:
    share, slept = Share(4), list[float]()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await share.hold_refusal()
    assert not slept
    await share.hold_refusal()
    assert len(slept) == 1
