"""How much work one check may be, and how deep it may go: counted, so that it ends before the interpreter gives up."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

BUDGET = 1_000_000
"""Keys and items passed, and values compared: 1 s on a laptop, some seconds at worst."""
ONE_RULE = 8
"""What it is to look at one rule of a schema."""
_FRAMES = 6
"""Python frames that one level of a schema takes at most."""
_SPARE = 60
"""Frames that what is called on each level needs."""


class Exhausted(Exception):
    """The work of this check is used up."""


class TooDeep(Exception):
    """A schema within a schema, or a reference to a reference, further down than the interpreter's stack reaches."""


class Work:
    """What one check may still do."""

    __slots__ = ("_left", "_levels")

    def __init__(self, budget: int, levels: int) -> None:
        self._left = budget
        self._levels = levels

    def spend(self, amount: int) -> None:
        """Count some work; raises Exhausted when it is too much."""
        self._left -= amount
        if self._left < 0:
            raise Exhausted

    def descend(self, level: int) -> None:
        """Go down to a level; raises TooDeep.

        To wait for a RecursionError will not do: where one strikes in compiled code (`rpds`), the process may end.
        """
        if level > self._levels:
            raise TooDeep


WORK: ContextVar[Work] = ContextVar("skillweave_check_work")
"""That of the check that runs now: the functions of a checker's rules have no place for it."""


@contextmanager
def working() -> Iterator[None]:
    """One check, with the work that it may be."""
    token = WORK.set(Work(BUDGET, (sys.getrecursionlimit() - _depth() - _SPARE) // _FRAMES))
    try:
        yield
    finally:
        WORK.reset(token)


def _depth() -> int:
    frame, depth = sys._getframe(), 0  # noqa: SLF001 - `inspect.stack` reads the source of every frame
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth
