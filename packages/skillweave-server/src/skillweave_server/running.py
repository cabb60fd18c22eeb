"""A process that serves until it is asked to stop, and then finishes what it has begun."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence

from uvicorn import Config, Server

from skillweave_server.app import create_app
from skillweave_server.connections import IDLE_SECONDS, bounded
from skillweave_server.service import Service

FINISH_SECONDS = 20
"""Seconds that running turns have when the process is asked to stop."""
INTERRUPTED = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(
    service: Service,
    sockets: Sequence[socket.socket],
    *,
    drain_seconds: float = 0.0,
    finish_seconds: float = FINISH_SECONDS,
    told: Callable[[], None] = lambda: None,
) -> None:
    """Serve at these sockets until SIGTERM or SIGINT; the Service is closed in the end.

    Asked to stop, it says at `/readyz` that it is not ready and ends streams; for `drain_seconds` it still takes
    connections, so that whoever spreads the load can notice. Turns that run have `finish_seconds`. Asked a second time
    it ends at once. `told` is called when it listens.
    """
    config = Config(
        create_app(service),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application has its own proxies to trust; uvicorn would trust this machine's
        ws="none",
        lifespan="on",
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=max(1, round(finish_seconds)),
    )
    await _Stoppable(bounded(config), service, drain_seconds, told).serve(list(sockets))


def run(work: Awaitable[None]) -> None:
    """Run it to its end, on the quicker event loop where that is installed."""

    async def awaited() -> None:
        await work

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(awaited())


class _Stoppable(Server):
    """uvicorn's server, which leaves in steps and with a good exit code."""

    def __init__(self, config: Config, service: Service, drain_seconds: float, told: Callable[[], None]) -> None:
        super().__init__(config)
        self._service = service
        self._drain_seconds = drain_seconds
        self._told = told

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and say so."""
        await super().startup(sockets)
        if self.started:
            self._told()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """While it serves, signals stop it; uvicorn would raise them again in the end, as if it had failed."""
        before = {one: signal.getsignal(one) for one in SIGNALS}
        loop = asyncio.get_running_loop()
        for one in SIGNALS:
            try:
                loop.add_signal_handler(one, self._stop)
            except NotImplementedError:  # on Windows
                signal.signal(one, lambda *_: loop.call_soon_threadsafe(self._stop))
        try:
            yield
        finally:
            for one, handler in before.items():
                with contextlib.suppress(NotImplementedError):
                    loop.remove_signal_handler(one)
                signal.signal(one, handler)

    def _stop(self) -> None:
        if self._service.leaving.is_set():
            os._exit(INTERRUPTED)
        self._service.leaving.set()
        asyncio.get_running_loop().call_later(self._drain_seconds, self._leave)

    def _leave(self) -> None:
        self.should_exit = True


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    if sys.platform == "win32":
        return None
    try:
        from uvloop import new_event_loop
    except ModuleNotFoundError:
        return None
    return new_event_loop
