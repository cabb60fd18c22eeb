"""A service without keys: open to everybody on its machine, and to no page that a browser there shows."""

from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from tests.skillweave_server.every import EVERY, name_of, target_of
from tests.skillweave_server.parts import service_in
from tests.skillweave_server.wire import Wire, bearer

from skillweave_server.app import create_app
from skillweave_server.endpoints import Endpoint

pytestmark = pytest.mark.asyncio(loop_scope="module")

PLACE = "/api/v1/memory/x"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wire(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Wire]:
    """A client of an open service."""
    app = create_app(service_in(tmp_path_factory.mktemp("open")))
    async with app.router.lifespan_context(app):
        yield Wire(app)


async def test_a_key_makes_no_difference(wire: Wire) -> None:
    for headers in ({}, bearer("sw_none"), {"Authorization": "Basic x"}):
        assert (await wire.ask("GET", PLACE, headers)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8000",
        "127.0.0.1:8000",
        "127.8.9.1",
        "[::1]:8000",
        "LOCALHOST",
        "app.localhost",
        "api:80",
    ],
)
async def test_it_answers_by_the_names_of_its_machine(wire: Wire, host: str) -> None:
    assert (await wire.ask("GET", PLACE, {"Host": host})).status == 200
    assert (await wire.ask("GET", PLACE, {"Host": host, "Origin": f"http://{host}"})).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        [("Host", "evil.example")],
        [("Host", "evil.example:8000")],
        [("Host", "127.0.0.1.evil.example")],
        [("Host", "localhost"), ("Host", "evil.example")],
        [("Host", "192.168.1.5:8000")],
        [("Host", "[2001:db8::1]")],
        [("Host", "[::1")],
        [("Host", "")],
        [("Host", "localhost"), ("Origin", "https://evil.example")],
        [("Host", "localhost"), ("Origin", "null")],
        [("Host", "localhost"), ("Origin", "")],
    ],
    ids=str,
)
async def test_a_page_of_another_site_is_refused(wire: Wire, headers: Sequence[tuple[str, str]]) -> None:
    answer = await wire.ask("GET", PLACE, headers)
    assert answer.status == 403
    assert answer.json()["type"] == "urn:skillweave:problem:not-local"
    assert answer.header("access-control-allow-origin") is None


@pytest.mark.parametrize("endpoint", EVERY, ids=name_of)
async def test_no_endpoint_answers_a_page_of_another_site(wire: Wire, endpoint: Endpoint) -> None:
    headers = {"Host": "localhost", "Origin": "https://evil.example"}
    assert (await wire.ask(endpoint.method, target_of(endpoint), headers)).status == 403


async def test_a_browser_is_never_told_that_other_sites_may_ask(wire: Wire) -> None:
    asked = {"Host": "localhost", "Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    answer = await wire.ask("OPTIONS", PLACE, asked)
    assert answer.status == 405
    assert not any(name.lower().startswith(b"access-control") for name, _ in answer.headers)
