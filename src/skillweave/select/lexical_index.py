"""The words, stems and word pairs of skills as one inverted index, made from the terms of each skill (spec 2.1)."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from skillweave.select.near_words import NearWords, build_near_words
from skillweave.select.terms import SkillTerms, terms_of
from skillweave.skill import Skill
from skillweave.text.bm25 import Numbers, Scores
from skillweave.text.stems import DOCUMENTS, rarity, stems_of, telling

K1 = 2.0
"""How soon repeating a word stops to count."""
LENGTH_WEIGHT = 0.75
"""BM25's b for whole texts; briefs are short, and a long one is no worse."""
USUAL_LENGTH = 400
"""Terms of a whole text of ordinary length: a constant, so that no skill's weight depends on the others."""
PRIOR = 500
"""For so many public skills the counts of common stems stand in, beside those of the library itself."""
PAIR_SHARE = 0.1
"""A pair is taken to stand in this part of the texts that have the rarer of its stems."""
BUCKETS = 64
"""Numbers in the signature of a text; two texts share as large a part of them as they share of their stems."""
EMPTY = np.uint32(0xFFFF_FFFF)


class Channel(IntEnum):
    """Where terms were found; every channel ranks by itself, and what they say is added up."""

    WORDS = 0
    BRIEF = 1
    FULL = 2
    PAIRS = 3
    NAME = 4
    PHRASE = 5


RANKED = (Channel.WORDS, Channel.BRIEF, Channel.FULL, Channel.PAIRS)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalIndex:
    """Skills by position, their terms by number, with what each skill has of each.

    Term `t` of a channel stands in `rows[starts[t]:starts[t + 1]]`, where row `channel * size + position` is a skill
    in a channel, and rows from `PHRASE * size` on are phrases; `weights` are BM25's without the rarity. Terms of a
    channel are numbered from `firsts[channel]` on: words and stems by their number, pairs by their place in
    `pair_keys`. `frequencies` count the rows of a term.
    """

    size: int
    words: dict[str, int]
    stems: dict[str, int]
    pair_keys: Numbers
    firsts: tuple[int, ...]
    starts: "array[int]"
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]
    phrase_owners: NDArray[np.int32]
    phrase_lengths: NDArray[np.float32]
    phrase_weights: NDArray[np.float32]
    brief_weights: NDArray[np.float32]
    name_sizes: NDArray[np.float32]
    signatures: NDArray[np.uint32]
    near: NearWords

    def frequency(self, term: int) -> int:
        """In how many rows a term stands."""
        return self.starts[term + 1] - self.starts[term]

    def rarity(self, term: int, common: float) -> float:
        """How much a term says, where `common` of DOCUMENTS public skills have it."""
        return rarity(self.frequency(term) + PRIOR * common / DOCUMENTS, self.size + PRIOR)

    def likeness(self, first: int, second: int) -> float:
        """What part of the stems that two skills have both have, in [0, 1]; an estimate."""
        one, other = self.signatures[first], self.signatures[second]
        used = (one != EMPTY) | (other != EMPTY)
        return float(((one == other) & used).sum() / max(1, used.sum()))


def build_lexical_index(skills: Iterable[Skill]) -> LexicalIndex:
    """The index over skills by position; linear in the length of their texts."""
    return index_terms([terms_of(skill) for skill in skills])


