"""Timing several contenders side by side: they take turns, so that a slow moment of the machine meets all of them."""

import gc
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Batch: TypeAlias = Callable[[int], Awaitable[float]]
"""Does the work so many times and gives the seconds that it took."""

SHORTEST_SAMPLE = 0.005
"""Seconds; what is faster is repeated within one sample, so that the clock's own cost does not show."""
FEWEST = 3


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds for one call."""

    median: float
    fastest: float
    slowest: float
    samples: int


def plain(call: Callable[[], object]) -> Batch:
    """A batch of plain calls."""

    async def batch(times: int) -> float:
        begin = time.perf_counter()
        for _ in range(times):
            call()
        return time.perf_counter() - begin

    return batch


def awaited(call: Callable[[], Awaitable[object]]) -> Batch:
    """A batch of calls that are awaited one after the other, inside the running event loop."""

    async def batch(times: int) -> float:
        begin = time.perf_counter()
        for _ in range(times):
            await call()
        return time.perf_counter() - begin

    return batch


async def interleaved(contenders: Mapping[str, Batch], *, samples: int, seconds: float = 4.0) -> dict[str, Timing]:
    """The time of one call for each contender, in rounds in which each has its turn, another one first each time.

    A contender that used up its `seconds` gets no more turns, but at least three.
    """
    times = {name: await _times(batch) for name, batch in contenders.items()}
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    gc.collect()
    gc.freeze()  # or one contender's garbage collection would walk through the data of all
    try:
        for number in range(samples):
            for name in _rotated(names, number):
                if len(taken[name]) < FEWEST or sum(taken[name]) * times[name] < seconds:
                    taken[name].append(await contenders[name](times[name]) / times[name])
    finally:
        gc.unfreeze()
    return {name: _timing(found) for name, found in taken.items()}


def timing_of(seconds: list[float]) -> Timing:
    """The summary of single measurements."""
    return _timing(seconds)


async def _times(batch: Batch) -> int:
    times = 1
    while (took := await batch(times)) < SHORTEST_SAMPLE:
        times = max(2 * times, int(times * SHORTEST_SAMPLE / max(took, 1e-9)))
    return times


def _rotated(names: list[str], number: int) -> list[str]:
    first = number % len(names)
    return names[first:] + names[:first]


def _timing(found: list[float]) -> Timing:
    return Timing(statistics.median(found), min(found), max(found), len(found))
