"""Which entry fits the user's words best, judged outside the pure core and handed in (spec 3.4).

The port, its values, and the scorers that come with the package: by shared words, by BM25, by meaning.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice
from math import inf, isfinite, nan, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

from skillweave.codec import Portable
from skillweave.errors import InvalidGraph, NoEmbedder
from skillweave.graph.shape import hint, is_finite
from skillweave.text.embedding import Embedder
from skillweave.text.words import singular, words_of

if TYPE_CHECKING:
    from skillweave.text.bm25 import Bm25
    from skillweave.text.embedding import EmbeddedOnce


@dataclass(frozen=True, slots=True)
class ScoreCandidate(Portable):
    """Something to be scored against the user's message: `texts` say what it is about, the most telling first."""

    id: str
    texts: tuple[str, ...]


class Scorer(Protocol):
    """The port through which entries and intents are judged; `skillweave_testing` has the contract as tests."""

    @property
    def name(self) -> str:
        """What moves and scorings call it."""
        ...

    @property
    def policy(self) -> "ScorePolicy":
        """How its scores become a choice."""
        ...

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        """A score for each candidate, by id, the higher the better; exactly these ids."""
        ...


@dataclass(frozen=True, slots=True)
class ScorePolicy(Portable):
    """How scores become a choice: relevance is their softmax at `temperature`, above 0.

    Nothing is chosen below `min_score`, or if the lead is below `margin` (from 0). Raises InvalidGraph.
    """

    temperature: float = 1.0
    min_score: float | None = None
    margin: float | None = None

    def __post_init__(self) -> None:
        _require(self.temperature, "temperature", "a number above 0, 1 by default", above=0.0)
        if self.min_score is not None:
            _require(self.min_score, "min_score", "a number, or nothing so that somebody always wins")
        if self.margin is not None:
            _require(self.margin, "margin", "0 or a number above it, or nothing", least=0.0)


@dataclass(frozen=True, slots=True)
class RankedEntry(Portable):
    """A scored entry; `relevance` are shares that add up to 1 over all that were scored."""

    skill: str
    score: float
    relevance: float


@dataclass(frozen=True, slots=True)
class EntryScoring(Portable):
    """A scorer's answer: `chosen` (None: it abstains), `ranked` in declared order, and the `intent` that it heard."""

    scorer: str
    chosen: str | None
    ranked: tuple[RankedEntry, ...] = ()
    intent: str | None = None


def _require(value: object, key: str, fix: str, *, above: float = -inf, least: float = -inf) -> None:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else nan
    if not is_finite(number) or not least <= number > above:
        found = "huge" if isinstance(number, int) and not is_finite(number) else repr(value)[:60]
        raise InvalidGraph(f"the {key} of a scorer is {found}; give {fix}")


ONE_SHARED_WORD = ScorePolicy(min_score=1e-6)
"""Nothing is chosen where no word is shared; a single one is enough, however long the texts are."""
LENGTH_WEIGHT = 0.75
MOST_INDEXES = 32
"""So many sets of candidates are kept indexed: a graph asks about few, as long as its entries' conditions agree."""
_Texts: TypeAlias = tuple[tuple[str, ...], ...]
DECIMALS = 4
"""Cosines are rounded to so many before they are compared (spec 2)."""
NEAREST_WINS = ScorePolicy()
"""Somebody is always chosen: from which cosine on texts are near depends on the embedder."""


@dataclass(frozen=True, slots=True)
class KeywordScorer:
    """Scores from 0 to 1 by shared distinct words, over the mean size of both texts; plurals are the same word."""

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


@dataclass(frozen=True, slots=True)
class LexicalScorer:
    """Scores from 0 by BM25 over shared words, all texts of a candidate as one; plurals are the same word."""

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
    documents = [[vocabulary[singular(word)] for text in texts for word in words_of(text)] for texts in candidates]
    return _Index(dict(vocabulary), build_bm25(documents, len(vocabulary), length_weight=LENGTH_WEIGHT))


@dataclass(frozen=True)
class EmbeddingScorer:
    """Scores by cosine with the nearest text of a candidate. `score` raises NoEmbedder without an embedder."""

    embedder: Embedder | None = None
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
        found = (round(cosine, DECIMALS) for cosine in cosines(rows, asked))
        near = [list(islice(found, len(each))) for each in texts]
        # The highest; 0 of none, and no number where none is finite.
        best = (max(filter(isfinite, each), default=nan if each else 0.0) for each in near)
        return {candidate.id: score for candidate, score in zip(candidates, best, strict=True)}

    @cached_property
    def _vectors(self) -> "EmbeddedOnce":
        if self.embedder is None:
            raise NoEmbedder
        from skillweave.text.embedding import EmbeddedOnce

        return self.embedder if isinstance(self.embedder, EmbeddedOnce) else EmbeddedOnce(self.embedder)


DEFAULT_POLICIES: Mapping[str, ScorePolicy] = {
    KeywordScorer.name: KeywordScorer().policy,
    LexicalScorer.name: LexicalScorer().policy,
    EmbeddingScorer.name: EmbeddingScorer().policy,
}
"""How each of them chooses where nothing is said about it."""


def scorer_named(
    name: str, changes: "Mapping[str, float | None] | None" = None, embedder: Embedder | None = None
) -> Scorer:
    """The scorer of that name; `changes` replace values of its policy. Raises InvalidGraph."""
    if name not in DEFAULT_POLICIES:
        known = ", ".join(DEFAULT_POLICIES)
        raise InvalidGraph(f"there is no scorer {name[:60]!r}; {hint(name, DEFAULT_POLICIES)}the scorers are {known}")
    given: dict[str, Any] = dict(changes or {})
    policy = replace(DEFAULT_POLICIES[name], **given)
    if name == EmbeddingScorer.name:
        return EmbeddingScorer(embedder, policy)
    return KeywordScorer(policy) if name == KeywordScorer.name else LexicalScorer(policy)
