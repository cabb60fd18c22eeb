"""The built-in scorers by the names that data has for them (spec 3.1)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skillweave.errors import InvalidGraph, nearest_names
from skillweave.graph.scorers.embedding import EmbeddingScorer
from skillweave.graph.scorers.keyword import KeywordScorer
from skillweave.graph.scorers.lexical import LexicalScorer
from skillweave.graph.scoring import ScorePolicy, Scorer

if TYPE_CHECKING:
    from skillweave.text.embedding import Embedder

DEFAULT_POLICIES: Mapping[str, ScorePolicy] = {
    KeywordScorer.name: KeywordScorer().policy,
    LexicalScorer.name: LexicalScorer().policy,
    EmbeddingScorer.name: EmbeddingScorer().policy,
}
"""How each of them chooses where nothing is said about it."""


def scorer_named(
    name: str, changes: "Mapping[str, float | None] | None" = None, embedder: "Embedder | None" = None
) -> Scorer:
    """The scorer of that name; `changes` are the keys of its ScorePolicy that differ from its own default.

    Raises InvalidGraph for a name that no scorer has, and for a policy that cannot be.
    """
    if name not in DEFAULT_POLICIES:
        near = nearest_names(name, DEFAULT_POLICIES)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidGraph(f"there is no scorer {name[:60]!r}; {guess}the scorers are {', '.join(DEFAULT_POLICIES)}")
    given: dict[str, Any] = dict(changes or {})
    policy = replace(DEFAULT_POLICIES[name], **given)
    if name == EmbeddingScorer.name:
        return EmbeddingScorer(embedder, policy)
    return KeywordScorer(policy) if name == KeywordScorer.name else LexicalScorer(policy)
