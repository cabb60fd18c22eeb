"""A bar while many files are read; nothing where it would not be seen on a terminal."""

from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock
from typing import Any, TextIO

FEW = 200
"""Files that are read too quickly for a bar."""


class LoadingBar:
    """One bar for all sources that load at the same time, each in a thread of its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._parts: dict[int, tuple[int, int]] = {}
        self._lock = Lock()
        self._bar: Any = None
        self._open = ExitStack()

    def part(self) -> Callable[[int, int], None] | None:
        """The progress of one source, to be told how many of how many files are done; None without a terminal."""
        if not self._stream.isatty():
            return None
        number = len(self._parts)
        self._parts[number] = (0, 0)

        def tell(done: int, total: int) -> None:
            with self._lock:
                self._parts[number] = (done, total)
                self._show()

        return tell

    def _show(self) -> None:
        done, total = (sum(numbers) for numbers in zip(*self._parts.values(), strict=True))
        if self._bar is None and done < total and total > FEW:
            import typer

            bar = typer.progressbar(length=total, label="Reading skills", file=self._stream)
            self._bar = self._open.enter_context(bar)
        if self._bar is not None:
            self._bar.length = total
            self._bar.update(done - self._bar.pos)
            if done >= total:
                self._open.close()
                self._bar = None
