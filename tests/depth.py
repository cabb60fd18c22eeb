"""How many examples each law is tried with: enough for every run of the tests, and many times that with `make soak`."""

import os

from hypothesis import settings

ORDINARY = 25
"""For a law that says nothing else."""
TIMES = 20 if os.environ.get("SKILLWEAVE_SOAK") else 1


def examples(ordinary: int = ORDINARY) -> int:
    """The number of examples of this run for a law that is ordinarily tried with so many."""
    return ordinary * TIMES


def tried(ordinary: int) -> settings:
    """Try a law with so many examples, and with twenty times as many where the tests soak."""
    return settings(max_examples=examples(ordinary))
