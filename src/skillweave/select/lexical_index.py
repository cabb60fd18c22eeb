"""The words, stems and word pairs of skills as one inverted index, made from the terms of each skill (spec 2.1)."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from skillweave.select.near_words import NearWords, build_near_words
from skillweave.select.numbered import Numbered, TermStore, Texts, number_terms
from skillweave.select.terms import SkillTerms, terms_of
from skillweave.skill import Skill
from skillweave.text.bm25 import Numbers, Scores
from skillweave.text.stems import DOCUMENTS, NEVER_SEEN, common_stems, light_stems, stems_of, telling

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
    SAID = 6


RANKED = (Channel.WORDS, Channel.BRIEF, Channel.FULL, Channel.PAIRS)


@dataclass(frozen=True, slots=True, eq=False)
class LexicalIndex:
    """Skills by position, their terms by number, with what each skill has of each.

    Term `t` of a channel stands in `rows[starts[t]:starts[t + 1]]`, where row `channel * size + position` is a skill
    in a channel, and rows from `PHRASE * size` on are quoted phrases, then requests; `times` is how often, at most 255.
    What it counts there is BM25's weight without the rarity: `times / (times + slowness)`, by the `slowness` of the
    row. Terms of a channel are numbered from `firsts[channel]` on: words and stems by their number, pairs by their
    place in `pair_keys`. `request_weights` is the rarity of all stems of each request. `phrased` says that most skills
    have phrases: what people would type who need them.
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
    request_owners: "NDArray[np.int32]"
    request_weights: "NDArray[np.float32]"
    phrased: bool

    def likeness(self, first: int, second: int) -> float:
        """What part of the stems that two skills have both have, in [0, 1]; an estimate."""
        one, other = self.signatures[first], self.signatures[second]
        used = (one != EMPTY) | (other != EMPTY)
        return float(((one == other) & used).sum() / max(1, used.sum()))


def build_lexical_index(skills: Iterable[Skill], terms: TermStore | None = None) -> LexicalIndex:
    """The index over skills by position; linear in the length of their texts, of which `terms` knows the unchanged."""
    return index_numbers(number_terms(map(terms_of, skills)) if terms is None else terms.numbered(tuple(skills)))


def index_terms(skills: Iterable[SkillTerms]) -> LexicalIndex:
    """The index over the terms of skills by position."""
    return index_numbers(number_terms(skills))


def index_numbers(numbered: Numbered) -> LexicalIndex:
    """The index over the numbered words of skills by position: the same however they came to their numbers."""
    size, owners = numbered.size, np.array(numbered.owners, dtype=np.int32)
    columns = [_column(texts) for texts in (numbered.told, numbered.name, numbered.phrases, numbered.requests)]
    lengths = np.diff(numbered.told.bounds[::2])
    askers = np.array(numbered.askers, dtype=np.int32)
    order = _order(columns, len(numbered.words))
    words, number = [numbered.words[word] for word in order.tolist()], len(numbered.words)
    del numbered  # nobody else may hold it, and it is large
    told, name, quoted, said = columns
    listed = stems_of(words)
    stems = {stem: number for number, stem in enumerate(dict.fromkeys(listed))}
    word_of = _by_number(order, range(len(words)), number)
    stem_of = _by_number(order, map(stems.__getitem__, listed), number)
    written = _Written.of(sum(len(column.terms) for column in (told, told, told, told, name, quoted, said)))
    brief = _briefs(told)
    spoken = _inverted(brief, word_of, len(words), written)
    short = _inverted(brief, stem_of, len(stems), written)
    full = _inverted(_Column(told.terms, told.bounds[::2]), stem_of, len(stems), written)
    pair_keys, pairs = _pairs(told, stem_of, size, len(stems), written)
    told.terms = brief.terms = _NOTHING
    named = _inverted(name, stem_of, len(stems), written)
    cited = _inverted(quoted, stem_of, len(stems), written)
    typed = _inverted(said, stem_of, len(stems), written)
    channels = [spoken, short, full, pairs, named, cited, typed]
    tell = _telling(stems)
    usual = np.full(size, K1)
    slow = K1 * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * lengths / USUAL_LENGTH)
    phrase_lengths = np.bincount(cited.rows, minlength=len(owners)).astype(np.float32)
    weights = [_sums(channel, tell, width) for channel, width in ((cited, len(owners)), (short, size), (named, size))]
    signatures = _signatures(full, stems, size)
    requested = _sums(typed, _rarities(typed, stems, len(askers)), len(askers))
    for place, channel in enumerate(channels[:-1]):
        channel.rows += np.int32(place * size)
    typed.rows += np.int32(Channel.PHRASE * size + len(owners))
    firsts = np.cumsum([0, *(len(channel.counts) for channel in channels)])
    starts = array("i", [0])
    counts = np.concatenate([channel.counts for channel in channels], dtype=np.int32, casting="unsafe")
    starts.frombytes(np.cumsum(counts, out=counts).view(np.uint8).data)
    return LexicalIndex(
        size=size,
        words={word: number for number, word in enumerate(words)},
        stems=stems,
        pair_keys=pair_keys,
        firsts=tuple(firsts.tolist()),
        starts=starts,
        rows=written.rows[: written.end],
        times=written.times[: written.end],
        slowness=np.concatenate([usual, usual, slow, slow, np.zeros(size + len(owners) + len(askers))]),
        phrase_owners=owners,
        phrase_lengths=phrase_lengths,
        phrase_weights=weights[0],
        brief_weights=weights[1],
        name_sizes=np.maximum(weights[2], 1e-6),
        signatures=signatures,
        request_owners=askers,
        request_weights=requested,
        phrased=2 * len(np.unique(askers)) > size,
        near=build_near_words(word for word, count in zip(words, spoken.counts.tolist(), strict=True) if count),
    )


