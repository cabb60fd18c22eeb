"""Connections that hold up nobody: slow headers, readers who do not read, and too many at once are ended."""

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn import Config

HEADER_SECONDS = 10.0
"""Seconds in which the line and the headers of a request must have come."""
MOST_HEADER_BYTES = 64 * 1024
"""Bytes that may come before a request has begun."""
IDLE_SECONDS = 60
"""Seconds for which a connection without a request is kept."""
UNREAD_SECONDS = 30.0
"""Seconds for which an answer waits for a client that takes nothing of it."""
MOST_CONNECTIONS = 10_000
SPARE_FILES = 100
"""Open files that the process needs for anything else than connections."""
_REFUSAL = "HTTP/1.1 {}\r\nConnection: close\r\nContent-Length: 0\r\nCache-Control: no-store\r\n{}\r\n"
_FULL = _REFUSAL.format("503 Service Unavailable", "Retry-After: 1\r\n").encode()
_TOO_LARGE = _REFUSAL.format("431 Request Header Fields Too Large", "").encode()

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as _Protocol
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
else:
    _Protocol = object


class Bounded(_Protocol):
    """What is added to a protocol of uvicorn: a time for headers and for reading, and a number of connections."""

    header_seconds = HEADER_SECONDS
    unread_seconds = UNREAD_SECONDS
    most_connections = MOST_CONNECTIONS

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - whatever the protocol takes
        super().__init__(*given, **named)
        self._header_timer: asyncio.TimerHandle | None = None
        self._header_bytes = 0
        self._unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the headers of the first request."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._refuse(_FULL)
        else:
            self._expect_headers()

    def data_received(self, data: bytes) -> None:
        """Wait for the headers of a further request from its first byte on."""
        if self.transport.is_closing():
            return
        if self._header_timer is not None:
            left = MOST_HEADER_BYTES - self._header_bytes
            self._header_bytes += len(data)
            if len(data) > left:
                # The rest may be a body that came together with its headers: only the parser knows where they end.
                begun, data = data[:left], data[left:]
                if begun:
                    super().data_received(begun)
                if self.transport.is_closing():
                    return
                if not self._is_answering():
                    self._refuse(_TOO_LARGE)
                    return
        super().data_received(data)
        if self._is_answering():
            self._end_header_timer()
        elif self._header_timer is None and not self.transport.is_closing():
            self._expect_headers()
            self._header_bytes = len(data)

    def on_response_complete(self) -> None:
        """The time for the headers of the next request begins with its first byte; until then the idle time counts."""
        self._end_header_timer()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read as fast as it is answered."""
        if self._unread_timer is None:
            self._unread_timer = self.loop.call_later(self.unread_seconds, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        """It reads again."""
        self._end_unread_timer()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._end_header_timer()
        self._end_unread_timer()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.transport.close()

    def _expect_headers(self) -> None:
        self._header_bytes = 0
        self._header_timer = self.loop.call_later(self.header_seconds, self.transport.close)

    def _end_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _end_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None


def bounded(config: Config) -> Config:
    """The same configuration, with these bounds in the protocol that uvicorn takes."""
    if not config.loaded:
        config.load()
    members = {"most_connections": most_connections()}
    config.http_protocol_class = type("BoundedProtocol", (Bounded, config.http_protocol_class), members)
    return config


def most_connections() -> int:
    """How many connections this process may hold, as far as it may open files."""
    try:
        import resource
    except ModuleNotFoundError:  # a system without such limits
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = files == resource.RLIM_INFINITY
    return MOST_CONNECTIONS if unlimited else max(1, min(MOST_CONNECTIONS, files - SPARE_FILES))
