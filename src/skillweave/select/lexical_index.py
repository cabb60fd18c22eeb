"""The words, stems and word pairs of skills as one inverted index, made from the terms of each skill (spec 2.1)."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from skillweave.select.near_words import NearWords, build_near_words
from skillweave.select.numbered import Numbered, TermStore, Texts, number_skills, number_terms
from skillweave.select.terms import SkillTerms
from skillweave.skill import Skill
from skillweave.text.bm25 import Numbers, Scores
from skillweave.text.stems import common_stems, light_stems, stems_of, telling

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
    in a channel, and rows from `PHRASE * size` on are phrases; `times` is how often, at most 255. What it counts there
    is BM25's weight without the rarity: `times / (times + slowness)`, by the `slowness` of the row. Terms of a channel
    are numbered from `firsts[channel]` on: words and stems by their number, pairs by their place in `pair_keys`.
    """

    size: int
    words: dict[str, int]
    stems: dict[str, int]
    pair_keys: Numbers
    firsts: tuple[int, ...]
    starts: "array[int]"
    rows: "NDArray[np.int32]"
    times: "NDArray[np.uint8]"
    slowness: Scores
    phrase_owners: "NDArray[np.int32]"
    phrase_lengths: "NDArray[np.float32]"
    phrase_weights: "NDArray[np.float32]"
    brief_weights: "NDArray[np.float32]"
    name_sizes: "NDArray[np.float32]"
    signatures: "NDArray[np.uint32]"
    near: NearWords

    def likeness(self, first: int, second: int) -> float:
        """What part of the stems that two skills have both have, in [0, 1]; an estimate."""
        one, other = self.signatures[first], self.signatures[second]
        used = (one != EMPTY) | (other != EMPTY)
        return float(((one == other) & used).sum() / max(1, used.sum()))


KEPT = (LexicalIndex, NearWords)
"""The classes that an index is made of."""


def build_lexical_index(skills: Iterable[Skill], terms: TermStore | None = None) -> LexicalIndex:
    """The index over skills by position; linear in the length of their texts, of which `terms` knows the unchanged."""
    return index_numbers(number_skills(skills) if terms is None else terms.numbered(tuple(skills)))


def index_terms(skills: Iterable[SkillTerms]) -> LexicalIndex:
    """The index over the terms of skills by position."""
    return index_numbers(number_terms(skills))


def index_numbers(numbered: Numbered) -> LexicalIndex:
    """The index over the numbered words of skills by position: the same however they came to their numbers."""
    size, owners = len(numbered.name.lengths), np.array(numbered.owners, dtype=np.int32)
    columns = [_column(texts) for texts in (numbered.brief, numbered.body, numbered.name, numbered.phrases)]
    words = _renumbered(columns, numbered.words)
    del numbered  # nobody else may hold it, and it is large
    brief, body, name, quoted = columns
    listed = stems_of(words)
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(listed))}
    stem_of = np.fromiter((stems[stem] for stem in listed), dtype=np.int32, count=len(listed))
    spoken = _inverted(brief.terms, brief.rows, size, len(words))
    for column in columns:
        column.terms = stem_of[column.terms]
    lengths = np.bincount(brief.rows, minlength=size) + np.bincount(body.rows, minlength=size)
    pair_keys, pairs = _pairs(brief, body, size, len(stems))
    short = _inverted(brief.terms, brief.rows, size, len(stems))
    brief.terms, brief.rows = np.concatenate([brief.terms, body.terms]), np.concatenate([brief.rows, body.rows])
    body.terms = body.rows = _NOTHING
    full = _inverted(brief.terms, brief.rows, size, len(stems))
    brief.terms = brief.rows = _NOTHING
    named = _inverted(name.terms, name.rows, size, len(stems))
    cited = _inverted(quoted.terms, quoted.rows, len(owners), len(stems))
    channels = [spoken, short, full, pairs, named, cited]
    tell = _telling(stems)
    firsts = np.cumsum([0, *(len(channel.counts) for channel in channels)])
    starts = np.concatenate([[0], *(channel.counts for channel in channels)]).cumsum()
    usual = np.full(size, K1)
    slow = K1 * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / USUAL_LENGTH)
    return LexicalIndex(
        size=size,
        words={word: number for number, word in enumerate(words)},
        stems=stems,
        pair_keys=pair_keys,
        firsts=tuple(firsts.tolist()),
        starts=array("q", starts.tobytes()),
        phrase_owners=owners,
        phrase_lengths=np.bincount(cited.rows, minlength=len(owners)).astype(np.float32),
        phrase_weights=_sums(cited, tell, len(owners)),
        brief_weights=_sums(short, tell, size),
        name_sizes=np.maximum(_sums(named, tell, size), 1e-6),
        signatures=_signatures(full, stems, size),
        slowness=np.concatenate([usual, usual, slow, slow, np.zeros(size + len(owners))]),
        rows=_together(channels, size),
        times=np.concatenate([channel.times for channel in channels]),
        near=build_near_words(word for word, count in zip(words, spoken.counts.tolist(), strict=True) if count),
    )


_NOTHING = np.zeros(0, dtype=np.int32)
_AT_ONCE = 1_000_000
"""Entries that are sorted at once: more would only take more memory."""


@dataclass(slots=True, eq=False)
class _Column:
    """Which terms stand in which rows, one entry for each time, row after row."""

    terms: "NDArray[np.int32]"
    rows: "NDArray[np.int32]"


@dataclass(frozen=True, slots=True, eq=False)
class _Inverted:
    """In how many rows each term stands, then term after term in which, ascending, and how often (at most 255)."""

    counts: Numbers
    rows: "NDArray[np.int32]"
    times: "NDArray[np.uint8]"


