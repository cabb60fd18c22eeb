"""How likely a ranked skill is wanted: a logistic model over features that do not depend on the library (spec 2.5).

On top of it stands what was fitted to somebody's own labelled queries (spec 2.4).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import exp, log
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

from skillweave.codec import Portable

FEATURES = (
    "fused",
    "second",
    "to_first",
    "third",
    "crowd",
    "words_gap",
    "brief_gap",
    "full_gap",
    "pairs_gap",
    "words",
    "brief",
    "full",
    "pairs",
    "phrase",
    "told_in_brief",
    "told_in_full",
    "covered_by_brief",
    "covered_by_full",
    "stems_in_brief",
    "stems_in_full",
    "name_stems",
    "name_share",
    "brief_share",
    "length",
    "unknown",
    "told_alone",
    "told_by_rival",
    "said",
    "said_gap",
    "cosine",
    "cosine_gap",
)
"""The names of what `Ranked.features` measures, in its order."""


@dataclass(frozen=True, slots=True)
class Calibration(Portable):
    """What turns the features of a ranked skill into a probability, and where giving and offering begin.

    A logistic model in which the line of each feature may have one bend: to the sum goes `slopes` times the feature,
    and `bends` times what of it is above its knot. `names` are the features in the order of the three; a feature that
    is not named counts nothing. `embedder` is the id of the embedder whose cosines are among the features, None for
    words alone; `phrases` says whether it is for libraries of which most skills have phrases. Nothing is offered
    unless one skill has at least the probability `list_at`.
    """

    names: tuple[str, ...]
    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    bends: tuple[float, ...]
    intercept: float
    give_at: float
    offer_at: float
    embedder: str | None = None
    phrases: bool = False
    list_at: float = 0.0

    def probability(self, features: Sequence[float]) -> float:
        """Return how likely a skill with these features, in the order of FEATURES, is wanted; in [0, 1]."""
        values = features
        if self.names != FEATURES:
            by_name = dict(zip(FEATURES, features, strict=True))
            values = [by_name.get(name, 0.0) for name in self.names]
        total = self.intercept
        for value, knot, slope, bend in zip(values, self.knots, self.slopes, self.bends, strict=True):
            total += slope * value
            if value > knot:
                total += bend * (value - knot)
        return 1 / (1 + exp(-total)) if total > -700 else 0.0


@lru_cache(maxsize=1)
def fitted() -> Mapping[tuple[str | None, bool], Calibration]:
    """The calibrations that come with the library, by the embedder's id, None for words alone, and with phrases."""
    text = files("skillweave.select").joinpath("fitted.json").read_text(encoding="utf-8")
    # Read by hand: what reads any class would take longer to be imported than all of this.
    found: dict[tuple[str | None, bool], Calibration] = {}
    for one in json.loads(text):
        values: dict[str, Any] = {k: tuple(value) if isinstance(value, list) else value for k, value in one.items()}
        found[values.get("embedder"), values.get("phrases", False)] = Calibration(**values)
    return MappingProxyType(found)


def calibration_of(embedder: str | None, *, phrases: bool = False) -> Calibration | None:
    """Return the calibration for an embedder by its id, for libraries with phrases or without; None where none is.

    That of words alone for None.
    """
    return fitted().get((embedder, phrases))


NEVER_SURE = 1e-6
"""Probabilities are kept so far from 0 and 1 before they are stretched."""


@dataclass(frozen=True, slots=True)
class OwnFit(Portable):
    """How a matcher's probabilities are corrected, and from which on skills are given and offered.

    The log-odds are multiplied by `slope`, above 0, and `offset` is added: the order of skills stays. It holds for the
    embedder with the id `embedder`, None for words alone; with another one nothing of it counts. Nothing is offered
    unless one skill has at least the probability `list_at`.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "list_at?")

    slope: float
    offset: float
    give_at: float
    offer_at: float
    embedder: str | None = None
    list_at: float = 0.0

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
    list_at: float

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
    # Whoever states when to offer means every skill by itself.
    if offer_at is not None:
        return Calibrated(calibration, own, give, offer_at, 0.0)
    return Calibrated(calibration, own, give, base.offer_at, base.list_at)
