"""What was fitted to somebody's own labelled queries, on top of what comes with the library (spec 2.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from skillweave.codec import Portable
from skillweave.select.calibration import Calibration

NEVER_SURE = 1e-6
"""Probabilities are kept so far from 0 and 1 before they are stretched."""


@dataclass(frozen=True, slots=True)
class OwnFit(Portable):
    """How a matcher's probabilities are corrected, and from which on skills are given and offered.

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


class Calibrated(NamedTuple):
    """How probabilities come about in a turn, and from which on skills are given and offered."""

    calibration: Calibration
    own: OwnFit | None
    give_at: float
    offer_at: float

    def probability(self, features: Sequence[float]) -> float:
        """How likely a skill with these features is wanted, to four places."""
        stated = self.calibration.probability(features)
        return round(stated if self.own is None else self.own.probability(stated), 4)


def calibrated(
    calibration: Calibration, embedder: str | None, own: OwnFit | None, give_at: float | None, offer_at: float | None
) -> Calibrated:
    """A calibration with what goes before it: what was fitted for the embedder, then the thresholds that are stated."""
    own = own if own is not None and own.embedder == embedder else None
    base = own or calibration
    give = base.give_at if give_at is None else give_at
    return Calibrated(calibration, own, give, base.offer_at if offer_at is None else offer_at)