_NOTHING = np.zeros(0, dtype=np.int32)
_AT_ONCE = 125_000
"""Entries that are sorted at once: more would only take more memory."""
_MOST_TERMS = 1 << 16
"""Terms that are sorted at once: what has so few values is sorted in the time that counting takes."""


@dataclass(slots=True, eq=False)
class _Column:
    """The words of rows one row after the other, as the texts number them; where each begins, with the last one's end.

    They are only read: whoever keeps the texts keeps the same ones.
    """

    terms: "NDArray[Any]"
    bounds: "NDArray[np.int32]"

    def rows(self, here: Numbers) -> "NDArray[np.int32]":
        """The rows in which ascending places lie."""
        return np.repeat(np.arange(len(self.bounds) - 1, dtype=np.int32), np.diff(here.searchsorted(self.bounds)))


@dataclass(slots=True, eq=False)
class _Inverted:
    """In how many rows each term stands, then term after term in which, ascending."""

    counts: "NDArray[np.integer[Any]]"
    rows: "NDArray[np.int32]"


@dataclass(slots=True, eq=False)
class _Written:
    """The rows of all channels, and how often each (at most 255), as far as `end`.

    There is room for as many as there could be at most; what is never written takes no memory.
    """

    rows: "NDArray[np.int32]"
    times: "NDArray[np.uint8]"
    end: int = 0

    @classmethod
    def of(cls, most: int) -> "_Written":
        return cls(np.empty(most, dtype=np.int32), np.empty(most, dtype=np.uint8))

    def add(self, rows: "NDArray[Any]", begin: Numbers, entries: int) -> None:
        """Add rows, given where the equal entries of each begin and where the last ones end."""
        end = self.end + len(rows)
        self.rows[self.end : end] = rows
        self.times[self.end : end] = np.minimum(np.diff(begin, append=entries), 255)
        self.end = end


def _column(texts: Texts) -> _Column:
    """The words of texts, each text a row."""
    return _Column(np.frombuffer(texts.numbers, texts.numbers.typecode), np.array(texts.bounds, dtype=np.int32))


def _briefs(told: _Column) -> _Column:
    """Of texts by turns brief and body the briefs, by skill."""
    lengths = np.diff(told.bounds)
    brief = np.repeat(np.arange(len(lengths)) % 2 == 0, lengths)
    return _Column(told.terms[brief], np.concatenate([[0], lengths[::2].cumsum(dtype=np.int32)]))


def _order(columns: Sequence[_Column], number: int) -> Numbers:
    """The words of the columns in the order in which they first stand there, of so many words that have numbers."""
    first = np.full(number, -1, dtype=np.int32)
    end = sum(len(column.terms) for column in columns)
    for column in reversed(columns):
        for part in reversed(_parts(column.terms)):
            end -= len(part)
            # Of several assignments to one place the last one holds, so that backwards the first is left.
            first[part[::-1]] = np.arange(end + len(part) - 1, end - 1, -1, dtype=np.int32)
    return np.argsort(first, kind="stable")[np.count_nonzero(first < 0) :]


def _by_number(order: Numbers, values: Iterable[int], number: int) -> "NDArray[np.int32]":
    """The values for words in this order, by the numbers that the words have."""
    found = np.zeros(number, dtype=np.int32)
    found[order] = np.fromiter(values, dtype=np.int32, count=len(order))
    return found


