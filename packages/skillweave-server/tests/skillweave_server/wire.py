"""A client that sends what no library would: raw paths and headers, bodies in pieces or none at all, over ASGI."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from starlette.types import ASGIApp, Message

ADDRESS = "203.0.113.9"
LISTENING_SECONDS = 0.05
"""Seconds for which an answer that never ends is listened to, where nothing is awaited."""
PATIENCE = 20.0
"""Seconds in which what is awaited must come."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer as it would go over the wire."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    content: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, None where there is none."""
        return next((value.decode("latin-1") for key, value in self.headers if key.lower() == name.encode()), None)

    def json(self) -> Any:
        """The content as data."""
        return json.loads(self.content)


class Wire:
    """Requests to an application, without a server in between."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def ask(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
        body: bytes | Sequence[bytes] = b"",
        *,
        address: str = ADDRESS,
        is_endless: bool = False,
        breaks_off: bool = False,
        until: bytes = b"",
    ) -> Heard:
        """Send a request; `target` goes as it is.

        An endless body never comes to its end; of one that breaks off, the client goes away before it does. An answer
        that never ends is listened to `until` that comes, where something is awaited.
        """
        pieces = [body] if isinstance(body, bytes) else list(body)
        told = asyncio.Event()
        heard: list[Message] = []

        async def receive() -> Message:
            if pieces:
                piece = pieces.pop(0)
                return {"type": "http.request", "body": piece, "more_body": bool(pieces) or is_endless or breaks_off}
            if is_endless:
                await asyncio.Event().wait()
            if not breaks_off:
                with suppress(TimeoutError):
                    async with asyncio.timeout(PATIENCE if until else LISTENING_SECONDS):
                        await told.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            heard.append(message)
            if until and until in message.get("body", b""):
                told.set()

        path, _, query = target.partition("?")
        given = headers.items() if isinstance(headers, Mapping) else headers
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in given],
            "client": (address, 4242),
            "server": ("service", 80),
            "state": {},
        }
        try:
            await self._app(scope, receive, send)
        except Exception:
            # The server would log it: what counts is what the client was told before.
            if not heard:
                raise
        start = next(one for one in heard if one["type"] == "http.response.start")
        content = b"".join(one.get("body", b"") for one in heard if one["type"] == "http.response.body")
        return Heard(start["status"], tuple(start.get("headers", ())), content)


def bearer(spelled: str) -> dict[str, str]:
    """The header with which a key is sent."""
    return {"Authorization": f"Bearer {spelled}"}


JSON = {"Content-Type": "application/json"}
