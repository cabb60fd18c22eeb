"""Skills ranked by shared words, and how many of the first are clear enough to be selected (spec 2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillweave.select.lexical_fit import Fit


class Ranked(NamedTuple):
    """One skill in a ranking.

    `fused` is in (0, 1.5] and orders; `score` is s/(s+10), where s is `fused` put back on the scale of the best BM25
    score with body. `coverage` is in [0, 1]; `words` are the query's words that the skill has, in the query's order,
    `shares` what part of the query's rarity each is; `weight` counts them, one in the body alone as half, an everyday
    one as a quarter.
    """

    position: int
    fused: float
    score: float
    coverage: float
    words: tuple[str, ...]
    shares: tuple[float, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best skills, best first; `left_out` words of a long message were not looked up."""

    best: tuple[Ranked, ...] = ()
    left_out: int = 0


def clear(best: Sequence[Ranked], fit: Fit) -> int:
    """How many of the first in a ranking are clear enough to be selected: 0, 1 or 2."""
    if not best:
        return 0
    first = best[0]
    ratio = best[1].fused / first.fused if len(best) > 1 else 0.0
    if len(best) > 1 and ratio >= fit.together and _gain(first, best[1]) >= fit.gain:
        third = best[2].fused / first.fused if len(best) > 2 else 0.0
        if min(strength(first, fit), strength(best[1], fit)) >= fit.floor + fit.margin * third:
            return 2
    return int(strength(first, fit) >= fit.floor + fit.margin * ratio)


def strength(ranked: Ranked, fit: Fit) -> float:
    """How much of the query a skill answers, whatever the number of skills."""
    return ranked.coverage - fit.scarcity / ranked.weight


def _gain(first: Ranked, second: Ranked) -> float:
    covered = set(first.words)
    return sum(share for word, share in zip(second.words, second.shares, strict=True) if word not in covered)
