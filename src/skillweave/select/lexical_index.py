"""Ranking by the words that a message shares with a skill: BM25 without and with the body, added up (spec 2.1)."""

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from skillweave.formats.host_keys import when_to_use_of
from skillweave.select.lexical import Ranked, Ranking
from skillweave.skill import Skill
from skillweave.text.bm25 import Bm25, Numbers, Scores, build_bm25, rarities, side_by_side
from skillweave.text.words import LIGHT_WORDS, words_of

BRIEF_WEIGHT, FULL_WEIGHT = 0.5, 1.0
"""What each index counts in the sum of max-normalised scores: better than either alone and than fusing ranks."""
BRIEF_LENGTH_WEIGHT, FULL_LENGTH_WEIGHT = 0.4, 0.75
LIGHT_WEIGHT = 0.25
"""What an everyday word counts when it is asked whether a skill is meant; for the order it counts like any other."""
MILLION = 1e6
"""Fused scores are compared in whole millionths, so that an error in the last digit never orders two equal skills."""
FEW = 16
"""So many of the best are picked one by one; for more it is quicker to sort them all."""
MOST_WORDS = 256
"""Of a longer message only the rarest known words are looked up; the others still count as uncovered."""


@dataclass(frozen=True, slots=True, eq=False)
class LexicalIndex:
    """Skills by position: `brief` over name, description, triggers and tags, `full` over these and the body.

    `texts` has both of each skill: its brief at its position, its full text at `size` plus its position. The
    frequencies say by word in how many skills it stands, `rarity` by such a number how much that tells.
    """

    vocabulary: dict[str, int]
    texts: Bm25
    brief_frequencies: "array[int]"
    full_frequencies: "array[int]"
    rarity: "array[float]"
    size: int


KEPT = (LexicalIndex, Bm25)
"""The classes that an index is made of."""


def build_lexical_index(skills: Iterable[Skill]) -> LexicalIndex:
    """The index over skills by position; linear in the length of their texts."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    heads: list[array[int]] = []
    wholes: list[array[int]] = []
    for skill in skills:
        head = _numbered(words_of("\n".join(brief_texts(skill))), vocabulary)
        heads.append(head)
        wholes.append(head + _numbered(words_of("\n".join(body_texts(skill))), vocabulary))
    brief = build_bm25(heads, len(vocabulary), length_weight=BRIEF_LENGTH_WEIGHT)
    full = build_bm25(wholes, len(vocabulary), length_weight=FULL_LENGTH_WEIGHT)
    return LexicalIndex(
        vocabulary=dict(vocabulary),
        texts=side_by_side(brief, full),
        brief_frequencies=brief.frequencies(),
        full_frequencies=full.frequencies(),
        rarity=rarities(len(heads)),
        size=len(heads),
    )


def brief_texts(skill: Skill) -> tuple[str, ...]:
    """What a skill says of itself in short: name, description, when to use it, declared triggers, tags."""
    triggers = skill.triggers
    spelled = skill.spelling or skill.id
    names = (skill.name,) if set(words_of(spelled)) <= set(words_of(skill.name)) else (skill.name, spelled)
    return (
        *names,
        skill.description,
        *((use,) if (use := when_to_use_of(skill)) else ()),
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
    query = _query(index, words)
    if not query.words:
        return Ranking()
    postings = index.texts.look_up(query.numbers)
    fused, scale = _fuse(postings.scores(), index.size, allowed)
    best = _top(fused, limit)
    positions = [position for position, _ in best]
    found = postings.words_in([*positions, *(index.size + position for position in positions)])
    ranked = [query.ranked(*each, scale, b, f) for each, b, f in zip(best, found, found[len(best) :], strict=False)]
    return Ranking(tuple(ranked), query.left_out)


@dataclass(frozen=True, slots=True, eq=False)
class _Query:
    """The words that are looked up, with what part each is of the whole message's rarity."""

    words: Sequence[str]
    numbers: Sequence[int]
    weights: Sequence[float]
    brief_shares: Scores
    full_shares: Scores
    left_out: int

    def ranked(self, position: int, fused: float, scale: float, brief: Numbers, full: Numbers) -> Ranked:
        shares, places = self.full_shares[full], full.tolist()
        covered = BRIEF_WEIGHT * _total(self.brief_shares[brief]) + FULL_WEIGHT * _total(shares)
        counted = sum([self.weights[place] for place in (*brief.tolist(), *places)])
        raw = fused * scale
        return Ranked(
            position=position,
            fused=fused,
            score=round(raw / (raw + 10), 4),
            coverage=covered / (BRIEF_WEIGHT + FULL_WEIGHT),
            words=tuple([self.words[place] for place in places]),
            shares=tuple(shares.tolist()),
            weight=counted / 2,
        )


