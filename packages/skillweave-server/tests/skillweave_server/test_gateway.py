"""The gateway on a real socket: SDKs come with a base URL alone, and their model gets the skills that it needs."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from tests.skillweave_server.parts import service_in
from tests.skillweave_server.running import served_service

from skillweave.approvals import ApprovalReply, ApprovalStatus
from skillweave.approvals.steps import verdict_of
from skillweave_server.gateways import Gateway
from skillweave_server.opening import Entry
from skillweave_server.service import Service, desk_of
from skillweave_server.upstreams import providers_of
from skillweave_stores.access import Scope, new_key
from skillweave_stores.sql.keys import SqlKeys
from skillweave_testing.hosts import Says, Script, tool_call
from skillweave_testing.hosts.play import GREETINGS, SKILLS
from tests.endless import Endless
from tests.recording.server import KEY, RecordingServer

SAID = [{"role": "user", "content": "Say bonjour to Alice"}]
SUBMIT = Says(asks=(tool_call("submit", text="F1"),))


def tool(name: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    """A provider with a scripted model."""
    with RecordingServer(Script()) as made:
        yield made


async def until(look: Callable[[], Awaitable[Any]]) -> Any:
    """What is found, as soon as something is."""
    async with asyncio.timeout(20):
        while True:
            if found := await look():
                return found
            await asyncio.sleep(0.01)


class Reached:
    """A service with a gateway, by its address."""

    def __init__(self, service: Service, url: str) -> None:
        self.service, self.url = service, url

    def openai(self, **given: Any) -> AsyncOpenAI:
        return AsyncOpenAI(base_url=f"{self.url}/gateway/openai/v1", **{"api_key": KEY, "max_retries": 0, **given})

    def http(self, **headers: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=f"{self.url}/gateway/openai/v1/", headers=headers, timeout=20)

    async def decide(self, verdict: str, **more: Any) -> None:
        """Answer the one question that waits, as soon as it is there."""
        found = await until(self.service.approvals.list)
        await desk_of(self.service, "").decide(found[0].id, ApprovalReply(verdict, "Kim", **more))  # type: ignore[arg-type]


Reach = Callable[..., Any]


@pytest.fixture
def reach(tmp_path: Path, server: RecordingServer) -> Reach:
    """Serves a gateway to the recording server."""

    @asynccontextmanager
    async def reached(skills: Any = SKILLS, keys: tuple[str, ...] = (), **given: Any) -> AsyncIterator[Reached]:
        more = {name: given.pop(name) for name in ("entry", "store", "redis") if name in given}
        service = service_in(tmp_path, skills, **more)
        providers = providers_of([f"openai={server.anthropic}"], keys, {"PROVIDER": "sk-provider"})
        service.gateway = Gateway(providers, **{"keep_alive_seconds": 0.1, **given})
        async with served_service(service) as url:
            yield Reached(service, url)

    return reached


async def test_a_client_needs_its_base_url_alone(server: RecordingServer, reach: Reach) -> None:
    async with reach() as there, there.openai() as client:
        raw = await client.chat.completions.with_raw_response.create(model="m", messages=SAID)
        assert raw.parse().choices[0].message.content == "All right."
        history = [*SAID, {"role": "assistant", "content": "All right."}, {"role": "user", "content": "Thanks"}]
        streamed = await client.chat.completions.create(model="m", messages=history, stream=True)
        assert "".join([c.choices[0].delta.content or "" async for c in streamed if c.choices]) == "All right."
    assert raw.headers["x-skillweave-given"] == "greetings"
    assert [sent.times_in_messages(GREETINGS) for sent in server.script.sent] == [1, 1]
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert not [name for name in server.requests[0].headers if name.startswith("x-skillweave")]


async def test_anthropics_client_streams_through(server: RecordingServer, reach: Reach) -> None:
    async with (
        reach() as there,
        AsyncAnthropic(base_url=f"{there.url}/gateway/openai", api_key=KEY) as client,
        client.messages.stream(model="m", max_tokens=9, messages=SAID) as events,
    ):
        assert await events.get_final_text() == "All right."
    assert server.script.last.times_in_messages(GREETINGS) == 1


async def test_a_yes_while_the_reply_is_held_lets_the_call_through(server: RecordingServer, reach: Reach) -> None:
    server.script.then(SUBMIT)
    said = [{"role": "user", "content": "Please assemble the filing."}]
    async with reach() as there, there.openai() as client:
        asked = asyncio.create_task(client.chat.completions.create(model="m", messages=said, tools=[tool("submit")]))
        await there.decide("approved")
        reply = await asked
    assert reply.choices[0].message.tool_calls[0].function.name == "submit"


async def test_a_held_stream_says_that_it_lives(server: RecordingServer, reach: Reach) -> None:
    server.script.then(Says("Now.", SUBMIT.asks), "Then not.")
    body = {"model": "m", "messages": [{"role": "user", "content": "Please assemble the filing."}], "stream": True}
    async with (
        reach() as there,
        there.http() as http,
        http.stream("POST", "chat/completions", json={**body, "tools": [tool("submit")]}) as streamed,
    ):
        got, decided = b"", None
        async for piece in streamed.aiter_bytes():
            got += piece
            if got.count(b": held") >= 2 and decided is None:
                decided = asyncio.create_task(there.decide("rejected", note="no"))
        assert decided is not None
        await decided
    assert b"submit" not in got
    assert b"[DONE]" in got
    assert b'"t."' in got


async def test_when_nobody_decides_in_time_the_call_is_denied(server: RecordingServer, reach: Reach) -> None:
    server.script.then(SUBMIT, "Then not.")
    said = [{"role": "user", "content": "Please assemble the filing."}]
    async with reach(approval_seconds=0.2) as there, there.openai() as client:
        reply = await client.chat.completions.create(model="m", messages=said, tools=[tool("submit")])
    assert reply.choices[0].message.content == "Then not."
    assert server.script.last.times_in_messages("nobody decided in time") == 1


async def test_a_yes_that_came_while_nobody_asked_lets_the_retry_through(server: RecordingServer, reach: Reach) -> None:
    server.script.then(SUBMIT)
    body = {"model": "m", "messages": [{"role": "user", "content": "Please assemble the filing."}]}
    async with reach(approval_seconds=1) as there, there.http() as http:
        first = asyncio.create_task(http.post("chat/completions", json={**body, "tools": [tool("submit")]}))
        (case,) = await until(there.service.approvals.list)
        first.cancel()
        # As where a process ends before the conversation has what was said.
        yes = verdict_of(replace(case, status=ApprovalStatus.APPROVED, by="Kim"))
        await there.service.approvals.decide(case.id, yes)
        there.service.waiting.forget("")
        answer = await http.post("chat/completions", json={**body, "tools": [tool("submit")]})
        (case,) = await there.service.approvals.list()
    assert answer.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "submit"
    assert case.applied


async def test_a_yes_whose_process_ended_before_it_was_applied_lets_the_held_call_through(
    server: RecordingServer, reach: Reach
) -> None:
    server.script.then(SUBMIT)
    said = [{"role": "user", "content": "Please assemble the filing."}]
    async with reach() as there, there.openai() as client:
        asked = asyncio.create_task(client.chat.completions.create(model="m", messages=said, tools=[tool("submit")]))
        (case,) = await until(there.service.approvals.list)
        yes = verdict_of(replace(case, status=ApprovalStatus.APPROVED, by="Kim"))
        await there.service.approvals.decide(case.id, yes)
        reply = await asked
    assert reply.choices[0].message.tool_calls[0].function.name == "submit"


async def test_a_client_that_hangs_up_releases_its_turn(server: RecordingServer, reach: Reach) -> None:
    server.script.then(SUBMIT)
    said = [{"role": "user", "content": "Please assemble the filing."}]
    async with reach() as there, there.openai() as client:
        asked = asyncio.create_task(client.chat.completions.create(model="m", messages=said, tools=[tool("submit")]))
        (case,) = await until(there.service.approvals.list)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

        async def nothing_is_claimed() -> bool:
            return not (await there.service.weaver("").ledger.state(case.request.conversation)).records

        await until(nothing_is_claimed)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_retry_while_the_call_is_held_joins_the_question(
    server: RecordingServer, reach: Reach, stream: bool
) -> None:
    server.script.then(Says("Now.", SUBMIT.asks), Says("Now.", (tool_call("submit", text="F2"),)))
    said = [{"role": "user", "content": "Please assemble the filing."}]
    body: Any = {"model": "m", "messages": said, "tools": [tool("submit")], "stream": stream}
    async with reach() as there, there.http() as http:
        first = asyncio.create_task(http.post("chat/completions", json=body))
        await until(there.service.approvals.list)
        first.cancel()
        second = asyncio.create_task(http.post("chat/completions", json=body))
        third = asyncio.create_task(http.post("chat/completions", json=body))
        await asyncio.sleep(0.3)
        assert len(await there.service.approvals.list()) == 1
        await there.decide("approved")
        got = [(await one).text for one in (second, third)]
    assert ["F1" in one for one in got].count(True) >= 1
    assert not [one for one in got if "F2" in one]
    assert len([one for one in server.requests if b"F1" not in one.body]) == 1


async def test_errors_of_upstream_come_as_they_are(server: RecordingServer, reach: Reach) -> None:
    server.failures = [(429, {"x-ratelimit-remaining": "0", "retry-after": "7"})]
    async with reach() as there, there.http() as http:
        answer = await http.post("chat/completions", json={"model": "m", "messages": SAID})
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json() == {"error": {"message": "not now, sk-secretsecretsecret"}}


async def test_an_upstream_that_is_not_there_is_a_problem(server: RecordingServer, reach: Reach) -> None:
    async with reach() as there, there.http() as http:
        there.service.gateway.providers = providers_of(["openai=http://127.0.0.1:9"], [], {})
        asked = await http.post("chat/completions", json={"model": "m", "messages": SAID})
        listed = await http.get("models")
    for answer in (asked, listed):
        assert (answer.status_code, answer.json()["type"]) == (502, "urn:skillweave:problem:upstream-unreachable")


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br"])
async def test_a_packed_body_is_unpacked_within_its_limit(server: RecordingServer, reach: Reach, coding: str) -> None:
    import brotli

    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "br": brotli.compress}[coding]
    async with reach() as there, there.http(**{"content-encoding": coding, "content-type": "application/json"}) as http:
        answer = await http.post(
            "chat/completions", content=pack(json.dumps({"model": "m", "messages": SAID}).encode())
        )
        assert answer.json()["choices"]
        bomb = await http.post("chat/completions", content=pack(bytes(40_000_000)))
        broken = await http.post("chat/completions", content=b"not packed at all")
    assert (bomb.status_code, broken.status_code) == (413, 400)
    assert server.script.last.times_in_messages(GREETINGS) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "files"),
        ("POST", "chat/../files"),
        ("POST", "chat/%2e%2e/files"),
        ("POST", "chat%2fcompletions"),
        ("GET", "chat/completions"),
        ("POST", "embeddings"),
        ("POST", "batches"),
        ("POST", "chat//completions"),
    ],
)
async def test_other_paths_are_not_called(server: RecordingServer, reach: Reach, method: str, path: str) -> None:
    async with reach() as there:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(there.url.rpartition(":")[2]))
        head = f"{method} /gateway/openai/v1/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}"
        writer.write(head.encode())
        assert (await reader.readline()).split()[1] in (b"404", b"405")
        writer.close()
    assert server.requests == []


async def test_a_redirect_is_not_followed(reach: Reach, server: RecordingServer) -> None:
    server.failures = [(307, {"location": "http://127.0.0.1:9/"})]
    async with reach() as there, there.http() as http:
        answer = await http.post("chat/completions", json={"model": "m", "messages": SAID})
    assert answer.status_code == 307


async def keyed(folder: Path, tenant: str) -> str:
    """A key of the tenant."""
    kept, spelled = new_key("k", [Scope.WEAVE], tenant=tenant, now=1.0)
    async with SqlKeys(f"sqlite:///{folder / 'service.db'}") as keys:
        await keys.put(kept)
    return spelled


async def test_the_same_header_from_two_tenants_is_two_conversations(
    server: RecordingServer, reach: Reach, tmp_path: Path
) -> None:
    ours, theirs = await keyed(tmp_path, "acme"), await keyed(tmp_path, "umbrella")
    async with AsyncExitStack() as stack:
        there = await stack.enter_async_context(reach(entry=Entry.KEYS))
        named = []
        for key in (ours, theirs):
            http = await stack.enter_async_context(
                there.http(
                    **{"x-skillweave-key": key, "x-skillweave-conversation": "c1", "authorization": "Bearer same"}
                )
            )
            answer = await http.post("chat/completions", json={"model": "m", "messages": SAID})
            named.append(answer.headers["x-skillweave-conversation"])
        nobody = await stack.enter_async_context(there.http())
        assert (await nobody.post("chat/completions", json={"model": "m", "messages": SAID})).status_code == 401
    assert len(set(named)) == 2
    assert len(server.requests) == 2
    assert not [key for one in server.requests for key in (ours, theirs) if key in str(one.headers)]


async def test_a_key_that_the_server_holds_goes_upstream_in_place_of_ours(
    server: RecordingServer, reach: Reach, tmp_path: Path
) -> None:
    key = await keyed(tmp_path, "acme")
    async with reach(entry=Entry.KEYS, keys=("openai=PROVIDER",)) as there, there.openai(api_key=key) as client:
        await client.chat.completions.create(model="m", messages=SAID)
    assert server.requests[0].headers["authorization"] == "Bearer sk-provider"
    assert key not in str(server.requests[0])


async def test_with_a_key_that_the_server_holds_nobody_comes_without_one(server: RecordingServer, reach: Reach) -> None:
    async with reach(keys=("openai=PROVIDER",)) as there, there.http() as http:
        assert (await http.post("chat/completions", json={"model": "m", "messages": SAID})).status_code == 401
    assert server.requests == []


async def test_no_key_stands_in_the_log(
    server: RecordingServer, reach: Reach, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    key = await keyed(tmp_path, "acme")
    caplog.set_level("DEBUG")
    async with reach(entry=Entry.KEYS, keys=("openai=PROVIDER",)) as there, there.openai(api_key=key) as client:
        await client.chat.completions.create(model="m", messages=SAID)
    assert not [one for one in caplog.records for secret in (key, "sk-provider") if secret in one.getMessage()]


async def test_requests_are_counted_by_their_form_and_way(server: RecordingServer, reach: Reach) -> None:
    async with reach() as there, there.openai() as client:
        await client.chat.completions.create(model="m", messages=SAID)
        metrics = (await there.service.metrics()).decode()
    assert 'skillweave_exchange_overhead_seconds_count{form="chat",way="new"} 1.0' in metrics


async def test_hidden_rounds_and_what_passes_without_skills_are_counted(server: RecordingServer, reach: Reach) -> None:
    server.script.then(Says("Now.", (tool_call("read_skill", skill_id="greetings"),)), "Bonjour.")
    async with reach(SKILLS[1:2]) as there, there.openai() as client, there.http() as http:
        await client.chat.completions.create(model="m", messages=SAID, tools=[tool("search")])
        await http.post("responses", content=b'{"input": 7, "stream": 1}')
        metrics = (await there.service.metrics()).decode()
    assert 'skillweave_exchange_rounds_total{form="chat"} 1.0' in metrics
    assert 'skillweave_exchange_passed_total{form="chat"} 0.0' in metrics
    assert 'skillweave_exchange_passed_total{form="responses"} 1.0' in metrics


async def test_an_id_can_be_required(server: RecordingServer, reach: Reach) -> None:
    async with reach(require_conversation=True) as there, there.http() as http:
        answer = await http.post("chat/completions", json={"model": "m", "messages": SAID})
    assert (answer.status_code, answer.json()["type"]) == (400, "urn:skillweave:problem:conversation-required")


async def test_a_stream_that_breaks_off_breaks_off_for_the_client(server: RecordingServer, reach: Reach) -> None:
    server.breaks_after = 3
    body = {"model": "m", "messages": SAID, "stream": True}
    async with reach() as there, there.http() as http:
        answer = await http.post("chat/completions", json=body)
        assert b"[DONE]" not in answer.content
        server.breaks_after = None
        whole = await http.post("chat/completions", json=body)
    assert b"[DONE]" in whole.content
    assert [sent.times_in_messages(GREETINGS) for sent in server.script.sent] == [1, 1]


@pytest.mark.parametrize("pieces", [None, 1, -1], ids=["speaking", "silent", "unanswered"])
async def test_a_client_that_leaves_an_endless_reply_ends_the_request_upstream(
    reach: Reach, pieces: int | None
) -> None:
    body = {"model": "m", "messages": SAID, "stream": True}
    async with Endless(pieces) as upstream, reach() as there, there.http() as http:
        there.service.gateway.providers = providers_of([f"openai={upstream.url}"], [], {})
        asked = asyncio.create_task(_one_piece(http, "POST", "chat/completions", json=body))
        await upstream.asked.wait()
        if pieces == -1:
            asked.cancel()
        await asyncio.wait({asked})
        await upstream.until_left()


@pytest.mark.parametrize("pieces", [None, -1], ids=["speaking", "unanswered"])
async def test_so_does_one_that_leaves_what_passes_as_it_is(reach: Reach, pieces: int | None) -> None:
    async with Endless(pieces) as upstream, reach() as there, there.http() as http:
        there.service.gateway.providers = providers_of([f"openai={upstream.url}"], [], {})
        asked = asyncio.create_task(_one_piece(http, "GET", "models"))
        await upstream.asked.wait()
        if pieces == -1:
            asked.cancel()
        await asyncio.wait({asked})
        await upstream.until_left()


async def _one_piece(http: httpx.AsyncClient, method: str, path: str, **given: Any) -> None:
    async with http.stream(method, path, **given) as answer:
        async for _ in answer.aiter_bytes():
            return
