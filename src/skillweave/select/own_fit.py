"""What was fitted to somebody's own labelled queries, on top of what comes with the library (spec 2.4)."""

from dataclasses import dataclass
from math import exp, log

from skillweave.codec import Portable

NEVER_SURE = 1e-6
"""Probabilities are kept so far from 0 and 1 before they are stretched."""


@dataclass(frozen=True, slots=True)
class OwnFit(Portable):
    """How a matcher's probabilities are put right, and from which on skills are given and offered.

    The log-odds are multiplied by `slope`, above 0, and `offset` is added: the order of skills stays. It holds for the
    embedder with the id `embedder`, None for words alone; with another one nothing of it counts.
    """

    slope: float
    offset: float
    give_at: float
    offer_at: float
    embedder: str | None = None

    def probability(self, stated: float) -> float:
        """The probability that is put right."""
        sure = min(max(stated, NEVER_SURE), 1 - NEVER_SURE)
        odds = self.slope * log(sure / (1 - sure)) + self.offset
        return 1 / (1 + exp(-odds)) if odds > -700 else 0.0
