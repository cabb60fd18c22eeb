"""What of a query is looked up in an index of words: which terms, and how much each counts (spec 2.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skillweave.select.lexical_index import PAIR_SHARE, PRIOR, Channel, LexicalIndex
from skillweave.select.query import Query
from skillweave.text.bm25 import Postings
from skillweave.text.stems import (
    DOCUMENTS,
    NEVER_SEEN,
    Commonness,
    common_stems,
    light_stems,
    rarity,
    stems_of,
    telling,
)
from skillweave.text.words import LIGHT_WORDS

LIGHT_WEIGHT = 0.5
"""What an everyday word counts for the order."""
EARLIER_WEIGHT = 0.6
"""What a word of the message before counts, and the square of it one of the message before that."""
MOST_UNKNOWN = 16
"""For so many unknown words of a message near ones are looked for."""
MOST_WORDS = 256
"""Of a longer message only the rarest known words are looked up; the others still count as uncovered."""


@dataclass(slots=True, eq=False)
class Asked:
    """The terms to look up, with what each counts and which stem of the message it stands for, channel after channel.

    `ends` says where each channel's terms end. `stems` are those of the message, then those of earlier ones; `tells` is
    how much each says whatever the library; `light` whether it is an everyday word; `words` are the message's words of
    each. The first `own` are the message's own. `unknown` of them no skill has; `left_out` were not looked up.
    """

    stems: Sequence[str]
    own: int
    words: Mapping[int, Sequence[str]]
    tells: Sequence[float]
    light: Sequence[bool]
    unknown: int
    left_out: int
    terms: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    which: list[int] = field(default_factory=list)
    ends: dict[Channel, int] = field(default_factory=dict)

    def add(self, index: LexicalIndex, channel: Channel, told: Iterable[tuple[int, float, float, int]]) -> None:
        """Looks up the terms of a channel, each with how many public skills have it, its count and its stem's place."""
        starts = index.starts
        among = (len(index.request_owners) if channel is Channel.SAID else index.size) + PRIOR
        for term, common, count, stem in told:
            rows = starts[term + 1] - starts[term]
            self.terms.append(term)
            self.weights.append(rarity(rows + PRIOR * common / DOCUMENTS, among) * count)
            self.which.append(stem)
        self.ends[channel] = len(self.terms)

    def found(self, index: LexicalIndex) -> Postings:
        """All that the index holds about the terms, each weighed; takes time linear in what is found."""
        starts = index.starts
        begins = np.array([starts[term] for term in self.terms], dtype=np.int64)
        counts = np.array([starts[term + 1] for term in self.terms], dtype=np.int64) - begins
        ends = counts.cumsum()
        places = np.repeat(begins + counts - ends, counts)
        places += np.arange(len(places))
        rows, found = index.rows[places].astype(np.int64), index.times[places].astype(np.float64)
        found /= found + index.slowness[rows]
        found *= np.repeat(np.array(self.weights), counts)
        return Postings(rows, found, ends, len(index.slowness))


def ask(index: LexicalIndex, query: Query) -> Asked:
    """Return what of a query is looked up in the index."""
    words = list(query.spans)
    stem_of = dict(zip(words, stems_of(words), strict=True))
    counts: dict[str, float] = {}
    standing: dict[str, list[str]] = {}
    for word, stem in stem_of.items():
        counts[stem] = max(counts.get(stem, 0.0), LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0)
        standing.setdefault(stem, []).append(word)
    for stem in stems_of(query.humps) if query.humps else ():
        counts.setdefault(stem, 1.0)
    own = len(counts)
    factor = 1.0
    for earlier in query.earlier:
        factor *= EARLIER_WEIGHT
        for word, stem in zip(earlier, stems_of(earlier), strict=True):
            weight = factor * LIGHT_WEIGHT if word in LIGHT_WORDS else factor
            counts[stem] = max(counts.get(stem, 0.0), weight)
    unknown = [word for word, stem in stem_of.items() if stem not in index.stems][:MOST_UNKNOWN]
    if unknown:
        _add_near(index, unknown, counts)
    places = {stem: place for place, stem in enumerate(counts)}
    known = [stem for stem in counts if stem in index.stems]
    kept = known if len(known) <= MOST_WORDS else _rarest(known, counts)
    light = light_stems()
    asked = Asked(
        stems=list(counts),
        own=own,
        words={places[stem]: each for stem, each in standing.items()},
        tells=[
            telling(stem) * min(1.0, count / (LIGHT_WEIGHT if stem in light else 1)) for stem, count in counts.items()
        ],
        light=[stem in light for stem in counts],
        unknown=len(counts) - len(known),
        left_out=len(known) - len(kept),
    )
    _look_up(asked, index, query, stem_of, {stem: counts[stem] for stem in kept}, places)
    return asked


