"""The client and the service together: the verbs do over HTTP what they do in one process."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from tests.skillweave_server.running import TIDE, served_service, whole_service

from skillweave import Budget
from skillweave.api.skills import SkillDefinition
from skillweave.approvals.case import AlreadyDecided, ApprovalReply, ApprovalRequest, ApprovalStatus, ApprovalVerdict
from skillweave.client import Client, ServiceError, SyncClient
from skillweave.errors import SkillNotFound
from skillweave.state.state import Delivery
from skillweave_server.app import create_app
from skillweave_server.opening import Entry
from skillweave_stores.access import Scope, new_key

HERE = "http://127.0.0.1"


@pytest_asyncio.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    app = create_app(whole_service(tmp_path))
    async with app.router.lifespan_context(app), Client(HERE, transport=httpx.ASGITransport(app)) as client:
        yield client


async def test_a_turn_gives_once_what_is_wanted(client: Client) -> None:
    first = await client.weave("Is the moon up?", conversation="c")
    second = await client.weave("And the moon now?", conversation="c")
    assert "Look up at night." in str(first.messages)
    assert second.messages == ()


async def test_the_same_turn_again_has_the_same_answer(client: Client) -> None:
    first, again = [await client.weave("Is the moon up?", conversation="c", turn_id="t") for _ in range(2)]
    assert first.messages == again.messages


async def test_a_budget_is_for_its_turn(client: Client) -> None:
    small = await client.weave("Is the moon up?", conversation="c", budget=Budget(total=0))
    assert "Look up at night." not in str(small.messages)
    assert "Look up at night." in str((await client.weave("The moon?", conversation="c")).messages)


async def test_a_delivery_is_confirmed_at_its_end(client: Client) -> None:
    async with client.delivery("Is the moon up?", conversation="c"):
        assert {one.state for one in (await client.state("c")).records} == {Delivery.CLAIMED}
    assert {one.state for one in (await client.state("c")).records} == {Delivery.GIVEN}


async def test_a_delivery_that_fails_is_released(client: Client) -> None:
    with pytest.raises(RuntimeError, match="no model"):
        async with client.delivery("Is the moon up?", conversation="c"):
            raise RuntimeError("no model")
    assert (await client.state("c")).records == ()


async def test_a_claim_that_was_never_made_cannot_be_confirmed(client: Client) -> None:
    with pytest.raises(ServiceError) as raised:
        await client.confirm("c", "nothing")
    assert raised.value.problem.status == 409


@pytest.mark.parametrize("conversation", ["a/b", "a b", "ä日😀", "%2F", "..", ".", "a?b#c&d", "a+b:c;d"])
async def test_a_conversation_may_have_any_id(client: Client, conversation: str) -> None:
    await client.weave("Is the moon up?", conversation=conversation)
    assert [one async for one in client.list_conversations()] == [conversation]
    assert (await client.show_record(conversation, "skill:moon-watch")).key == "skill:moon-watch"
    assert [one.decision.skill_id for one in await client.why(conversation, "moon-watch")] == ["moon-watch"]
    await client.evict(conversation, "moon-watch")
    assert (await client.state(conversation)).records == ()


async def test_a_list_of_several_pages_gives_each_entry_once(client: Client) -> None:
    names = [f"c{number:03}" for number in range(205)]
    for name in names:
        await client.mark(name, "moon-watch")
    assert [one async for one in client.list_conversations("c")] == names


async def test_working_memory_is_merged_and_forgotten(client: Client) -> None:
    await client.merge_memory("c", {"a": 1, "b": {"c": None}})
    assert await client.merge_memory("c", {"a": None, "d": 2}) == {"b": {"c": None}, "d": 2}
    assert await client.read_memory("c") == {"b": {"c": None}, "d": 2}
    await client.forget_memory("c")
    assert await client.read_memory("c") == {}


async def test_an_unknown_skill_is_the_engines_own_error(client: Client) -> None:
    with pytest.raises(SkillNotFound, match="nobody"):
        await client.get_skill("nobody")


async def test_a_skill_is_published_and_used(client: Client) -> None:
    await client.publish_skill(
        "star-map", SkillDefinition({**TIDE, "id": "star-map", "triggers": {"keywords": ["star"]}})
    )
    assert "star-map" in [one.id async for one in client.list_skills()]
    assert "Star Map" in str((await client.weave("Which star?", conversation="c")).messages)
    (version,) = [one async for one in client.list_versions("star-map")]
    assert version.in_use
    await client.remove_skill("star-map")
    with pytest.raises(SkillNotFound):
        await client.get_skill("star-map")


async def test_an_approval_is_asked_once_and_decided_once(client: Client) -> None:
    await client.weave("Is the moon up?", conversation="c")
    request = ApprovalRequest("c", "moon-watch", "wake_people")
    asked, again = [await client.ask_for_approval(request, key="schlüssel") for _ in range(2)]
    assert asked.id == again.id
    assert [one.id async for one in client.list_approvals(status=ApprovalStatus.PENDING)] == [asked.id]
    await client.decide_approval(asked.id, ApprovalReply(ApprovalVerdict.APPROVED, "Ann"))
    with pytest.raises(AlreadyDecided):
        await client.decide_approval(asked.id, ApprovalReply(ApprovalVerdict.REJECTED, "Ben"))
    assert await client.verify_approval_log() == ()
    assert [one async for one in client.read_approval_log()]


async def test_a_key_opens_what_its_scope_allows(tmp_path: Path) -> None:
    service = whole_service(tmp_path, entry=Entry.KEYS)
    app = create_app(service)
    async with app.router.lifespan_context(app):
        key, spelled = new_key("reader", [Scope.READ], tenant="", now=1.0)
        assert service.keys is not None
        await service.keys.put(key)
        transport = httpx.ASGITransport(app)
        async with Client(HERE, spelled, transport=transport) as reader, Client(HERE, transport=transport) as nobody:
            assert [one.id async for one in reader.list_skills()] == ["moon-watch", "tide-table"]
            for client, status in ((reader, 403), (nobody, 401)):
                with pytest.raises(ServiceError) as raised:
                    await client.weave("Is the moon up?", conversation="c")
                assert raised.value.problem.status == status
                assert spelled not in str(raised.value)


async def test_the_blocking_client_has_the_same_verbs_with_plain_loops_and_blocks(tmp_path: Path) -> None:
    def talk(address: str) -> None:
        with SyncClient(address) as client:
            with client.delivery("Is the moon up?", conversation="c") as injection:
                assert "Look up at night." in str(injection.messages)
            assert list(client.list_conversations()) == ["c"]
            heard = client.stream("c", after="")
            assert next(heard).event.conversation == "c"
            heard.close()
            with pytest.raises(SkillNotFound):
                client.get_skill("nobody")

    async with served_service(whole_service(tmp_path)) as address:
        await asyncio.to_thread(talk, address)
