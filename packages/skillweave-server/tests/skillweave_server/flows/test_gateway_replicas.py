"""Two gateways on PostgreSQL and Redis are one: a conversation goes on at the other when one is gone."""

import asyncio
from pathlib import Path

import pytest
from openai import AsyncOpenAI
from tests.skillweave_server.parts import service_in
from tests.skillweave_server.running import served_service

from skillweave.approvals import ApprovalReply
from skillweave_server.gateways import Gateway
from skillweave_server.service import Service, desk_of
from skillweave_server.upstreams import providers_of
from skillweave_stores.approvals.key import read_or_make_key
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import GREETINGS, SKILLS
from tests.adapters.recording.prefix import share
from tests.recording.server import KEY, RecordingServer

TOOLS = [
    {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}},
    }
    for name in ("search", "submit", "write")
]


async def decided(service: Service) -> None:
    """Say yes to the question that comes."""
    async with asyncio.timeout(20):
        while not (found := await service.approvals.list()):  # noqa: ASYNC110 - the question is in a database
            await asyncio.sleep(0.02)
    await desk_of(service, "").decide(found[0].id, ApprovalReply("approved", "Kim"))  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_conversation_goes_on_at_the_other_replica(
    postgres_tables_url: str, redis_url: str, tmp_path: Path, stream: bool
) -> None:
    key_file = tmp_path / "approvals.key"
    read_or_make_key(key_file)
    given = {"store": postgres_tables_url, "redis": redis_url, "approval_key_file": key_file}
    script = Script(
        Says("One moment.", (tool_call("read_skill", skill_id="greetings"),)),
        "Bonjour!",
        Says(asks=(tool_call("write", text="x"),)),
        "Then not.",
        Says(asks=(tool_call("submit", text="F1"),)),
    )
    with RecordingServer(script) as server:
        history: list[object] = []

        async def say(service: Service, text: str) -> object:
            history.append({"role": "user", "content": text})
            async with (
                served_service(service) as url,
                AsyncOpenAI(base_url=f"{url}/gateway/p/v1", api_key=KEY, max_retries=0) as client,
            ):
                body: dict[str, object] = {"model": "m", "messages": history, "tools": TOOLS}
                if "filing" in text:
                    answering = asyncio.create_task(decided(service))
                if stream:
                    async with client.chat.completions.stream(**body) as events:  # type: ignore[arg-type]
                        message = (await events.get_final_completion()).choices[0].message
                else:
                    message = (await client.chat.completions.create(**body)).choices[0].message  # type: ignore[call-overload]
                if "filing" in text:
                    await answering
            history.append(message.model_dump(exclude_none=True, exclude={"parsed"}))
            return message

        said = []
        # Each is gone when the next one comes: nothing is left but what the stores have.
        for text in ("Greet my neighbour", "Is this invoice right?", "Please assemble the filing."):
            service = service_in(tmp_path, SKILLS, **given)
            service.gateway = Gateway(providers_of([f"p={server.anthropic}"], [], {}))
            said.append(await say(service, text))
    assert [bool(one.tool_calls) for one in said] == [False, False, True]  # type: ignore[attr-defined]
    assert script.last.times_in_messages(GREETINGS) == 1
    assert share(script.sent).breaks == ()
    assert server.refusals == []