def _add_near(index: LexicalIndex, unknown: Sequence[str], counts: dict[str, float]) -> None:
    """Add the stems of known words that unknown ones may stand for, each with how near it is."""
    near = [(other, likeness) for word in unknown for other, likeness in index.near.of(word)]
    for (_, likeness), stem in zip(near, stems_of([other for other, _ in near]), strict=True):
        counts[stem] = max(counts.get(stem, 0.0), likeness)


def _look_up(
    asked: Asked,
    index: LexicalIndex,
    query: Query,
    stem_of: Mapping[str, str],
    counts: Mapping[str, float],
    places: Mapping[str, int],
) -> None:
    common = common_stems()
    seen = {stem: common.get(stem, NEVER_SEEN) for stem in counts}
    words = [
        (term, seen[stem].brief, LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0, places[stem])
        for word, stem in stem_of.items()
        if stem in counts and (term := index.words.get(word)) is not None
    ]
    asked.add(index, Channel.WORDS, words)
    for channel in (Channel.BRIEF, Channel.FULL):
        first, brief = index.firsts[channel], channel is Channel.BRIEF
        told = [
            (first + index.stems[stem], seen[stem].brief if brief else seen[stem].full, count, places[stem])
            for stem, count in counts.items()
        ]
        asked.add(index, channel, told)
    sequence = [stem_of[word] for word in query.sequence]
    pairs = [(a, b) for a, b in dict.fromkeys(pairwise(sequence)) if a != b and a in counts and b in counts]
    if pairs and len(index.pair_keys):
        asked.add(index, Channel.PAIRS, _known_pairs(index, pairs, counts, seen, places))
    asked.ends[Channel.PAIRS] = len(asked.terms)
    own = [stem for stem in counts if places[stem] < asked.own]
    for channel in (Channel.NAME, Channel.PHRASE):
        asked.terms += [index.firsts[channel] + index.stems[stem] for stem in own]
        asked.weights += [1.0] * len(own)
        asked.which += [places[stem] for stem in own]
        asked.ends[channel] = len(asked.terms)
    first = index.firsts[Channel.SAID]
    said = [(first + index.stems[stem], seen[stem].brief, count, places[stem]) for stem, count in counts.items()]
    asked.add(index, Channel.SAID, said if len(index.request_owners) else ())


def _known_pairs(
    index: LexicalIndex,
    pairs: Sequence[tuple[str, str]],
    counts: Mapping[str, float],
    seen: Mapping[str, Commonness],
    places: Mapping[str, int],
) -> Iterator[tuple[int, float, float, int]]:
    keys = np.array([index.stems[a] * len(index.stems) + index.stems[b] for a, b in pairs], dtype=np.int64)
    spots = index.pair_keys.searchsorted(keys)
    here = (index.pair_keys[np.minimum(spots, len(index.pair_keys) - 1)] == keys).tolist()
    for (a, b), spot, known in zip(pairs, spots.tolist(), here, strict=True):
        if known:
            term = index.firsts[Channel.PAIRS] + spot
            yield term, PAIR_SHARE * min(seen[a].full, seen[b].full), (counts[a] + counts[b]) / 2, places[b]


def _rarest(known: Sequence[str], counts: Mapping[str, float]) -> Sequence[str]:
    rarest = set(sorted(known, key=lambda stem: -telling(stem) * counts[stem])[:MOST_WORDS])
    return [stem for stem in known if stem in rarest]