def index_terms(skills: Sequence[SkillTerms]) -> LexicalIndex:
    """The index over the terms of skills by position."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    brief = _column([skill.brief for skill in skills], numbers)
    told = len(numbers)
    body = _column([skill.body for skill in skills], numbers)
    name = _column([skill.name for skill in skills], numbers)
    phrases = [(position, phrase) for position, skill in enumerate(skills) for phrase in skill.phrases]
    quoted = _column([phrase for _, phrase in phrases], numbers)
    words = dict(numbers)
    listed = stems_of(list(words))
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(listed))}
    stem_of = np.fromiter((stems[stem] for stem in listed), dtype=np.int64, count=len(listed))

    stemmed_brief = _Column(stem_of[brief.terms], brief.rows)
    stemmed_body = _Column(stem_of[body.terms], body.rows)
    full = stemmed_brief.joined(stemmed_body)
    pair_keys, pairs = _pairs(stemmed_brief, stemmed_body, len(stems))
    size = len(skills)
    lengths = np.bincount(full.rows, minlength=size)
    slowness = K1 * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / USUAL_LENGTH)
    firsts = np.cumsum([0, len(words), len(stems), len(stems), len(pair_keys), len(stems), len(stems)])
    channels = (
        brief.counted(lambda times, _: times / (times + K1)),
        stemmed_brief.counted(lambda times, _: times / (times + K1)),
        full.counted(lambda times, rows: times / (times + slowness[rows])),
        pairs.counted(lambda times, rows: times / (times + slowness[rows])),
        _Column(stem_of[name.terms], name.rows).counted(lambda times, _: np.ones(len(times))),
        _Column(stem_of[quoted.terms], quoted.rows).counted(lambda times, _: np.ones(len(times))),
    )
    terms = np.concatenate([one.terms + firsts[place] for place, one in enumerate(channels)])
    rows = np.concatenate([one.rows + place * size for place, one in enumerate(channels)])
    weights = np.concatenate([one.weights for one in channels])
    order = np.argsort(terms, kind="stable")  # rows stand in order within each term already
    counts = np.bincount(terms, minlength=int(firsts[-1]))
    starts = np.concatenate([[0], np.cumsum(counts)])
    tell = np.array([telling(stem) for stem in stems])
    return LexicalIndex(
        size=size,
        words=words,
        stems=stems,
        pair_keys=pair_keys,
        firsts=tuple(firsts.tolist()),
        starts=array("q", starts.tolist()),
        rows=rows[order].astype(np.int32),
        weights=weights[order].astype(np.float32),
        phrase_owners=np.array([position for position, _ in phrases], dtype=np.int32),
        phrase_lengths=np.bincount(channels[Channel.PHRASE].rows, minlength=len(phrases)).astype(np.float32),
        phrase_weights=_sums(channels[Channel.PHRASE], tell, len(phrases)),
        brief_weights=_sums(channels[Channel.BRIEF], tell, size),
        name_sizes=np.maximum(_sums(channels[Channel.NAME], tell, size), 1e-6),
        signatures=_signatures(channels[Channel.FULL], stems, size),
        near=build_near_words(word for word, number in words.items() if number < told),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """Which terms stand in which rows, one entry for each time, row after row."""

    terms: Numbers
    rows: Numbers

    def joined(self, other: "_Column") -> "_Column":
        """The entries of both."""
        return _Column(np.concatenate([self.terms, other.terms]), np.concatenate([self.rows, other.rows]))

    def counted(self, weigh: Callable[[Scores, Numbers], Scores]) -> "_Counted":
        """Each pair of term and row once, weighed by how often it is there; in the order of terms, then rows."""
        width = int(self.rows.max(initial=0)) + 1
        keys, times = np.unique(self.terms * width + self.rows, return_counts=True)
        terms, rows = np.divmod(keys, width)
        return _Counted(terms, rows, weigh(times.astype(np.float64), rows))


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    terms: Numbers
    rows: Numbers
    weights: Scores


def _column(texts: Sequence[Sequence[str]], numbers: dict[str, int]) -> _Column:
    """The words as numbers, new ones numbered on, each with the number of its text."""
    terms = np.fromiter((numbers[word] for words in texts for word in words), dtype=np.int64)
    return _Column(terms, np.repeat(np.arange(len(texts)), [len(words) for words in texts]))


def _pairs(brief: _Column, body: _Column, stems: int) -> tuple[Numbers, _Column]:
    """Every two different stems that follow one another: their keys in order, and where each stands."""
    keys: list[Numbers] = []
    rows: list[Numbers] = []
    for column in (brief, body):
        first, second = column.terms[:-1], column.terms[1:]
        together = (column.rows[:-1] == column.rows[1:]) & (first != second)
        keys.append((first * stems + second)[together])
        rows.append(column.rows[1:][together])
    found, places = np.unique(np.concatenate(keys), return_inverse=True)
    return found, _Column(places.astype(np.int64), np.concatenate(rows))


def _sums(column: _Counted, tell: Scores, size: int) -> NDArray[np.float32]:
    return np.bincount(column.rows, weights=tell[column.terms], minlength=size).astype(np.float32)


def _signatures(column: _Counted, stems: Iterable[str], size: int) -> NDArray[np.uint32]:
    """The least hash of each row's stems in each bucket that hashes fall into."""
    hashes = np.array([crc32(stem.encode()) for stem in stems], dtype=np.uint32)[column.terms]
    signatures = np.full(size * BUCKETS, EMPTY, dtype=np.uint32)
    np.minimum.at(signatures, column.rows * BUCKETS + hashes % BUCKETS, hashes)
    return signatures.reshape(size, BUCKETS)
