"""The client's door: one method for each operation of the service, and the same without `await`."""

from collections.abc import Callable
from uuid import uuid4

from skillweave.blocking import Awaited, Blocked
from skillweave.checking import Checked
from skillweave.client.sending import Retries, Wire
from skillweave.client.verbs import ClientVerbs
from skillweave.closing import ClosedOnExit
from skillweave.errors import needing
from skillweave.loop_thread import LoopThread, OnLoopThread

with needing("client", "the client of the service"):
    import httpx

TIMEOUT = 30.0
"""Seconds to wait for one answer."""


class Client(ClientVerbs[Awaited], ClosedOnExit):
    """Calls a service at its address with an API key or none; the verbs are those of a Weaver.

    What is safe to repeat is tried again, each try within `timeout` seconds; `transport` replaces the network. Verbs
    raise what the engine raises, each a ServiceError, and ServiceUnreachable. Raises InvalidValue.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        checked = Checked("Client")
        self._wire = Wire(
            url,
            key,
            timeout=checked.number("timeout", timeout, 0.001),
            retries=Retries()
            if retries is None
            else checked.kind("retries", retries, Retries, "Retries(...), or None"),
            transport=transport,
        )
        self._new_id = new_id

    @property
    def url(self) -> str:
        """The address of the service."""
        return self._wire.url

    async def close(self) -> None:
        """Give back the connections."""
        await self._wire.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


class SyncClient(ClientVerbs[Blocked], OnLoopThread[Client]):
    """The verbs of a Client, blocking, on one private event-loop thread; works inside a running loop too."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
    ) -> None:
        OnLoopThread.__init__(self, Client(url, key, timeout=timeout, retries=retries), LoopThread())
        self._wire, self._new_id, self._thread = self.awaited._wire, self.awaited._new_id, self.thread  # noqa: SLF001

    @property
    def url(self) -> str:
        """The address of the service."""
        return self.awaited.url

    def __repr__(self) -> str:
        return f"SyncClient({self.url!r})"
