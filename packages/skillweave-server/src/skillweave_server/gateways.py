"""What a gateway is made of: the providers behind it, and what holds for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from skillweave_server.upstreams import Provider

APPROVAL_SECONDS = 240.0
"""Seconds for which a reply is held for a person: common clients wait for five minutes."""
KEEP_ALIVE_SECONDS = 10.0
"""Seconds after which a held stream says that it lives."""
_TIMEOUT = httpx.Timeout(600.0, connect=10.0)


@dataclass(slots=True)
class Gateway:
    """The upstreams, by name, and what holds for all of them; `close` gives back the connections."""

    providers: Mapping[str, Provider]
    approval_seconds: float = APPROVAL_SECONDS
    require_conversation: bool = False
    keep_alive_seconds: float = KEEP_ALIVE_SECONDS
    _client: httpx.AsyncClient | None = field(default=None, init=False)

    @property
    def client(self) -> httpx.AsyncClient:
        """The client for all upstreams, which follows no redirect."""
        if self._client is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=200)
            self._client = httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, limits=limits)
        return self._client

    async def close(self) -> None:
        """Give back the connections."""
        if self._client is not None:
            await self._client.aclose()
