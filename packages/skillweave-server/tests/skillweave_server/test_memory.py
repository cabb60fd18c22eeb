from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from tests.skillweave_server.office import Office, opened, service_of

MEMORY = "/api/v1/memory"


@pytest_asyncio.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opened(service_of(tmp_path)) as found:
        yield found


async def test_a_conversation_without_memory_has_an_empty_one(office: Office) -> None:
    assert (await office.http.get(f"{MEMORY}/c")).json() == {}


async def test_what_is_put_joins_what_is_there_and_null_removes(office: Office) -> None:
    await office.http.put(f"{MEMORY}/c", json={"well": "A 1", "county": "Leon"})
    answer = await office.http.put(f"{MEMORY}/c", json={"well": None, "depth": [1, 2.5], "tags": {"a": True}})
    assert answer.json() == {"county": "Leon", "depth": [1, 2.5], "tags": {"a": True}}
    assert (await office.http.get(f"{MEMORY}/c")).json() == answer.json()


async def test_more_than_64_kib_are_refused_and_change_nothing(office: Office) -> None:
    await office.http.put(f"{MEMORY}/c", json={"well": "A 1"})
    answer = await office.http.put(f"{MEMORY}/c", json={"text": "x" * 65_536})
    assert (answer.status_code, answer.json()["type"]) == (413, "urn:skillweave:problem:memory-too-large")
    assert (await office.http.get(f"{MEMORY}/c")).json() == {"well": "A 1"}


async def test_a_body_that_is_no_object_is_refused(office: Office) -> None:
    assert (await office.http.put(f"{MEMORY}/c", json=["well"])).status_code == 422


async def test_what_is_forgotten_is_gone_and_forgetting_again_changes_nothing(office: Office) -> None:
    await office.http.put(f"{MEMORY}/c", json={"well": "A 1"})
    assert (await office.http.delete(f"{MEMORY}/c")).status_code == 204
    assert (await office.http.delete(f"{MEMORY}/c")).status_code == 204
    assert (await office.http.get(f"{MEMORY}/c")).json() == {}
