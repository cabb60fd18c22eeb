import subprocess
import sys

import pytest

from skillweave.errors import InvalidGraph
from skillweave.graph import EmbeddingScorer, KeywordScorer, LexicalScorer, ScorePolicy
from skillweave.graph.scoring import DEFAULT_POLICIES, scorer_named
from skillweave_testing import FakeEmbedder


def test_each_built_in_scorer_has_a_name() -> None:
    assert [scorer_named(name) for name in DEFAULT_POLICIES] == [KeywordScorer(), LexicalScorer(), EmbeddingScorer()]
    assert [scorer_named(name).name for name in DEFAULT_POLICIES] == list(DEFAULT_POLICIES)


def test_what_is_not_said_of_the_policy_stays_the_scorers_own() -> None:
    policy = scorer_named("keyword", {"temperature": 0.5}).policy
    assert policy == ScorePolicy(temperature=0.5, min_score=KeywordScorer().policy.min_score)
    assert scorer_named("keyword", {"min_score": None}).policy == ScorePolicy()


def test_the_embedder_is_handed_to_the_scorer_that_needs_one() -> None:
    fake = FakeEmbedder()
    assert scorer_named("embedding", embedder=fake) == EmbeddingScorer(fake)
    assert scorer_named("lexical", embedder=fake) == LexicalScorer()


def test_an_unknown_name_is_answered_with_the_names_there_are() -> None:
    with pytest.raises(InvalidGraph, match=r"did you mean 'lexical'\? the scorers are keyword, lexical, embedding"):
        scorer_named("lexcal")


def test_a_policy_that_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidGraph, match="temperature"):
        scorer_named("lexical", {"temperature": 0})


def test_naming_scorers_loads_no_array_library() -> None:
    script = "import skillweave.graph.scoring, skillweave.graph.entry_scoring, sys; print('numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout == "False\n"
