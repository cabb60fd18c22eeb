"""Ranking by the words that a message shares with a skill: BM25 without and with the body, added up (spec 2.1)."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillweave.select.ranked import Ranked, Ranking
from skillweave.skill import Skill
from skillweave.text.bm25 import Bm25, Postings, Scores, build_bm25
from skillweave.text.light_words import LIGHT_WORDS
from skillweave.text.words import words_of

BRIEF_WEIGHT, FULL_WEIGHT = 0.5, 1.0
"""What each index counts in the sum of max-normalised scores: better than either alone and than fusing ranks."""
BRIEF_LENGTH_WEIGHT, FULL_LENGTH_WEIGHT = 0.4, 0.75
LIGHT_WEIGHT = 0.25
"""What an everyday word counts when it is asked whether a skill is meant; for the order it counts like any other."""
MOST_WORDS = 256
"""Of a longer message only the rarest known words are looked up; the others still count as uncovered."""


@dataclass(frozen=True, slots=True, eq=False)
class LexicalIndex:
    """Skills by position: `brief` over name, description, triggers and tags, `full` over these and the body."""

    vocabulary: dict[str, int]
    brief: Bm25
    full: Bm25

    @property
    def size(self) -> int:
        """How many skills are indexed."""
        return self.full.size


def build_lexical_index(skills: Iterable[Skill]) -> LexicalIndex:
    """The index over skills by position; linear in the length of their texts."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    brief: list[array[int]] = []
    full: list[array[int]] = []
    for skill in skills:
        head = _numbered(words_of("\n".join(brief_texts(skill))), vocabulary)
        brief.append(head)
        full.append(head + _numbered(words_of("\n".join(body_texts(skill))), vocabulary))
    size = len(vocabulary)
    return LexicalIndex(
        dict(vocabulary),
        build_bm25(brief, size, length_weight=BRIEF_LENGTH_WEIGHT),
        build_bm25(full, size, length_weight=FULL_LENGTH_WEIGHT),
    )


def brief_texts(skill: Skill) -> tuple[str, ...]:
    """What a skill says of itself in short: name, description, declared triggers, tags."""
    triggers = skill.triggers
    spelled = skill.spelling or skill.id
    names = (skill.name,) if set(words_of(spelled)) <= set(words_of(skill.name)) else (skill.name, spelled)
    return (
        *names,
        skill.description,
        *triggers.keywords,
        *triggers.verbs,
        *triggers.examples,
        *skill.domain_tags,
    )


def body_texts(skill: Skill) -> tuple[str, ...]:
    """The tier 2 text of a skill."""
    text = skill.text
    parts = (text.details, text.instructions, *text.steps, *text.requirements, *text.postconditions, text.output_format)
    return tuple(part for part in parts if part)


def rank(index: LexicalIndex, words: Sequence[str], limit: int, allowed: Collection[int] | None = None) -> Ranking:
    """The `limit` skills that fit the distinct words best; `allowed` are the positions to choose from, None for all.

    Equal scores stand in registry order. Nothing is ranked when no skill has any of the words.
    """
    known = [(place, number) for place, word in enumerate(words) if (number := index.vocabulary.get(word)) is not None]
    if not known:
        return Ranking()
    places = np.array([place for place, _ in known])
    numbers = np.array([number for _, number in known])
    query = _query(index, words, places, numbers)
    kept = _rarest(query.full_shares[places])
    places, numbers = places[kept], numbers[kept]
    brief, full = index.brief.look_up(numbers), index.full.look_up(numbers)
    fused, scale = _fuse(brief.scores(index.size), full.scores(index.size), allowed)
    best = tuple(
        query.ranked(
            position, float(fused[position]), scale, places[brief.words_in(position)], _in(full, position, places)
        )
        for position in _top(fused, limit)
    )
    return Ranking(best, len(known) - len(places))


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    words: Sequence[str]
    weights: Scores
    brief_shares: Scores
    full_shares: Scores

    def ranked(
        self, position: int, fused: float, scale: float, brief: NDArray[np.int64], full: NDArray[np.int64]
    ) -> Ranked:
        covered = BRIEF_WEIGHT * self.brief_shares[brief].sum() + FULL_WEIGHT * self.full_shares[full].sum()
        raw = fused * scale
        return Ranked(
            position=position,
            fused=fused,
            score=round(raw / (raw + 10), 4),
            coverage=float(covered) / (BRIEF_WEIGHT + FULL_WEIGHT),
            words=tuple(self.words[place] for place in full.tolist()),
            shares=tuple(self.full_shares[full].tolist()),
            weight=float(self.weights[brief].sum() + self.weights[full].sum()) / 2,
        )


def _query(index: LexicalIndex, words: Sequence[str], places: NDArray[np.int64], numbers: NDArray[np.int64]) -> _Query:
    weights = np.array([LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0 for word in words])
    shares: list[Scores] = []
    for each in (index.brief, index.full):
        frequencies = np.zeros(len(words), dtype=np.int64)  # a word that no skill has counts as the rarest
        frequencies[places] = each.frequencies(numbers)
        rarity = each.rarity(frequencies) * weights
        shares.append(rarity / max(float(rarity.sum()), 1e-9))
    return _Query(words, weights, *shares)


def _numbered(words: Sequence[str], vocabulary: dict[str, int]) -> "array[int]":
    return array("i", map(vocabulary.__getitem__, words))


def _rarest(shares: Scores) -> NDArray[np.int64]:
    if len(shares) <= MOST_WORDS:
        return np.arange(len(shares))
    return np.sort(np.argsort(-shares, kind="stable")[:MOST_WORDS])


def _fuse(brief: Scores, full: Scores, allowed: Collection[int] | None) -> tuple[Scores, float]:
    if allowed is not None:
        mask = np.zeros(len(full))
        mask[list(allowed)] = 1
        brief, full = brief * mask, full * mask
    best_brief, best_full = float(brief.max(initial=0.0)), float(full.max(initial=0.0))
    if not best_full:
        return np.zeros_like(full), 0.0
    fused = FULL_WEIGHT * full / best_full
    if best_brief:
        fused += BRIEF_WEIGHT * brief / best_brief
    return np.round(fused, 6), best_full / (BRIEF_WEIGHT + FULL_WEIGHT)


def _top(fused: Scores, limit: int) -> list[int]:
    if len(fused) > limit:
        least = np.partition(fused, len(fused) - limit)[len(fused) - limit]
        candidates = np.flatnonzero(fused >= max(least, 1e-9))
    else:
        candidates = np.flatnonzero(fused > 0)
    order = np.argsort(-fused[candidates], kind="stable")[:limit]
    found: list[int] = candidates[order].tolist()
    return found


def _in(postings: Postings, position: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
    return places[postings.words_in(position)]
