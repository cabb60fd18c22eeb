"""What calls may cost: nothing is sent that could take more than the limit."""

import asyncio
from dataclasses import dataclass

from skillweave_eval.live.models import Usage

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any one currency; cached input counts like other input, so nothing costs more."""

    input: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> float:
        """The cost of calls."""
        return (usage.input * self.input + usage.output * self.output) / MILLION


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that all calls together may take; None for no limit."""

    tokens: int | None = None
    cost: float | None = None


class Purse:
    """Reserves before a call the most that it may take, and gives back afterwards what it did not."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._tokens = 0.0
        self._cost = 0.0
        self._open = 0
        self._changed = asyncio.Condition()

    async def reserve(self, most: Usage, prices: Prices) -> bool:
        """Whether a call may be made that takes at most so much; waits for calls under way: they may give some back."""
        tokens, cost = most.input + most.output, prices.of(most)
        async with self._changed:
            while not self._fits(tokens, cost):
                if not self._open:
                    return False
                await self._changed.wait()
            self._add(tokens, cost)
            self._open += 1
            return True

    async def settle(self, most: Usage, taken: Usage, prices: Prices) -> None:
        """A call that was reserved has ended, and took so much."""
        async with self._changed:
            self._add(taken.input + taken.output - most.input - most.output, prices.of(taken) - prices.of(most))
            self._open -= 1
            self._changed.notify_all()

    def _fits(self, tokens: float, cost: float) -> bool:
        limits = self._limits
        within_tokens = limits.tokens is None or self._tokens + tokens <= limits.tokens
        return within_tokens and (limits.cost is None or self._cost + cost <= limits.cost)

    def _add(self, tokens: float, cost: float) -> None:
        self._tokens += tokens
        self._cost += cost
