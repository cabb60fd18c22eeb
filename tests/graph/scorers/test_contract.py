"""Every scorer passes the same contract."""

import pytest

from skillweave.graph import EmbeddingScorer, KeywordScorer, LexicalScorer, Scorer
from skillweave_testing import FakeEmbedder, ScorerContract


class TestKeyword(ScorerContract):
    @pytest.fixture
    def scorer(self) -> Scorer:
        return KeywordScorer()


class TestLexical(ScorerContract):
    @pytest.fixture
    def scorer(self) -> Scorer:
        return LexicalScorer()


class TestEmbedding(ScorerContract):
    @pytest.fixture
    def scorer(self) -> Scorer:
        return EmbeddingScorer(FakeEmbedder())


class TestSlowEmbedding(ScorerContract):
    """With an embedder that lets others run, so that a cancellation finds the scorer waiting."""

    @pytest.fixture
    def scorer(self) -> Scorer:
        return EmbeddingScorer(FakeEmbedder(delay=0.001))
