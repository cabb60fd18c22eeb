"""How likely a ranked skill is wanted: a logistic model over features that do not depend on the library (spec 2.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from types import MappingProxyType

from skillweave.codec import Portable

FEATURES = ("coverage", "weight", "ratio")
"""The names of what `Ranked.features` measures, in its order."""


@dataclass(frozen=True, slots=True)
class Calibration(Portable):
    """What turns the features of a ranked skill into a probability, and where giving and offering begin.

    `embedder` is the id of the embedder whose cosines are among the features, None for words alone. `names` are the
    features in their order, `coefficients` one for each; a feature that is not named counts nothing.
    """

    names: tuple[str, ...]
    coefficients: tuple[float, ...]
    intercept: float
    give_at: float
    offer_at: float
    embedder: str | None = None

    def probability(self, features: Sequence[float]) -> float:
        """Return how likely a skill with these features, in the order of FEATURES, is wanted; in [0, 1]."""
        if self.names == FEATURES:
            values: Sequence[float] = features
        else:
            by_name = dict(zip(FEATURES, features, strict=True))
            values = [by_name.get(name, 0.0) for name in self.names]
        total = self.intercept
        for coefficient, value in zip(self.coefficients, values, strict=True):
            total += coefficient * value
        return 1 / (1 + exp(-total)) if total > -700 else 0.0


LEXICAL = Calibration(FEATURES, (4.0, 0.4, -4.0), -2.0, give_at=0.7, offer_at=0.1)
CALIBRATIONS: Mapping[str | None, Calibration] = MappingProxyType({None: LEXICAL})
"""The calibrations that come with the library, by the embedder's id; None is words alone."""
