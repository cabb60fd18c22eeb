"""A line on the terminal while many skills are worked on in one piece; nothing where nobody would wonder."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.weaver import Weaver

FEW = 1000
"""Skills that are worked on too quickly for a line."""


@contextmanager
def working(what: str, skills: int) -> Iterator[None]:
    """Say on stderr what is being done with how many skills, and take it back when it is done."""
    stream = sys.stderr
    if skills <= FEW or not stream.isatty():
        yield
        return
    line = f"{what} {skills:,} skills ..."
    stream.write(line)
    stream.flush()
    try:
        yield
    finally:
        stream.write(f"\r{' ' * len(line)}\r")
        stream.flush()


async def indexed(weaver: "Weaver") -> None:
    """Read the skills and make them ready to be searched, which the first turn would do anyway, without a word."""
    skills = len((await weaver.snapshot()).active())
    with working("Indexing", skills):
        await weaver.catalog()
