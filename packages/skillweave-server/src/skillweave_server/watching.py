"""What is noted of each request: counted, and one line of JSON in the log, without a path, a secret or a body."""

import json
import logging
import time
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillweave_server.meters import Meters

log = logging.getLogger("skillweave.access")

_SEEN = "skillweave.seen"
_BROKEN_OFF = 499
"""The status in the log of a request whose client went away before any answer, as proxies write it."""


@dataclass(slots=True)
class Seen:
    """What is known of a request: the template of its path, its key's id and tenant, and the answer's status."""

    route: str | None = None
    key: str | None = None
    tenant: str | None = None
    status: int | None = None


def seen_in(scope: Scope) -> Seen:
    """What is noted of this request, to be added to; of no other where nobody watches."""
    known = scope.get(_SEEN)
    return known if isinstance(known, Seen) else Seen()


class Watched:
    """ASGI middleware that counts every request and writes its line to the log `skillweave.access`."""

    def __init__(self, app: ASGIApp, meters: Meters) -> None:
        self._app = app
        self._meters = meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, seen = time.perf_counter(), Seen()
        scope[_SEEN] = seen

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception:
            seen.status = seen.status or 500
            raise
        finally:
            self._note(scope, seen, time.perf_counter() - begun)

    def _note(self, scope: Scope, seen: Seen, seconds: float) -> None:
        # A path that is not there may be anything; the template of one that is there holds nobody's words.
        route = seen.route or getattr(scope.get("route"), "path", None)
        status = seen.status or _BROKEN_OFF
        self._meters.answered(scope["method"], route, status, seconds)
        if log.isEnabledFor(logging.INFO):
            line: dict[str, Any] = {
                "method": scope["method"][:20],
                "route": route,
                "status": status,
                "ms": round(seconds * 1000, 2),
                "key": seen.key,
                "tenant": seen.tenant,
            }
            log.info(json.dumps(line), extra={"request": line})
