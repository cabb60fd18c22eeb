"""What those who run the service ask: does it live, can it answer, what has it counted; and its line for a request."""

import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from tests.skillweave_server.parts import reached, service_in

from skillweave import StoreUnavailable
from skillweave_server import health
from skillweave_server.app import create_app
from skillweave_server.health import Readiness
from skillweave_server.opening import Entry
from skillweave_server.service import Service
from skillweave_stores.access import Scope, new_key


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[FastAPI]:
    """One application for all tests that change nothing which others look at."""
    made = create_app(service_in(tmp_path_factory.mktemp("health")))
    async with made.router.lifespan_context(made):
        yield made


def asked(app: FastAPI, client: str = "127.0.0.1") -> httpx.AsyncClient:
    """Somebody at that address."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app, client=(client, 1)), base_url="http://here")


def value(text: str, line: str) -> float:
    """The figure of that line of metrics."""
    return next((float(one.rpartition(" ")[2]) for one in text.splitlines() if one.startswith(f"{line} ")), 0.0)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_service_that_runs_lives_and_is_ready(app: FastAPI) -> None:
    async with asked(app) as http:
        lives, ready = await http.get("/healthz"), await http.get("/readyz")
    assert (lives.status_code, lives.json()) == (200, {"status": "ok"})
    assert ready.json() == {"status": "ok", "parts": {"database": "ok", "conversations": "ok"}}


@pytest.mark.asyncio(loop_scope="module")
async def test_turns_and_requests_are_counted_by_what_became_of_them(app: FastAPI) -> None:
    weave = "/api/v1/conversations/{conversation}/turns"
    turn = f'skillweave_http_request_seconds_count{{method="POST",route="{weave}",status="200"}}'
    nowhere = 'skillweave_http_request_seconds_count{method="GET",route="other",status="404"}'
    async with asked(app) as http:
        before = (await http.get("/metrics")).text
        await http.post("/api/v1/conversations/counted/turns", json={"id": "t1", "message": "release"})
        await http.post("/api/v1/conversations/counted/turns", json={"id": "t2", "message": "What a day."})
        await http.get("/nobody/is/here")
        after = (await http.get("/metrics")).text
    for line, more in (
        (turn, 2),
        (nowhere, 1),
        ('skillweave_turns_total{outcome="given"}', 1),
        ('skillweave_turns_total{outcome="nothing"}', 1),
    ):
        assert value(after, line) == value(before, line) + more, line
    assert value(after, "skillweave_tokens_injected_total") > value(before, "skillweave_tokens_injected_total")


@pytest.mark.asyncio(loop_scope="module")
async def test_no_metric_holds_what_a_client_sent(app: FastAPI) -> None:
    async with asked(app) as http:
        await http.post("/api/v1/conversations/secret-42/turns", json={"id": "t1", "message": "release"})
        await http.request("BREW", "/secret-43")
        text = (await http.get("/metrics")).text
    assert "secret-4" not in text
    assert "BREW" not in text


@pytest.mark.asyncio(loop_scope="module")
async def test_an_approval_that_waits_is_counted(app: FastAPI) -> None:
    async with asked(app) as http:
        text = (await http.get("/metrics")).text
    assert "skillweave_approvals_waiting 0.0" in text


@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_is_one_line_of_json_without_its_path(app: FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "skillweave.access"):
        async with asked(app) as http:
            await http.get("/api/v1/memory/secret%0aid%2f7")
            await http.get("/api/v1/nowhere%0d%0aforged")
    first, second = [json.loads(line) for line in caplog.messages]
    assert {**first, "ms": 0} == {
        "method": "GET",
        "route": "/api/v1/memory/{conversation}",
        "status": 422,
        "ms": 0,
        "key": None,
        "tenant": None,
    }
    assert (second["route"], second["status"]) == (None, 404)
    assert "secret" not in caplog.text
    assert "forged" not in caplog.text


async def test_a_service_that_is_leaving_is_not_ready_and_still_lives(tmp_path: Path) -> None:
    service = service_in(tmp_path)
    async with reached(create_app(service)) as http:
        service.leaving.set()
        ready, lives = await http.get("/readyz"), await http.get("/healthz")
    assert (ready.status_code, ready.json()) == (503, {"status": "stopping"})
    assert lives.status_code == 200


async def test_a_part_that_does_not_answer_is_named_and_its_place_stands_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def silent() -> None:
        raise StoreUnavailable("the Redis at cache.internal does not answer")

    service = service_in(tmp_path)
    service.checks = {**service.checks, "redis": silent}
    async with reached(create_app(service)) as http:
        ready = await http.get("/readyz")
    assert ready.status_code == 503
    assert ready.json()["parts"] == {"database": "ok", "conversations": "ok", "redis": "does not answer"}
    assert "cache.internal" in caplog.text


async def test_a_part_that_is_too_slow_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(health, "CHECK_SECONDS", 0.001)
    assert await Readiness({"store": asyncio.Event().wait}).parts() == {"store": "does not answer"}


async def test_however_often_somebody_asks_the_parts_are_asked_once_a_second() -> None:
    calls: list[float] = []
    now = [10.0]

    async def check() -> None:
        calls.append(now[0])

    readiness = Readiness({"store": check}, clock=lambda: now[0])
    for now[0] in (10.0, 10.9, 11.0):
        await readiness.parts()
    assert calls == [10.0, 11.0]


@pytest.mark.parametrize("client", ["192.0.2.7", "2001:db8::1", "testclient"])
async def test_metrics_are_for_this_machine_or_for_a_key(tmp_path: Path, client: str) -> None:
    service = service_in(tmp_path, entry=Entry.KEYS)
    spelled = await key_in(service, Scope.READ)
    other = await key_in(service, Scope.WEAVE)
    app = create_app(service)
    async with app.router.lifespan_context(app), asked(app, client) as http:
        answers = [
            (await http.get("/metrics", headers=headers)).status_code
            for headers in ({}, {"Authorization": f"Bearer {other}"}, {"Authorization": f"Bearer {spelled}"})
        ]
        assert (await http.get("/healthz")).status_code == (await http.get("/readyz")).status_code == 200
    assert answers == [401, 403, 200]


async def test_whoever_comes_through_a_proxy_on_this_machine_needs_a_key(tmp_path: Path) -> None:
    async with reached(create_app(service_in(tmp_path, entry=Entry.KEYS))) as http:
        straight = await http.get("/metrics")
        through = await http.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
    assert (straight.status_code, through.status_code) == (200, 401)
    assert "skillweave_authentication_failures_total 0.0" in straight.text


async def test_the_line_of_a_request_has_the_id_of_its_key_and_never_the_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = service_in(tmp_path, entry=Entry.KEYS)
    spelled = await key_in(service, Scope.READ)
    async with reached(create_app(service)) as http:
        with caplog.at_level(logging.INFO, "skillweave.access"):
            await http.get("/api/v1/memory/c", headers={"Authorization": f"Bearer {spelled}"})
            await http.get("/api/v1/memory/c", headers={"Authorization": "Bearer sw_wrong"})
    known, unknown = [json.loads(line) for line in caplog.messages]
    assert (known["key"], known["tenant"], known["status"]) == (spelled.split("_")[1], "acme", 200)
    assert (unknown["key"], unknown["tenant"], unknown["status"]) == (None, None, 401)
    assert spelled not in caplog.text


async def key_in(service: Service, scope: Scope) -> str:
    """The text of a new key of that scope."""
    assert service.keys is not None
    key, spelled = new_key(f"for {scope}", [scope], tenant="acme", now=1.0)
    await service.keys.put(key)
    return spelled
