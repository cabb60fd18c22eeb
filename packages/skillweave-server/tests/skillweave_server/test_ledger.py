from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from tests.skillweave_server.office import Office, opened, service_of

LEDGER = "/api/v1/ledger"


@pytest_asyncio.fixture
async def office(tmp_path: Path) -> AsyncIterator[Office]:
    async with opened(service_of(tmp_path)) as found:
        yield found


async def test_what_was_given_is_in_the_ledger(office: Office) -> None:
    await office.turn("pay the bill")
    state = (await office.http.get(f"{LEDGER}/c")).json()
    assert [(one["key"], one["state"]) for one in state["records"]] == [("skill:pay-bill", "given")]
    record = (await office.http.get(f"{LEDGER}/c/skill:pay-bill")).json()
    assert record == state["records"][0]


async def test_the_id_of_a_skill_stands_for_its_key(office: Office) -> None:
    await office.turn("pay the bill")
    assert (await office.http.get(f"{LEDGER}/c/pay-bill")).json()["key"] == "skill:pay-bill"


async def test_a_conversation_that_nobody_knows_is_empty(office: Office) -> None:
    assert (await office.http.get(f"{LEDGER}/nobody")).json()["revision"] == 0


async def test_a_record_that_is_not_there_answers_with_those_that_are(office: Office) -> None:
    await office.turn("pay the bill")
    answer = await office.http.get(f"{LEDGER}/c/artifact:pay-bill/form.md")
    assert answer.status_code == 404
    assert (
        answer.json()["detail"] == "conversation 'c' has no record 'artifact:pay-bill/form.md'; it has skill:pay-bill"
    )


async def test_a_marked_skill_is_not_given(office: Office) -> None:
    marked = await office.http.put(f"{LEDGER}/c/skill:pay-bill")
    assert (marked.status_code, marked.json()["state"]) == (200, "given")
    assert (await office.turn("pay the bill"))["messages"] == []


async def test_the_same_mark_again_is_the_same_record(office: Office) -> None:
    first = await office.http.put(f"{LEDGER}/c/pay-bill")
    assert (await office.http.put(f"{LEDGER}/c/pay-bill")).json() == first.json()
    assert (await office.http.get(f"{LEDGER}/c")).json()["revision"] == 1


async def test_a_skill_that_nobody_knows_cannot_be_marked(office: Office) -> None:
    answer = await office.http.put(f"{LEDGER}/c/pay-bil")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:skillweave:problem:skill-not-found")


async def test_a_key_that_is_no_skills_cannot_be_marked(office: Office) -> None:
    assert (await office.http.put(f"{LEDGER}/c/context:well-1:status")).status_code == 422


async def test_what_is_evicted_is_given_again(office: Office) -> None:
    await office.turn("pay the bill")
    assert (await office.http.delete(f"{LEDGER}/c/pay-bill")).status_code == 204
    assert len((await office.turn("and the other bill"))["messages"]) == 1


async def test_an_eviction_of_what_is_not_there_changes_nothing(office: Office) -> None:
    assert (await office.http.delete(f"{LEDGER}/c/pay-bill")).status_code == 204
    assert (await office.http.get(f"{LEDGER}/c")).json()["revision"] == 0


async def test_a_cleared_conversation_is_empty_and_keeps_its_decisions(office: Office) -> None:
    await office.turn("pay the bill")
    assert (await office.http.delete(f"{LEDGER}/c")).status_code == 204
    assert (await office.http.get(f"{LEDGER}/c")).json()["records"] == []
    assert (await office.http.get("/api/v1/conversations/c/why")).json() != []


async def test_a_conversation_whose_id_has_a_slash_is_one_of_its_own(office: Office) -> None:
    await office.http.put(f"{LEDGER}/c%2Fsub/skill:pay-bill")
    assert (await office.http.get(f"{LEDGER}/c%2Fsub/skill:pay-bill")).status_code == 200
    assert (await office.http.get(f"{LEDGER}/c%2Fsub")).json()["revision"] == 1
    assert (await office.http.get(f"{LEDGER}/c")).json()["revision"] == 0


async def test_conversations_are_listed_page_by_page(office: Office) -> None:
    for name in ("b", "a", "other", "c"):
        await office.http.put(f"{LEDGER}/{name}/pay-bill")
    first = (await office.http.get(LEDGER, params={"limit": 3})).json()
    assert first == {"items": ["a", "b", "c"], "next": "c"}
    rest = (await office.http.get(LEDGER, params={"limit": 3, "after": first["next"]})).json()
    assert rest == {"items": ["other"], "next": None}
    assert (await office.http.get(LEDGER, params={"prefix": "o"})).json()["items"] == ["other"]
