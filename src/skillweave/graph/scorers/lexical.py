"""The scorer `lexical`: BM25 over what the candidates say of themselves (spec 3.4)."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from skillweave.graph.scorers.keyword import ONE_SHARED_WORD
from skillweave.graph.scoring import ScoreCandidate, ScorePolicy
from skillweave.text.words import singular, words_of

if TYPE_CHECKING:
    from skillweave.text.bm25 import Bm25

LENGTH_WEIGHT = 0.75
MOST_INDEXES = 32
"""So many sets of candidates are kept indexed: a graph asks about few, as long as its entries' conditions agree."""

_Texts: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class LexicalScorer:
    """Scores by shared content words, in any script: the rarer a word is among the candidates, the more it counts.

    From 0 without an upper end. All texts of a candidate are one document. A word and its plural are the same word.
    """

    policy: ScorePolicy = ONE_SHARED_WORD
    name: ClassVar[str] = "lexical"

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        """The BM25 score by candidate; linear in the length of the message, which is not kept."""
        index = _indexed(tuple(candidate.texts for candidate in candidates))
        numbers = {index.vocabulary.get(singular(word)) for word in words_of(message)}
        known = sorted(number for number in numbers if number is not None)
        if not known:
            return {candidate.id: 0.0 for candidate in candidates}
        scores: list[float] = index.documents.look_up(known).scores().tolist()
        return {candidate.id: score for candidate, score in zip(candidates, scores, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class _Index:
    vocabulary: Mapping[str, int]
    documents: "Bm25"


@lru_cache(maxsize=MOST_INDEXES)
def _indexed(candidates: _Texts) -> _Index:
    from skillweave.text.bm25 import build_bm25  # brings numpy, which other scorers never need

    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    documents = [
        array("i", (vocabulary[singular(word)] for text in texts for word in words_of(text))) for texts in candidates
    ]
    return _Index(dict(vocabulary), build_bm25(documents, len(vocabulary), length_weight=LENGTH_WEIGHT))
