"""A replica of the service as a process of its own, to be killed and started again."""

import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from skillweave_stores.approvals.key import read_or_make_key
from skillweave_testing.servers import HOST, Server


class Replica(Server):
    """`skillweave serve` on a port of its own, which stays the same when it is started again."""

    def __init__(self, *words: str) -> None:
        super().__init__()
        self._words = words

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://{HOST}:{self.port}"

    @property
    def said(self) -> str:
        """All that it has written."""
        return self._log.read_text("utf-8", "replace")

    def command(self) -> Sequence[str]:
        """The program with its arguments."""
        own = ["--host", HOST, "--port", str(self.port)]
        return [sys.executable, "-m", "skillweave", "--no-config", "serve", *own, *map(str, self._words)]

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/readyz", timeout=5).close()
        except (urllib.error.URLError, OSError):
            return False
        return True


def on_servers(postgres: str, redis: str, skills: Path, folder: Path) -> tuple[Replica, Replica]:
    """Two replicas over one PostgreSQL and one Redis, with the same skills and the same key for approvals."""
    words = ("--store", postgres, "--redis", redis, "--skills", str(skills), "--rate", "off")
    key = folder / "approval.key"
    read_or_make_key(key)
    words = (*words, "--approval-key-file", str(key))
    return Replica(*words), Replica(*words)
