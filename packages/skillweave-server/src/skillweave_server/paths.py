"""Ids in paths that hold a slash, as those of sub-agents' conversations do: `%2F` in a path is part of an id."""

from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from skillweave_server.problems import Refused, answer_to

_SLASH = "\uf02f"
"""Stands for a slash of an id while a path is matched; no id can hold it, as it is not printable."""


_NO_UTF_8 = answer_to(
    Refused(422, "invalid-parameter", "the path holds bytes that are no text in UTF-8, or none that an id can hold")
)


class SlashesInIds:
    """ASGI middleware that lets a path be matched by the slashes that were sent as such."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, with `%2F` apart from `/`."""
        raw: bytes = scope.get("raw_path") or b""
        if b"%" in raw:
            try:
                parts = [unquote_to_bytes(part).decode() for part in raw.split(b"/")]
            except UnicodeDecodeError:
                await _NO_UTF_8(scope, receive, send)
                return
            if any(_SLASH in part for part in parts):
                await _NO_UTF_8(scope, receive, send)
                return
            scope = {**scope, "path": "/".join(part.replace("/", _SLASH) for part in parts)}
        await self._app(scope, receive, send)


def with_slashes(value: Any) -> Any:  # noqa: ANN401 - whatever a handler is given
    """The parameter as it was sent."""
    return value.replace(_SLASH, "/") if isinstance(value, str) else value