def _column(texts: Texts) -> _Column:
    """The words of texts, each with the number of its text."""
    rows = np.repeat(np.arange(len(texts.lengths), dtype=np.int32), np.array(texts.lengths, dtype=np.int64))
    return _Column(np.frombuffer(texts.numbers, dtype=np.int32), rows)


def _renumbered(columns: Sequence[_Column], words: Sequence[str]) -> list[str]:
    """Number the words anew, in the order in which they first stand in the columns, and return them in that order."""
    first = np.full(len(words), -1, dtype=np.int64)
    end = sum(len(column.terms) for column in columns)
    for column in reversed(columns):
        end -= len(column.terms)
        # Of several assignments to one place the last one holds, so that backwards the first is left.
        first[column.terms[::-1]] = np.arange(end + len(column.terms) - 1, end - 1, -1)
    order = np.argsort(first, kind="stable")
    order = order[np.count_nonzero(first < 0) :]
    numbers = np.zeros(len(words), dtype=np.int32)
    numbers[order] = np.arange(len(order), dtype=np.int32)
    for column in columns:
        column.terms = numbers[column.terms]
    return [words[number] for number in order.tolist()]


def _inverted(terms: "NDArray[np.int32]", rows: "NDArray[np.int32]", width: int, number: int) -> _Inverted:
    """The entries by term, for terms below `number` in rows below `width`."""
    counts = np.zeros(number, dtype=np.int64)
    parts = []
    for here in _portions(terms, number):
        keys, times = _sorted(terms[here] * np.int64(width) + rows[here])
        found = keys // width
        counts += np.bincount(found, minlength=number)
        parts.append(((keys - found * width).astype(np.int32), times))
    return _Inverted(counts, *_joined(parts))


def _pairs(brief: _Column, body: _Column, width: int, stems: int) -> tuple[Numbers, _Inverted]:
    """Every two different stems that follow one another: their keys in order, and where each stands."""
    entries = [_following(column) for column in (brief, body)]
    first, second, rows = (np.concatenate([one[place] for one in entries]) for place in range(3))
    del entries
    pairs, counts, parts = [], [], []
    for here in _portions(first, stems):
        keys, times = _sorted((first[here] * np.int64(stems) + second[here]) * width + rows[here])
        found = keys // width
        begin = np.flatnonzero(np.diff(found, prepend=-1))
        pairs.append(found[begin])
        counts.append(np.diff(begin, append=len(found)))
        parts.append(((keys - found * width).astype(np.int32), times))
    return np.concatenate(pairs), _Inverted(np.concatenate(counts), *_joined(parts))


def _joined(
    parts: "Sequence[tuple[NDArray[np.int32], NDArray[np.uint8]]]",
) -> "tuple[NDArray[np.int32], NDArray[np.uint8]]":
    return np.concatenate([rows for rows, _ in parts]), np.concatenate([times for _, times in parts])


def _following(column: _Column) -> "tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]":
    first, second = column.terms[:-1], column.terms[1:]
    together = (column.rows[:-1] == column.rows[1:]) & (first != second)
    return first[together], second[together], column.rows[1:][together]


def _portions(terms: "NDArray[np.int32]", number: int) -> "Iterator[NDArray[np.bool_]]":
    """Masks over the entries, for portions of the terms in ascending order, each of about as many entries."""
    ends = np.bincount(terms, minlength=number).cumsum()
    wanted = range(_AT_ONCE, len(terms), _AT_ONCE)
    bounds = [0, *dict.fromkeys((ends.searchsorted(list(wanted)) + 1).tolist()), number + 1]
    for low, high in pairwise(bounds):
        yield (terms >= low) & (terms < high)


def _sorted(keys: Numbers) -> "tuple[Numbers, NDArray[np.uint8]]":
    """The distinct keys in order, and how often each is there."""
    keys.sort()
    begin = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[begin], np.minimum(np.diff(begin, append=len(keys)), 255).astype(np.uint8)


def _together(channels: Sequence[_Inverted], size: int) -> "NDArray[np.int32]":
    rows = np.concatenate([channel.rows for channel in channels])
    begin = 0
    for place, channel in enumerate(channels):
        end = begin + len(channel.rows)
        rows[begin:end] += np.int32(place * size)
        begin = end
    return rows


def _telling(stems: Mapping[str, int]) -> Scores:
    """How much each stem says by itself: the same for most, which no list of common ones has."""
    tell = np.full(len(stems), telling(_UNHEARD_OF))
    for stem in (*common_stems(), *light_stems()):
        if stem in stems:
            tell[stems[stem]] = telling(stem)
    return tell


_UNHEARD_OF = "\n"
"""A stem that no text has."""


def _terms(column: _Inverted) -> Numbers:
    return np.repeat(np.arange(len(column.counts)), column.counts)


def _sums(column: _Inverted, tell: Scores, size: int) -> "NDArray[np.float32]":
    return np.bincount(column.rows, weights=tell[_terms(column)], minlength=size).astype(np.float32)


def _signatures(column: _Inverted, stems: Iterable[str], size: int) -> "NDArray[np.uint32]":
    """The least hash of each row's stems in each bucket that hashes fall into."""
    hashes = np.array([crc32(stem.encode()) for stem in stems], dtype=np.uint32)
    signatures = np.full(size * BUCKETS, EMPTY, dtype=np.uint32)
    begin = 0
    for counts in np.array_split(column.counts, 1 + len(column.rows) // _AT_ONCE):
        end = begin + int(counts.sum())
        own, hashes_here = column.rows[begin:end], hashes[: len(counts)]
        hashes, begin = hashes[len(counts) :], end
        each = np.repeat(hashes_here, counts)
        np.minimum.at(signatures, own.astype(np.int64) * BUCKETS + each % BUCKETS, each)
    return signatures.reshape(size, BUCKETS)
