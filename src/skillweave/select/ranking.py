"""Ranking skills by a query: max-normalised BM25 scores of several channels, added up (spec 2.1)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from skillweave.select.asked import Asked, ask
from skillweave.select.lexical_index import EMPTY, RANKED, Channel, LexicalIndex
from skillweave.select.query import Query
from skillweave.text.bm25 import Postings, Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHANNEL_WEIGHTS = {
    Channel.WORDS: 0.4,
    Channel.BRIEF: 0.6,
    Channel.FULL: 1.4,
    Channel.PAIRS: 0.4,
    Channel.PHRASE: 0.4,
    Channel.SAID: 0.8,
}
"""What each channel counts in the sum of max-normalised scores."""
DENSE_WEIGHT = 12.0
"""What a cosine counts for a message of which no skill has a word; it falls with the square of what words leave."""
SHORT = 25
"""Quoted phrases count whole in messages of so many words: in longer ones their words may be there by chance."""
ALIKE = 0.6
"""Two skills that share so large a part of their stems are near-duplicates; neither makes the other less likely."""
FEW_WORDS = 10.0
"""Rarity that a request lacks of one of ordinary length: one of a single word is no full match."""
LEAST_COMPARED = 16
"""A text of so few stems that they fill fewer buckets has no near-duplicates: short texts are like by chance."""
DEPTH = 14
"""So many of the best are looked at closely."""
MILLION = 1e6
"""Fused scores are compared in whole millionths, so that an error in the last digit never orders two equal skills."""
_TOTAL = sum(CHANNEL_WEIGHTS.values())
RANKED_WEIGHTS = np.array([CHANNEL_WEIGHTS[channel] for channel in RANKED])


class Ranked(NamedTuple):
    """One skill in a ranking.

    `fused` is in (0, 1] and orders; `score` is s/(s+10), where s is `fused` put on the scale of the best BM25 score of
    whole texts; with nearness it is `fused` itself. `words` are the message's words that the skill has, in their order,
    `shares` what part of all that the message tells each is. `features` are what its probability is made from, in the
    order of FEATURES. `like` are the positions of near-duplicates among the best.
    """

    position: int
    fused: float
    score: float
    words: tuple[str, ...]
    shares: tuple[float, ...]
    features: tuple[float, ...]
    like: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best skills, best first; `left_out` words of a long message were not looked up."""

    best: tuple[Ranked, ...] = ()
    left_out: int = 0


def rank(
    index: LexicalIndex,
    query: Query,
    limit: int,
    allowed: Collection[int] | None = None,
    dense: "NDArray[np.float32] | None" = None,
) -> Ranking:
    """The `limit` skills that fit the query best; `allowed` are the positions to choose from, None for all.

    `dense` is how near each skill is to the message, by position, as cosines of an embedder. Equal scores stand in
    registry order. Nothing is ranked when no skill has any of the words and none is near.
    """
    asked = ask(index, query)
    if not index.size or not (asked.terms or dense is not None):
        return Ranking()
    found = asked.found(index)
    view = _View.of(index, asked, found, allowed, dense)
    best = _top(view.fused, max(limit, DEPTH))
    positions = [position for position, _ in best]
    rows = [channel * index.size + position for channel in _TOLD for position in positions]
    has = found.words_in(rows)
    told = [
        dict(zip(_TOLD, [each.tolist() for each in has[at :: len(positions)]], strict=True))
        for at in range(len(positions))
    ]
    likes = _likes(index, positions)
    ranked = [_described(index, asked, view, best, place, told, likes) for place in range(min(limit, len(best)))]
    return Ranking(tuple(ranked), asked.left_out)


