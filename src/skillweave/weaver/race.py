"""One change of a conversation's State, computed again whenever another turn was faster."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from skillweave.errors import Contended
from skillweave.state.port import Ledger, Writes
from skillweave.state.state import State

T = TypeVar("T")

ATTEMPTS = 24
"""How often a turn is computed anew because another turn of the same conversation was faster."""


async def change_state(
    ledger: Ledger,
    conversation: str,
    compute: Callable[[State, float], Awaitable[tuple[State, T]]],
    *,
    racer: str,
) -> tuple[T, bool]:
    """Load, compute, swap; the answer that goes with the State that was stored, and whether anything was.

    `compute` gets the State and the store's clock; an unchanged State is not written. `racer` names who asks, so that
    two of them wait differently long. Raises Contended after 24 lost races.
    """
    for attempt in range(ATTEMPTS):
        state, now = await ledger.load(conversation)
        after, answer = await compute(state, now)
        if after == state:
            return answer, False
        if await ledger.swap(conversation, state.revision, Writes(after)):
            return answer, True
        await asyncio.sleep(_pause(racer, attempt))
    raise Contended(conversation, ATTEMPTS)


def _pause(racer: str, attempt: int) -> float:
    spread = 1 + sum(racer.encode("utf-8", "surrogatepass")) % 7
    return min(0.05, 0.0005 * spread * attempt)
