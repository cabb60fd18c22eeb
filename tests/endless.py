"""A provider on a raw socket that never ends its reply, and notes when whoever asked has gone."""

import asyncio
import json
from typing import Self

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
_CHOICE = {"index": 0, "delta": {"content": "hm "}, "finish_reason": None}
_EVENT = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [_CHOICE]}
_DATA = f"data: {json.dumps(_EVENT)}\n\n".encode()
_CHUNK = b"%x\r\n%s\r\n" % (len(_DATA), _DATA)


class Endless:
    """Inside `async with`: says `pieces` pieces of a reply, None for ever more; with -1 not even its headers."""

    def __init__(self, pieces: int | None = None) -> None:
        self._pieces = pieces
        self.asked, self.left = asyncio.Event(), asyncio.Event()

    @property
    def url(self) -> str:
        """Where it is; for clients of OpenAI."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def until_left(self) -> None:
        """Comes back when the connection has ended; raises TimeoutError where it stays open."""
        await asyncio.wait_for(self.left.wait(), 5)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked.set()
        gone = asyncio.ensure_future(_until_end(reader))
        said = 0
        if self._pieces != -1:
            writer.write(_HEAD)
        while not gone.done():
            if self._pieces is None or said < self._pieces:
                writer.write(_CHUNK)
                said += 1
            await asyncio.wait({gone}, timeout=0.01)
        self.left.set()
        writer.close()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1")
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()


async def _until_end(reader: asyncio.StreamReader) -> None:
    try:
        while await reader.read(65536):
            pass
    except ConnectionError:
        pass
