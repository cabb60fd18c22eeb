"""Turns over HTTP: given once, in one phase or two, with the working memory of the conversation."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.skillweave_server.parts import reached, service_in

from skillweave import Injection, StoreUnavailable
from skillweave_server.app import create_app

TURNS = "/api/v1/conversations/c/turns"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with reached(create_app(service_in(tmp_path))) as http:
        yield http


async def told(http: httpx.AsyncClient, message: object, **fields: object) -> Injection:
    answer = await http.post(TURNS, json={"message": message, **fields})
    assert answer.status_code == 200, answer.text
    return Injection.from_dict(answer.json())


def given(injection: Injection) -> list[str]:
    return [key for block in injection.blocks for key in block.keys]


async def test_a_skill_is_given_in_the_first_turn_and_is_there_in_the_next(http: httpx.AsyncClient) -> None:
    first, second = await told(http, "cut a release"), await told(http, "release it")
    assert (given(first), given(second)) == (["skill:release"], [])
    assert [decision.outcome.value for decision in second.decisions] == ["already-present"]


async def test_the_same_turn_again_has_the_same_answer(http: httpx.AsyncClient) -> None:
    first = await told(http, "cut a release", id="t1")
    again = await told(http, "cut a release", id="t1")
    assert (again.turn_id, again.messages, again.revision) == ("t1", first.messages, first.revision)


async def test_the_idempotency_key_is_the_id_of_the_turn_and_two_ids_are_refused(http: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k1"}
    answer = await http.post(TURNS, json={"message": "hello"}, headers=headers)
    assert answer.json()["turn_id"] == "k1"
    refused = await http.post(TURNS, json={"message": "hello", "id": "t1"}, headers=headers)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:skillweave:problem:invalid-turn")


async def test_what_was_claimed_and_confirmed_counts_as_given(http: httpx.AsyncClient) -> None:
    claimed = await told(http, "cut a release", id="t1", delivery="two-phase")
    assert given(claimed) == ["skill:release"]
    assert given(await told(http, "release", id="t2")) == []
    assert (await http.post(f"{TURNS}/t1/confirm")).status_code == 204
    assert (await http.post(f"{TURNS}/t1/confirm")).status_code == 204
    record = (await http.get("/api/v1/ledger/c/skill:release")).json()
    assert (record["state"], record["holder"]) == ("given", "t1")


async def test_what_was_claimed_and_released_is_given_again(http: httpx.AsyncClient) -> None:
    await told(http, "cut a release", id="t1", delivery="two-phase")
    assert (await http.post(f"{TURNS}/t1/release")).status_code == 204
    assert (await http.post(f"{TURNS}/t1/release")).status_code == 204
    assert given(await told(http, "release")) == ["skill:release"]


@pytest.mark.parametrize("message", ["hello there", "release it"])
async def test_a_turn_that_had_nothing_to_give_is_confirmed_all_the_same(http: httpx.AsyncClient, message: str) -> None:
    await told(http, "cut a release", id="t1")
    for turn in ("t2", "t3"):
        await told(http, message, id=turn, delivery="two-phase")
        assert (await http.post(f"{TURNS}/{turn}/confirm")).status_code == 204


async def test_a_claim_that_was_released_cannot_be_confirmed(http: httpx.AsyncClient) -> None:
    await told(http, "cut a release", id="t1", delivery="two-phase")
    await http.post(f"{TURNS}/t1/release")
    assert (await http.post(f"{TURNS}/t1/confirm")).status_code == 409


async def test_a_turn_without_a_claim_cannot_be_confirmed(http: httpx.AsyncClient) -> None:
    answer = await http.post(f"{TURNS}/unknown/confirm")
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:skillweave:problem:no-claim")


async def test_a_transcript_that_lost_the_text_gets_it_again(http: httpx.AsyncClient) -> None:
    first = await told(http, "cut a release", transcript=[])
    shown = [message.to_dict() for message in first.messages]
    assert given(await told(http, "release", transcript=shown)) == []
    assert given(await told(http, "release", transcript=[])) == ["skill:release"]


async def test_in_call_placement_everything_in_force_is_in_every_call(http: httpx.AsyncClient) -> None:
    turns = [await told(http, "cut a release", placement="call") for _ in range(2)]
    assert [given(one) for one in turns] == [["skill:release"], ["skill:release"]]


async def test_a_budget_is_one_for_this_turn(http: httpx.AsyncClient) -> None:
    small = await told(http, "cut a release", budget={"total": 1})
    assert given(small) == []
    assert given(await told(http, "cut a release")) == ["skill:release"]


async def test_why_tells_the_decisions_of_a_skill(http: httpx.AsyncClient) -> None:
    await told(http, "cut a release", id="t1")
    logged = (await http.get("/api/v1/conversations/c/why", params={"skill": "release"})).json()
    assert [(one["turn_id"], one["decision"]["outcome"]) for one in logged] == [("t1", "injected")]


async def test_an_id_with_a_slash_is_one_id(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/v1/conversations/c%2Fsub%252F/turns", json={"message": "hello"})
    assert answer.json()["conversation"] == "c/sub%2F"


@pytest.mark.parametrize("path", ["c%ff", "c%F0%9F", "%EF%80%AF"])
async def test_an_id_that_is_no_text_is_refused(http: httpx.AsyncClient, path: str) -> None:
    answer = await http.get(f"/api/v1/memory/{path}")
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:skillweave:problem:invalid-parameter")


async def test_a_turn_goes_on_while_working_memory_is_silent(tmp_path: Path) -> None:
    service = service_in(tmp_path)

    async def read(conversation: str, *, tenant: str = "") -> Mapping[str, Any]:
        raise StoreUnavailable("nothing answers", retry_after=1)

    async with reached(create_app(service)) as http:
        service.memory.read = read  # type: ignore[method-assign]
        injection = await told(http, "cut a release")
    assert given(injection) == ["skill:release"]
    assert [(one.code, one.severity.value) for one in injection.diagnostics] == [("memory-unavailable", "warning")]
