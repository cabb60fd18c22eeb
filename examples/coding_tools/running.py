"""One run of Python code, with limits of time and of output, that leaves no process behind."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one run: wall-clock seconds, and bytes of output, standard error with it."""

    seconds: float = 10.0
    output: int = 20_000


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run: its exit code, None for one that was stopped, and its output as far as it was kept."""

    code: int | None
    output: str
    stopped: str = ""

    def in_words(self) -> str:
        """For the model."""
        ended = f"stopped: {self.stopped}" if self.code is None else f"exit code {self.code}"
        return f"{ended}\n{self.output}".rstrip()


def run(arguments: Sequence[str], folder: Path, limits: Limits) -> Ran:
    """Run this Python isolated (`-I`: no environment, no user packages) in the folder; no shell is involved.

    It gets nothing of this process's environment, so no key in it either. The process and all that it started in its
    group are killed when it ends or a limit is reached. For Linux and macOS.
    """
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", *arguments],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return _watched(process, limits)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _watched(process: "subprocess.Popen[bytes]", limits: Limits) -> Ran:
    assert process.stdout is not None
    deadline, kept = time.monotonic() + limits.seconds, bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            piece = os.read(process.stdout.fileno(), 65_536)
            kept += piece
            if len(kept) > limits.output:
                return Ran(None, _text(kept[: limits.output]), f"it wrote more than {limits.output} bytes")
            if not piece:
                with suppress(subprocess.TimeoutExpired):
                    return Ran(process.wait(max(0.0, deadline - time.monotonic())), _text(kept))
                break
    return Ran(None, _text(kept), f"it took longer than {limits.seconds:g} seconds")


def _text(output: bytes | bytearray) -> str:
    return output.decode("utf-8", "replace")
