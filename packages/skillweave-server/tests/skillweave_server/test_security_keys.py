"""Every endpoint without a key, with a broken one, and with one that may do other things."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.skillweave_server.every import EVERY, Laws, name_of
from tests.skillweave_server.guarded import IDS, OURS, Guarded, guarded_service
from tests.skillweave_server.wire import JSON, bearer

from skillweave_server.endpoints import Endpoint
from skillweave_stores.access import Scope, id_in, new_key

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNKNOWN = new_key("unknown", [Scope.ADMIN], now=1.0, random=bytes(40))[1]
BROKEN: dict[str, Sequence[tuple[str, str]]] = {
    "none": [],
    "empty": [("Authorization", "")],
    "no scheme": [("Authorization", UNKNOWN)],
    "another scheme": [("Authorization", f"Basic {UNKNOWN}")],
    "no text": [("Authorization", "Bearer")],
    "a short text": [("Authorization", "Bearer sw_0")],
    "two texts": [("Authorization", f"Bearer {UNKNOWN} {UNKNOWN}")],
    "not ASCII": [("Authorization", "Bearer \xfc\xff")],
    "a long text": [("Authorization", f"Bearer {'sw_' * 20_000}")],
    "unknown": [("Authorization", f"Bearer {UNKNOWN}")],
}

LAWS: Laws[Guarded] = Laws()


@LAWS.at()
async def without_a_good_key_nothing_is_done_and_nothing_told(guarded: Guarded, endpoint: Endpoint) -> None:
    revoked = await guarded.revoked(Scope.ADMIN)
    before = await guarded.kept()
    answers = [
        await guarded.ask(endpoint, dict(headers))
        for headers in (*BROKEN.values(), [("Authorization", f"Bearer {revoked}")])
    ]
    assert {one.status for one in answers} == {401}
    assert {one.header("www-authenticate") for one in answers} == {'Bearer realm="skillweave"'}
    # One answer for all of them: it tells nobody whether a key was there once.
    assert len({(one.headers, one.content) for one in answers}) == 1
    assert answers[0].header("content-type") == "application/problem+json"
    assert await guarded.kept() == before


@LAWS.at()
async def a_key_without_the_scope_is_told_which_one_it_needs(guarded: Guarded, endpoint: Endpoint) -> None:
    before = await guarded.kept()
    for scope in Scope:
        if scope in (endpoint.scope, Scope.ADMIN):
            continue
        answer = await guarded.ask(endpoint, guarded.key(scope))
        assert answer.status == 403
        assert f"`{endpoint.scope.value}`" in answer.json()["detail"]
        assert f'scope="{endpoint.scope.value}"' in (answer.header("www-authenticate") or "")
    assert await guarded.kept() == before


@LAWS.at()
async def the_scope_of_an_endpoint_and_admin_let_in(guarded: Guarded, endpoint: Endpoint) -> None:
    for scope in (endpoint.scope, Scope.ADMIN):
        answer = await guarded.ask(endpoint, guarded.key(scope))
        assert answer.status not in (401, 403)


@LAWS.at()
async def a_key_is_asked_for_before_anything_else_is_looked_at(guarded: Guarded, endpoint: Endpoint) -> None:
    # Neither the body, which never comes, nor a parameter that the endpoint does not have.
    answer = await guarded.wire.ask(
        endpoint.method, f"/api/v1{endpoint.path}?unknown=1", {"Content-Length": "999999999"}, is_endless=True
    )
    assert answer.status == 401


@LAWS.at()
async def reading_needs_no_scope_that_changes_anything_and_changing_needs_one(_: Guarded, endpoint: Endpoint) -> None:
    if endpoint.method == "GET":
        assert endpoint.scope in (Scope.READ, Scope.ADMIN)
    else:
        assert endpoint.scope is not Scope.READ or endpoint.path in QUESTIONS


@pytest.mark.parametrize("endpoint", EVERY, ids=name_of)
async def test_every_law_holds_at(guarded: Guarded, endpoint: Endpoint) -> None:
    await LAWS.visit(guarded, endpoint)


QUESTIONS = frozenset({"/skills:check", "/compose", "/validate", "/graphs/{graph}/next", "/graphs/{graph}/simulate"})
"""Endpoints that only answer, and take what they are asked about as a body."""


async def test_the_log_names_the_key_that_gave_a_verdict_whoever_by_says(tmp_path: Path) -> None:
    async with guarded_service(tmp_path) as guarded:
        key = guarded.keys[OURS, Scope.APPROVE][0]
        body = json.dumps({"verdict": "rejected", "by": "the director"}).encode()
        path = f"/api/v1/approvals/{IDS['approval']}/decide"
        await guarded.wire.ask("POST", path, {**guarded.key(Scope.APPROVE), **JSON}, body)
        rows = await guarded.service.approvals.log(tenant=OURS)
        (changed,) = [json.loads(row.document)["changed"] for row in rows if row.kind == "decided"]
        assert (changed["by"], changed["key"]) == ("the director", f"{key.id} ({key.name})")


async def test_the_scheme_is_read_in_any_case(guarded: Guarded) -> None:
    spelled = bearer(guarded.keys["acme", Scope.READ][1])["Authorization"].removeprefix("Bearer ")
    for scheme in ("bearer", "BEARER", "Bearer"):
        answer = await guarded.wire.ask("GET", "/api/v1/memory/x", {"Authorization": f"{scheme}  {spelled}"})
        assert answer.status == 200


async def test_two_keys_in_one_request_are_none(guarded: Guarded) -> None:
    sent = [("Authorization", guarded.key(Scope.READ, tenant)["Authorization"]) for tenant in ("acme", "umbrella")]
    assert (await guarded.wire.ask("GET", "/api/v1/memory/x", sent)).status == 401


async def test_a_key_in_the_address_or_a_cookie_opens_nothing(guarded: Guarded) -> None:
    spelled = guarded.keys["acme", Scope.READ][1]
    assert (await guarded.wire.ask("GET", f"/api/v1/memory/x?key={spelled}")).status == 401
    assert (await guarded.wire.ask("GET", "/api/v1/memory/x", {"Cookie": f"Authorization={spelled}"})).status == 401


async def test_no_answer_and_no_log_line_shows_a_key(guarded: Guarded, caplog: pytest.LogCaptureFixture) -> None:
    spelled = guarded.keys["acme", Scope.READ][1]
    secret = spelled.removeprefix(f"sw_{id_in(spelled)}_")
    caplog.set_level("DEBUG")
    for target in ("/api/v1/memory/x", "/api/v1/memory/x?unknown=1", "/api/v1/nothing"):
        for method in ("GET", "PUT", "PATCH"):
            answer = await guarded.wire.ask(method, target, guarded.key(Scope.READ))
            assert secret.encode() not in answer.content
            assert not any(secret.encode() in value for _, value in answer.headers)
    assert secret not in caplog.text
