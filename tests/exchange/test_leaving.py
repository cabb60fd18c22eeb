"""A client that leaves an endless reply ends the request to the provider, however it leaves."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import anyio
import pytest
from openai import AsyncOpenAI, OpenAI

import skillweave
from tests.endless import Endless
from tests.exchange.conftest import weaver_of
from tests.recording.server import KEY

ASKED: Any = {"model": "m", "messages": [{"role": "user", "content": "Say bonjour to Alice"}], "stream": True}


def awaited(upstream: Endless) -> AsyncOpenAI:
    return skillweave.wrap(AsyncOpenAI(base_url=upstream.url, api_key=KEY, max_retries=0), weaver_of())


def blocking(upstream: Endless) -> OpenAI:
    return skillweave.wrap(OpenAI(base_url=upstream.url, api_key=KEY, max_retries=0), weaver_of())


async def claims(client: Any) -> int:
    """How many skills count as given in the conversation of the latest call."""
    behind = skillweave.wrapped(client)
    assert behind.last is not None
    return len((await behind.weaver.ledger.state(behind.last.conversation)).records)


async def test_closing_the_stream_of_an_async_client() -> None:
    async with Endless() as upstream, awaited(upstream) as client:
        streamed = await client.chat.completions.create(**ASKED)
        await anext(aiter(streamed))
        await streamed.close()
        await upstream.until_left()
        assert await claims(client) == 0


async def test_closing_a_stream_of_which_nothing_was_read() -> None:
    async with Endless() as upstream, awaited(upstream) as client:
        streamed = await client.chat.completions.create(**ASKED)
        await streamed.close()
        await upstream.until_left()
        assert await claims(client) == 0


async def test_leaving_the_block_of_an_async_client() -> None:
    async with Endless() as upstream, awaited(upstream) as client:
        async with await client.chat.completions.create(**ASKED) as streamed:
            await anext(aiter(streamed))
        await upstream.until_left()


@pytest.mark.parametrize("pieces", [None, 1, -1], ids=["speaking", "silent", "unanswered"])
async def test_cancelling_the_task_of_an_async_client(pieces: int | None) -> None:
    async def read(client: AsyncOpenAI) -> None:
        async for _ in await client.chat.completions.create(**ASKED):
            pass

    async with Endless(pieces) as upstream, awaited(upstream) as client:
        task = asyncio.ensure_future(read(client))
        await upstream.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await upstream.until_left()


@pytest.mark.parametrize("reads", [0, 1])
async def test_leaving_the_block_of_a_blocking_client(reads: int) -> None:
    def read(client: OpenAI) -> None:
        with client.chat.completions.create(**ASKED) as streamed:
            for _ in range(reads):
                next(iter(streamed))

    async with Endless() as upstream:
        with contextlib.closing(blocking(upstream)) as client:
            await asyncio.to_thread(read, client)
            await upstream.until_left()
            assert await claims(client) == 0


async def test_a_web_server_that_cancels_again_and_again_leaves_nothing_claimed(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def read(client: AsyncOpenAI) -> None:
        async for _ in await client.chat.completions.create(**ASKED):
            begun.set()

    made = weaver_of(ledger=str(tmp_path / "state.db"))
    async with Endless() as upstream:
        client = skillweave.wrap(AsyncOpenAI(base_url=upstream.url, api_key=KEY, max_retries=0), made)
        async with client, anyio.create_task_group() as group:
            group.start_soon(read, client)
            await begun.wait()
            group.cancel_scope.cancel()
        await upstream.until_left()
        async with asyncio.timeout(5):
            while await claims(client):  # noqa: ASYNC110 - it is in a file
                await asyncio.sleep(0.01)
    await made.close()
