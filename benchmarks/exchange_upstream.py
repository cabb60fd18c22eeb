"""A provider that answers at once, whole or streamed: `python exchange_upstream.py PORT`."""

import asyncio
import json
import re
import sys

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
MESSAGE = {"role": "assistant", "content": "All right, it is done."}
WHOLE = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
}
HEAD = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
DELTAS = [{"role": "assistant", "content": ""}, *({"content": word} for word in ["All", "right,", "it", "is", "done."])]
EVENTS = [
    *({**HEAD, "choices": [{"index": 0, "delta": one, "finish_reason": None}]} for one in DELTAS),
    {**HEAD, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
AT_ONCE = json.dumps(WHOLE).encode()
STREAMED = b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in EVENTS) + b"data: [DONE]\n\n"


def answer(body: bytes) -> bytes:
    """The bytes of an answer."""
    streamed = re.search(rb'"stream": ?true', body) is not None
    content, kind = (STREAMED, "text/event-stream") if streamed else (AT_ONCE, "application/json")
    return f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n\r\n".encode() + content


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request of a connection."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            found = LENGTH.search(head)
            writer.write(answer(await reader.readexactly(int(found[1])) if found else b""))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main() -> None:
    """Serve for ever."""
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
