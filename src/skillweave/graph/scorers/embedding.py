"""The scorer `embedding`: how near a message and a text are in meaning (spec 3.4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from typing import TYPE_CHECKING, ClassVar

from skillweave.errors import NoEmbedder
from skillweave.graph.scoring import ScoreCandidate, ScorePolicy

if TYPE_CHECKING:
    from skillweave.text.embedding import EmbeddedOnce, Embedder

DECIMALS = 4
"""Cosines are rounded to so many before they are compared (spec 2)."""
NEAREST_WINS = ScorePolicy()
"""Somebody is always chosen: from which cosine on texts are near depends on the embedder."""


@dataclass(frozen=True)
class EmbeddingScorer:
    """Scores by the cosine of the embedder's vectors; of a candidate's texts the nearest one counts.

    From -1 to 1, 0 where a text says nothing. The candidates' texts are embedded once, as long as they and the
    embedder's id stay the same; give an `EmbeddedOnce` to share these vectors with other scorers. Without an embedder
    `score` raises NoEmbedder.
    """

    embedder: "Embedder | None" = None
    policy: ScorePolicy = NEAREST_WINS
    name: ClassVar[str] = "embedding"

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        """The cosine by candidate. Raises InvalidVectors for a wrong answer of the embedder, and what it raises."""
        vectors = self._vectors
        from skillweave.text.embedding import cosines  # brings numpy, which other scorers never need

        texts = [[text for text in candidate.texts if text.strip()] for candidate in candidates]
        declared = [text for each in texts for text in each]
        if not declared or not message.strip():
            return {candidate.id: 0.0 for candidate in candidates}
        # Apart from each other: what is wrong with one user's message must not fail those who wait for the texts.
        rows = await vectors.embed(declared)
        (asked,) = await vectors.embed_passing([message])
        found = iter(cosines(rows, asked))
        return {
            candidate.id: _nearest([round(next(found), DECIMALS) for _ in each])
            for candidate, each in zip(candidates, texts, strict=True)
        }

    @cached_property
    def _vectors(self) -> "EmbeddedOnce":
        if self.embedder is None:
            raise NoEmbedder
        from skillweave.text.embedding import EmbeddedOnce

        return self.embedder if isinstance(self.embedder, EmbeddedOnce) else EmbeddedOnce(self.embedder)


def _nearest(cosines: Sequence[float]) -> float:
    """The highest; 0 of none, and no number where none is finite."""
    return max((cosine for cosine in cosines if isfinite(cosine)), default=nan if cosines else 0.0)