_TOLD = (Channel.BRIEF, Channel.FULL, Channel.NAME)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """The scores of all skills: each channel's as a part of its best one, `fused` in millionths of all together."""

    channels: Mapping[Channel, Scores]
    seconds: Mapping[Channel, tuple[float, float]]
    fused: Scores
    scale: float
    dense: "Scores | None"

    @staticmethod
    def of(
        index: LexicalIndex,
        asked: Asked,
        found: Postings,
        allowed: Collection[int] | None,
        dense: "NDArray[np.float32] | None",
    ) -> "_View":
        size, scores = index.size, found.scores()
        mask = None
        if allowed is not None:
            mask = np.zeros(size)
            mask[list(allowed)] = 1
        own = scores[: len(RANKED) * size].reshape(len(RANKED), size)
        if mask is not None:
            own = own * mask
        most = own.max(axis=1, keepdims=True)
        own = own / np.where(most > 0, most, 1.0)
        fused = RANKED_WEIGHTS @ own
        channels = dict(zip(RANKED, own, strict=True))
        seconds = {channel: _two_largest(each) for channel, each in channels.items()}
        scale = float(most[Channel.FULL, 0])
        said_from = Channel.PHRASE * size + len(index.phrase_owners)
        channels[Channel.PHRASE] = _phrases(index, asked, scores[Channel.PHRASE * size : said_from])
        channels[Channel.SAID] = _said(index, scores[said_from:])
        for channel in (Channel.PHRASE, Channel.SAID):
            if mask is not None:
                channels[channel] *= mask
            fused += CHANNEL_WEIGHTS[channel] * channels[channel]
        seconds[Channel.SAID] = _two_largest(channels[Channel.SAID])
        if dense is None:
            return _View(channels, seconds, np.rint(fused / _TOTAL * MILLION), scale, None)
        near: Scores = np.maximum(dense.astype(np.float64), 0.0).round(4)
        if mask is not None:
            near *= mask
        weight = DENSE_WEIGHT * (1 - _best_coverage(asked, found, size)) ** 2
        fused += weight * near
        return _View(channels, seconds, np.rint(fused / (_TOTAL + weight) * MILLION), scale, near)


def _two_largest(scores: Scores) -> tuple[float, float]:
    """The largest score and the second; 0 where there is none. Quicker than a partition, by ten times."""
    place = int(scores.argmax())
    second = max(float(scores[:place].max(initial=0.0)), float(scores[place + 1 :].max(initial=0.0)))
    return float(scores[place]), second


def _best_coverage(asked: Asked, found: Postings, size: int) -> float:
    """The largest part of what the message tells that one skill's words cover."""
    begin, end = asked.ends[Channel.BRIEF], asked.ends[Channel.FULL]
    counts = np.diff(found.ends, prepend=0)
    tells = np.zeros(len(counts))
    tells[begin:end] = [asked.tells[asked.which[place]] for place in range(begin, end)]
    covered = np.bincount(found.documents, weights=np.repeat(tells, counts), minlength=found.size)
    return float(covered.max(initial=0.0)) / max(sum(asked.tells), 1e-6)


def _phrases(index: LexicalIndex, asked: Asked, counts: Scores) -> Scores:
    """By skill what the best of its quoted phrases says of which the message has every word, at most 1."""
    found = np.zeros(index.size)
    whole = (counts >= index.phrase_lengths - 0.5).nonzero()[0]
    if len(whole):
        np.maximum.at(found, index.phrase_owners[whole], index.phrase_weights[whole])
        found *= min(1.0, SHORT / max(1, asked.own)) / found.max()
    return found


def _said(index: LexicalIndex, scores: Scores) -> Scores:
    """By skill how much of its best request the message has, as a part of the best one."""
    found = np.zeros(index.size)
    some = scores.nonzero()[0]
    if len(some):
        np.maximum.at(found, index.request_owners[some], scores[some] / (index.request_weights[some] + FEW_WORDS))
        found /= found.max()
    return found


def _top(fused: Scores, limit: int) -> list[tuple[int, float]]:
    """The best positions with their scores; equal ones in registry order."""
    if limit < len(fused):
        least = np.partition(fused, -limit)[-limit]
        places = (fused >= max(least, 1.0)).nonzero()[0]
    else:
        places = fused.nonzero()[0]
    order = places[np.argsort(-fused[places], kind="stable")][:limit]
    return [(position, score / MILLION) for position, score in zip(order.tolist(), fused[order].tolist(), strict=True)]


