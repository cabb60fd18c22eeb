"""Stores that do not answer, and mistakes of our own: what the client is told, and what the log says."""

import logging
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.skillweave_server.every import EVERY, name_of
from tests.skillweave_server.guarded import IDS, Guarded, guarded_service
from tests.skillweave_server.wire import JSON

from skillweave_server.endpoints import Endpoint
from skillweave_stores.access import Scope

pytestmark = pytest.mark.asyncio(loop_scope="module")

every = pytest.mark.parametrize("endpoint", EVERY, ids=name_of)
FORGED = "x\r\nERROR forged entry\u2028y"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def failing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    """A service whose stores have gone, with keys that it remembers."""
    async with guarded_service(tmp_path_factory.mktemp("failing")) as found:
        for scope in Scope:
            await found.wire.ask("GET", "/api/v1/memory/x", found.key(scope))
        await found.lose_stores()
        yield found


@every
async def test_without_its_stores_the_service_says_so_and_never_fails(failing: Guarded, endpoint: Endpoint) -> None:
    answer = await failing.ask(endpoint, failing.key(Scope.ADMIN))
    assert answer.status == endpoint.status or answer.status in endpoint.statuses
    assert answer.status != 500
    if answer.status == 503:
        assert int(answer.header("retry-after") or 0) >= 1


@every
async def test_no_line_of_the_log_can_be_forged(
    failing: Guarded, endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    odd = {**failing.key(Scope.ADMIN), **JSON, "User-Agent": FORGED, "Idempotency-Key": FORGED, "Last-Event-ID": FORGED}
    headers = {name: value.encode().decode("latin-1") for name, value in odd.items()}
    for ids in ({**IDS, **dict.fromkeys(IDS, FORGED)}, IDS):
        for with_key in (headers, {**headers, "Authorization": f"Bearer {FORGED}".encode().decode("latin-1")}):
            await failing.ask(endpoint, with_key, ids)
    ours = [record for record in caplog.records if record.name.startswith("skillweave")]
    assert [text for text in (record.getMessage() for record in ours) if not text.isprintable()] == []


async def test_a_mistake_of_ours_is_told_without_any_detail(failing: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise RuntimeError("the password is hunter2")

    failing.app.add_api_route("/api/v1/broken\nERROR forged", broken, include_in_schema=False)
    answer = await failing.wire.ask("GET", "/api/v1/broken%0AERROR%20forged")
    assert answer.status == 500
    assert b"hunter2" not in answer.content
    assert answer.json()["type"] == "urn:skillweave:problem:internal-error"
    assert answer.header("cache-control") == "no-store"
    assert answer.header("x-content-type-options") == "nosniff"
    (record,) = [one for one in caplog.records if one.name == "skillweave_server" and one.levelno == logging.ERROR]
    assert record.getMessage().isprintable()
    assert record.exc_info is not None
