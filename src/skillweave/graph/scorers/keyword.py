"""The scorer `keyword`: which part of the words a message and a text have in common (spec 3.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import ClassVar

from skillweave.graph.scoring import ScoreCandidate, ScorePolicy
from skillweave.text.words import singular, words_of

ONE_SHARED_WORD = ScorePolicy(min_score=1e-6)
"""Nothing is chosen where no word is shared; a single one is enough, however long the texts are."""


@dataclass(frozen=True, slots=True)
class KeywordScorer:
    """Scores by distinct content words, in any script: how many are shared, over the mean size of both sides.

    From 0, none, to 1, all; of a candidate's texts the best one counts. A word and its plural are the same word.
    """

    policy: ScorePolicy = ONE_SHARED_WORD
    name: ClassVar[str] = "keyword"

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        """The share of common words by candidate; linear in the length of the message, which is not kept."""
        asked = _distinct(message)
        return {
            candidate.id: max((_overlap(asked, _known(text)) for text in candidate.texts), default=0.0)
            for candidate in candidates
        }


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / sqrt(len(one) * len(other)) if one and other else 0.0


def _distinct(text: str) -> frozenset[str]:
    return frozenset(map(singular, words_of(text)))


@lru_cache(maxsize=4096)
def _known(text: str) -> frozenset[str]:
    return _distinct(text)
