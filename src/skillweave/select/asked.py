"""What of a query is looked up in an index of words: which terms, and how much each counts (spec 2.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from skillweave.select.lexical_index import PAIR_SHARE, Channel, LexicalIndex
from skillweave.select.query import Query
from skillweave.text.bm25 import Postings
from skillweave.text.stems import NEVER_SEEN, Commonness, common_stems, light_stems, stems_of, telling
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

    def add(self, term: int, weight: float, stem: int) -> None:
        """Look up one more term of the channel at hand."""
        self.terms.append(term)
        self.weights.append(weight)
        self.which.append(stem)

    def found(self, index: LexicalIndex) -> Postings:
        """All that the index holds about the terms, each weighed; takes time linear in what is found."""
        starts, rows, times = index.starts, index.rows, index.times
        # One that is empty goes first, since nothing cannot be put together.
        spans = [(0, 0), *((starts[term], starts[term + 1]) for term in self.terms)]
        counts = np.array([end - start for start, end in spans[1:]], dtype=np.int64)
        found = np.concatenate([times[start:end] for start, end in spans], dtype=np.float64)
        where = np.concatenate([rows[start:end] for start, end in spans], dtype=np.int64)
        found /= found + index.slowness[where]
        return Postings(
            where,
            found * np.repeat(np.array(self.weights), counts),
            counts.cumsum(),
            Channel.PHRASE * index.size + len(index.phrase_owners),
        )


def ask(index: LexicalIndex, query: Query) -> Asked:
    """Return what of a query is looked up in the index."""
    words = list(query.spans)
    stem_of = dict(zip(words, stems_of(words), strict=True))
    counts: dict[str, float] = {}
    standing: dict[str, list[str]] = {}
    for word, stem in stem_of.items():
        counts[stem] = max(counts.get(stem, 0.0), _lightness(word))
        standing.setdefault(stem, []).append(word)
    for stem in stems_of(query.humps):
        counts.setdefault(stem, 1.0)
    own = len(counts)
    factor = 1.0
    for earlier in query.earlier:
        factor *= EARLIER_WEIGHT
        for word, stem in zip(earlier, stems_of(earlier), strict=True):
            counts[stem] = max(counts.get(stem, 0.0), factor * _lightness(word))
    _add_near(index, stem_of, counts)
    places = {stem: place for place, stem in enumerate(counts)}
    known = [stem for stem in counts if stem in index.stems]
    kept = _rarest(known, counts)
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


def _add_near(index: LexicalIndex, stem_of: Mapping[str, str], counts: dict[str, float]) -> None:
    """Add the stems of known words that unknown ones may stand for, each with how near it is."""
    unknown = [word for word, stem in stem_of.items() if stem not in index.stems][:MOST_UNKNOWN]
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
    for word, stem in stem_of.items():
        if stem in counts and (term := index.words.get(word)) is not None:
            asked.add(term, index.rarity(term, seen[stem].brief) * _lightness(word), places[stem])
    asked.ends[Channel.WORDS] = len(asked.terms)
    for channel in (Channel.BRIEF, Channel.FULL):
        first = index.firsts[channel]
        for stem, count in counts.items():
            term = first + index.stems[stem]
            usual = seen[stem].brief if channel is Channel.BRIEF else seen[stem].full
            asked.add(term, index.rarity(term, usual) * count, places[stem])
        asked.ends[channel] = len(asked.terms)
    _look_up_pairs(asked, index, [stem_of[word] for word in query.sequence], counts, seen, places)
    asked.ends[Channel.PAIRS] = len(asked.terms)
    for channel in (Channel.NAME, Channel.PHRASE):
        first = index.firsts[channel]
        for stem in counts:
            if places[stem] < asked.own:
                asked.add(first + index.stems[stem], 1.0, places[stem])
        asked.ends[channel] = len(asked.terms)


def _look_up_pairs(
    asked: Asked,
    index: LexicalIndex,
    sequence: Sequence[str],
    counts: Mapping[str, float],
    seen: Mapping[str, Commonness],
    places: Mapping[str, int],
) -> None:
    pairs = [(a, b) for a, b in dict.fromkeys(pairwise(sequence)) if a != b and a in counts and b in counts]
    if not pairs or not len(index.pair_keys):
        return
    keys = np.array([index.stems[a] * len(index.stems) + index.stems[b] for a, b in pairs], dtype=np.int64)
    spots = index.pair_keys.searchsorted(keys)
    here = (index.pair_keys[np.minimum(spots, len(index.pair_keys) - 1)] == keys).tolist()
    for (a, b), spot, known in zip(pairs, spots.tolist(), here, strict=True):
        if known:
            term = index.firsts[Channel.PAIRS] + spot
            usual = PAIR_SHARE * min(seen[a].full, seen[b].full)
            asked.add(term, index.rarity(term, usual) * (counts[a] + counts[b]) / 2, places[b])


def _lightness(word: str) -> float:
    return LIGHT_WEIGHT if word in LIGHT_WORDS else 1.0


def _rarest(known: Sequence[str], counts: Mapping[str, float]) -> Sequence[str]:
    if len(known) <= MOST_WORDS:
        return known
    rarest = set(sorted(known, key=lambda stem: -telling(stem) * counts[stem])[:MOST_WORDS])
    return [stem for stem in known if stem in rarest]
