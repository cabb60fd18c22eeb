"""A service with the example skills for pages that show the client: real, on a port of its own."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

ADDRESS = "localhost:8321"
"""What pages show."""
_SHOWS_IT = "from skillweave.client import"


@contextmanager
def real_service(text: str, skills: Path) -> Iterator[Mapping[str, str]]:
    """For a text that shows the client, what its address is really; nothing is started for another one."""
    if _SHOWS_IT not in text:
        yield {}
        return
    import uvicorn

    from skillweave_server import Entry, create_app, open_service

    with tempfile.TemporaryDirectory() as folder:
        service = open_service(str(skills), store=Path(folder) / "service.db", entry=Entry.OPEN)
        config = uvicorn.Config(create_app(service), port=0, log_config=None, timeout_graceful_shutdown=2)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.01)
            if not thread.is_alive():
                raise RuntimeError("the service of the page did not start")
        try:
            yield {ADDRESS: f"127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"}
        finally:
            server.should_exit = True
            thread.join(20)