def _ahead(dense: "Scores | None", position: int) -> float:
    """By how much a skill's cosine is above the best other one; below 0 where another is nearer."""
    if dense is None:
        return 0.0
    own = float(dense[position])
    second, first = np.partition(dense, -2)[-2:].tolist() if len(dense) > 1 else (0.0, own)
    return own - (second if own >= first else first)


def _likes(index: LexicalIndex, positions: Sequence[int]) -> list[list[int]]:
    """For each of the best skills the places of its near-duplicates among them."""
    rows = index.signatures[positions]
    one, other = rows[:, None, :], rows[None, :, :]
    used = (one != EMPTY) | (other != EMPTY)
    same = ((one == other) & used).sum(axis=2) >= ALIKE * np.maximum(used.sum(axis=2), LEAST_COMPARED)
    return [[other for other in same[place].nonzero()[0].tolist() if other != place] for place in range(len(positions))]


def _described(
    index: LexicalIndex,
    asked: Asked,
    view: _View,
    best: Sequence[tuple[int, float]],
    place: int,
    told_all: Sequence[Mapping[Channel, Sequence[int]]],
    likes: Sequence[Sequence[int]],
) -> Ranked:
    position, fused = best[place]
    told = told_all[place]
    which, tells = asked.which, asked.tells
    brief, full = [which[at] for at in told[Channel.BRIEF]], [which[at] for at in told[Channel.FULL]]
    name = [which[at] for at in told[Channel.NAME]]
    everything = max(sum(tells), 1e-6)
    in_brief, in_full = sum(tells[stem] for stem in brief), sum(tells[stem] for stem in full)
    others = [score for other, (_, score) in enumerate(best) if other != place and other not in likes[place]]
    rivals = (*others[:2], 0.0, 0.0)
    rival = next((other for other in range(len(best)) if other != place and other not in likes[place]), None)
    mine, theirs = set(full), set() if rival is None else {which[at] for at in told_all[rival][Channel.FULL]}
    gaps = {}
    for channel in (*RANKED, Channel.SAID):
        own = float(view.channels[channel][position])
        first, second = view.seconds[channel]
        gaps[channel] = own - (second if own >= first else first)
    features = (
        fused,
        min(rivals[0] / fused, 2.0),
        fused / best[0][1],
        min(rivals[1] / fused, 2.0),
        sum(score for _, score in best[1:6]) / 5 / best[0][1],
        gaps[Channel.WORDS],
        gaps[Channel.BRIEF],
        gaps[Channel.FULL],
        gaps[Channel.PAIRS],
        float(view.channels[Channel.WORDS][position]),
        float(view.channels[Channel.BRIEF][position]),
        float(view.channels[Channel.FULL][position]),
        float(view.channels[Channel.PAIRS][position]),
        float(view.channels[Channel.PHRASE][position]),
        log1p(in_brief),
        log1p(in_full),
        in_brief / everything,
        in_full / everything,
        log1p(sum(not asked.light[stem] for stem in brief)),
        log1p(sum(not asked.light[stem] for stem in full)),
        log1p(len(name)),
        min(1.0, sum(tells[stem] for stem in name) / float(index.name_sizes[position])),
        min(1.0, in_brief / max(1e-6, float(index.brief_weights[position]))),
        log1p(len(asked.stems)),
        asked.unknown / max(1, len(asked.stems)),
        log1p(sum(tells[stem] for stem in mine - theirs)),
        log1p(sum(tells[stem] for stem in theirs - mine)),
        float(view.channels[Channel.SAID][position]),
        gaps[Channel.SAID],
        0.0 if view.dense is None else float(view.dense[position]),
        _ahead(view.dense, position),
    )
    raw = fused * view.scale
    words = [(word, tells[stem] / everything) for stem in full for word in asked.words.get(stem, ())]
    return Ranked(
        position=position,
        fused=fused,
        score=round(raw / (raw + 10) if view.dense is None else min(fused, 1.0), 4),
        words=tuple(word for word, _ in words),
        shares=tuple(share for _, share in words),
        features=features,
        like=tuple(best[other][0] for other in likes[place]),
    )