def _query(index: LexicalIndex, words: Sequence[str]) -> _Query:
    numbers = [index.vocabulary.get(word) for word in words]
    weights = [LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0 for word in words]
    brief = _shares(index.brief_frequencies, index.rarity, numbers, weights)
    full = _shares(index.full_frequencies, index.rarity, numbers, weights)
    known = [place for place, number in enumerate(numbers) if number is not None]
    kept = _rarest(known, full)
    return _Query(
        words=[words[place] for place in kept],
        numbers=[number for place in kept if (number := numbers[place]) is not None],
        weights=[weights[place] for place in kept],
        brief_shares=brief[kept],
        full_shares=full[kept],
        left_out=len(known) - len(kept),
    )


def _shares(
    frequencies: "array[int]", rarity: "array[float]", numbers: Sequence[int | None], weights: Sequence[float]
) -> Scores:
    # A word that no skill has counts as the rarest.
    rare = [
        rarity[0 if number is None else frequencies[number]] * weight
        for number, weight in zip(numbers, weights, strict=True)
    ]
    shares = np.array(rare)
    return shares / max(_total(shares), 1e-9)


def _total(values: Scores) -> float:
    return float(np.add.reduce(values))  # `values.sum()` takes twice as long for a few values


def _numbered(words: Sequence[str], vocabulary: dict[str, int]) -> "array[int]":
    return array("i", map(vocabulary.__getitem__, words))


def _rarest(known: list[int], shares: Scores) -> list[int]:
    if len(known) <= MOST_WORDS:
        return known
    return sorted(sorted(known, key=lambda place: -shares[place])[:MOST_WORDS])


def _fuse(scores: Scores, size: int, allowed: Collection[int] | None) -> tuple[Scores, float]:
    """The sum of both texts' scores, each as a part of the best, in millionths; and what puts it back on the scale."""
    brief, full = scores[:size], scores[size:]
    if allowed is not None:
        mask = np.zeros(size)
        mask[list(allowed)] = 1
        brief, full = brief * mask, full * mask
    best_brief, best_full = float(brief.max(initial=0.0)), float(full.max(initial=0.0))
    if not best_full:
        return np.zeros_like(full), 0.0
    fused = FULL_WEIGHT * full / best_full
    if best_brief:
        fused += BRIEF_WEIGHT * brief / best_brief
    return np.rint(fused * MILLION), best_full / (BRIEF_WEIGHT + FULL_WEIGHT)


def _top(fused: Scores, limit: int) -> list[tuple[int, float]]:
    """The best positions with their scores; equal ones in registry order."""
    if limit > FEW:
        order = np.argsort(-fused, kind="stable")[:limit]
        scores = zip(order.tolist(), fused[order].tolist(), strict=True)
        return [(position, score / MILLION) for position, score in scores if score]
    left = fused.copy()
    best: list[tuple[int, float]] = []
    while len(best) < limit and (score := float(left[position := int(left.argmax())])):
        best.append((position, score / MILLION))
        left[position] = 0.0
    return best