def _parts(values: "NDArray[Any]") -> "list[NDArray[Any]]":
    """The values in portions: counting and looking up make wide copies of what they are given."""
    return np.array_split(values, 1 + len(values) // _AT_ONCE)


def _inverted(column: _Column, term_of: "NDArray[np.int32]", number: int, written: _Written) -> _Inverted:
    """Write the entries by term, for terms below `number`, in ascending rows."""
    counts, before = np.zeros(number, dtype=np.int64), written.end
    for low, here in _portions(column.terms, term_of, number, _MOST_TERMS):
        terms, rows = term_of[column.terms[here]], column.rows(here)
        order = np.argsort((terms - low).astype(np.uint16), kind="stable")  # so that rows stay ascending
        terms, rows = terms[order], rows[order]
        begin = np.flatnonzero(_differs(terms) | _differs(rows))
        counts += np.bincount(terms[begin], minlength=number)
        written.add(rows[begin], begin, len(rows))
    return _Inverted(counts, written.rows[before : written.end])


def _pairs(
    told: _Column, stem_of: "NDArray[np.int32]", size: int, stems: int, written: _Written
) -> tuple[Numbers, _Inverted]:
    """Write every two different stems that follow one another in a text; also return their keys in order."""
    pairs, counts = np.empty(len(told.terms), dtype=np.int64), np.empty(len(told.terms), dtype=np.int32)
    end, before = 0, written.end
    for _, here in _portions(told.terms, stem_of, stems, stems):
        rows = told.rows(here)
        followed = here + 1 < told.bounds[rows + 1]
        here, rows = here[followed], rows[followed]
        first, second = stem_of[told.terms[here]], stem_of[told.terms[here + 1]]
        differ = first != second
        keys = first[differ] * np.int64(stems) + second[differ]
        keys *= size
        keys += rows[differ] >> 1
        keys.sort()
        begin = np.flatnonzero(_differs(keys))
        entries, keys = len(keys), keys[begin]
        found = keys // size
        written.add(keys - found * size, begin, entries)
        begin = np.flatnonzero(_differs(found))
        last = end + len(begin)
        pairs[end:last], counts[end:last] = found[begin], np.diff(begin, append=len(found))
        end = last
    return pairs[:end], _Inverted(counts[:end], written.rows[before : written.end])


def _portions(
    words: "NDArray[Any]", term_of: "NDArray[np.int32]", number: int, most: int
) -> "Iterator[tuple[int, Numbers]]":
    """The places of words, for portions of at most `most` terms in ascending order, of about as many entries each.

    The first term of each portion comes with it.
    """
    counts = np.bincount(term_of, weights=_counts(words, len(term_of)), minlength=number)
    ends, lows = counts.cumsum(), [0]
    while lows[-1] < number:
        low = lows[-1]
        before = int(ends[low - 1]) if low else 0
        lows.append(min(int(ends.searchsorted(before + _AT_ONCE)) + 1, low + most, number))
    portion_of = np.repeat(np.arange(len(lows) - 1, dtype=np.min_scalar_type(len(lows))), np.diff(lows))
    portions = np.empty(len(words), dtype=portion_of.dtype)  # small numbers, which are compared quickly
    for part, own in zip(_parts(words), _parts(portions), strict=True):
        own[:] = portion_of[term_of[part]]
    for portion, low in enumerate(lows[:-1]):
        yield low, np.flatnonzero(portions == portion)


def _counts(words: "NDArray[Any]", number: int) -> Numbers:
    counts = np.zeros(number, dtype=np.int64)
    for part in _parts(words):
        counts += np.bincount(part, minlength=number)
    return counts


def _differs(values: "NDArray[Any]") -> "NDArray[np.bool_]":
    """Where a value is not the one before it; the first never is."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]


def _telling(stems: Mapping[str, int]) -> Scores:
    """How much each stem says by itself: the same for most, which no list of common ones has."""
    tell = np.full(len(stems), telling(_UNHEARD_OF))
    for stem in (*common_stems(), *light_stems()):
        if stem in stems:
            tell[stems[stem]] = telling(stem)
    return tell


_UNHEARD_OF = "\n"
"""A stem that no text has."""


def _rarities(column: _Inverted, stems: Iterable[str], requests: int) -> Scores:
    """How rare each stem is among requests: what fits many skills counts little."""
    common = common_stems()
    if not requests:
        return np.zeros(len(column.counts))
    seen = np.array([common.get(stem, NEVER_SEEN).brief for stem in stems])
    there = column.counts + PRIOR * seen / DOCUMENTS
    return np.log1p((requests + PRIOR - there + 0.5) / (there + 0.5))


def _terms(column: _Inverted) -> Numbers:
    return np.repeat(np.arange(len(column.counts)), column.counts)


def _sums(column: _Inverted, tell: Scores, size: int) -> "NDArray[np.float32]":
    return np.bincount(column.rows, weights=tell[_terms(column)], minlength=size).astype(np.float32)


def _signatures(column: _Inverted, stems: Iterable[str], size: int) -> "NDArray[np.uint32]":
    """The least hash of each row's stems in each bucket that hashes fall into."""
    hashes = np.array([crc32(stem.encode()) for stem in stems], dtype=np.uint32)
    signatures = np.full(size * BUCKETS, EMPTY, dtype=np.uint32)
    begin, ends = 0, column.counts.cumsum()
    for counts in np.array_split(column.counts, ends.searchsorted(range(_AT_ONCE, len(column.rows), _AT_ONCE))):
        end = begin + int(counts.sum())
        own, hashes_here = column.rows[begin:end], hashes[: len(counts)]
        hashes, begin = hashes[len(counts) :], end
        each = np.repeat(hashes_here, counts)
        np.minimum.at(signatures, own.astype(np.int64) * BUCKETS + each % BUCKETS, each)
    return signatures.reshape(size, BUCKETS)
