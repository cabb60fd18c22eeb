"""Words that a message shares with skills, and whether they are clear enough to select one (spec 2.1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from skillweave.decisions import Evidence, Outcome
from skillweave.select.candidates import MOST_EVIDENCE, VETOED, Candidate, Rejected, Selection
from skillweave.select.index import TriggerMatch, candidate_of, evidence_of
from skillweave.select.matchers import MatchContext
from skillweave.text.search import Folded
from skillweave.text.words import word_spans


@dataclass(frozen=True, slots=True)
class Fit:
    """When the best ranked skill is clear enough to be selected without a declared trigger (spec 2.1).

    A skill's *strength* is the share of the query's rarity that it covers, minus `scarcity` over the weight of the
    distinct content words that it has in common with the query (one in the body alone counts half, an everyday one a
    quarter). The first is selected when its strength is at least `floor` plus `margin` times the ratio of the second's
    score to its own. Two are selected together when both are that strong against the third, their scores are within
    `together` of each other, and the second covers at least `gain` of the query that the first leaves uncovered: a
    message that asks for two things.
    """

    floor: float
    margin: float
    scarcity: float
    together: float
    gain: float


FIT = Fit(floor=-1.0, margin=1.4, scarcity=1.5, together=0.8, gain=0.2)
"""Fitted on 2026-11-21 on the dev queries in random libraries of 20, 100, 1,000 and all 5,656 public skills.

On the test queries, in this order of sizes: the right skill is selected in 0.83, 0.78, 0.66, 0.57 of the messages that
have one (macro over sources 0.65, 0.57, 0.45, 0.32); of what is selected for these, 0.99, 0.96, 0.89, 0.69 is labelled
right (macro). A message whose right skill is missing gets 0.04, 0.05, 0.07, 0.18 wrong ones, an off-topic message less
than 0.01. A label names one skill, so like skills of other authors count as wrong, more so the larger the library.
"""


class Ranked(NamedTuple):
    """One skill in a ranking.

    `fused` is in (0, 1.5] and orders; `score` is s/(s+10), where s is `fused` put back on the scale of the best BM25
    score with body. `coverage` is in [0, 1]; `words` are the query's words that the skill has, in the query's order,
    `shares` what part of the query's rarity each is; `weight` counts them, one in the body alone as half, an everyday
    one as a quarter.
    """

    position: int
    fused: float
    score: float
    coverage: float
    words: tuple[str, ...]
    shares: tuple[float, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best skills, best first; `left_out` words of a long message were not looked up."""

    best: tuple[Ranked, ...] = ()
    left_out: int = 0


def clear(best: Sequence[Ranked], fit: Fit) -> int:
    """Return how many of the first in a ranking are clear enough to be selected: 0, 1 or 2."""
    if not best:
        return 0
    first = best[0]
    ratio = best[1].fused / first.fused if len(best) > 1 else 0.0
    if len(best) > 1 and ratio >= fit.together and _gain(first, best[1]) >= fit.gain:
        third = best[2].fused / first.fused if len(best) > 2 else 0.0
        if min(strength(first, fit), strength(best[1], fit)) >= fit.floor + fit.margin * third:
            return 2
    return int(strength(first, fit) >= fit.floor + fit.margin * ratio)


def strength(ranked: Ranked, fit: Fit) -> float:
    """Return how much of the query a skill answers; it does not depend on the number of skills."""
    return ranked.coverage - fit.scarcity / ranked.weight


def _gain(first: Ranked, second: Ranked) -> float:
    covered = set(first.words)
    return sum(share for word, share in zip(second.words, second.shares, strict=True) if word not in covered)


MATCHER = "lexical"
SHOWN = 5
"""How many of the best ranked skills are reported, chosen or not."""
FIRST_BY_WORDS = 3
"""A one-word id in the message selects its skill only among so many of the best ranked."""


def match_words(
    context: MatchContext, message: Folded, named: dict[int, TriggerMatch], vetoed: Mapping[int, TriggerMatch]
) -> Selection:
    """Choose the best ranked skills that are clear enough, and reject the others as `below-threshold`.

    `named` are the hits of ids of one word, by position: such a skill is chosen when it is among the first three.
    `vetoed` are the skills whose `never` phrase is in the message.
    """
    quotes = _Quotes(message, word_spans(message.text))
    ranking = _rank(context, list(quotes.spans), SHOWN + len(vetoed))
    best = [ranked for ranked in ranking.best if ranked.position not in vetoed][:SHOWN]
    selected = clear(best, FIT)
    chosen: list[Candidate] = []
    rejected: list[Rejected] = []
    for place, ranked in enumerate(best):
        trigger = named.pop(ranked.position, None)
        candidate = _candidate(context, quotes, ranked, ranking.left_out, trigger)
        if place < selected or (trigger is not None and place < FIRST_BY_WORDS):
            chosen.append(candidate)
        else:
            rejected.append(Rejected(candidate, Outcome.BELOW_THRESHOLD, _why_not(place, ranked)))
    for ranked in ranking.best[:SHOWN]:
        if veto := vetoed.get(ranked.position):
            candidate = _candidate(context, quotes, ranked, ranking.left_out, veto)
            rejected.append(Rejected(candidate, Outcome.VETOED, VETOED))
    reason = "an id of one word is only evidence, and by shared words the skill is not among the first three"
    return Selection(tuple(chosen), (*rejected, *rejected_ids(context, message, named, reason)))


def _rank(context: MatchContext, words: list[str], limit: int) -> Ranking:
    if not words or not context.skills.active:
        return Ranking()
    from skillweave.select.lexical_index import rank  # brings numpy, which a turn with a declared trigger never needs

    allowed = None if context.within is None else context.skills.positions_within(context.within)
    return rank(context.skills.lexical(), words, limit, allowed)


@dataclass(frozen=True, slots=True)
class _Quotes:
    """The message's words as evidence, each made once: several skills share the same ones."""

    message: Folded
    spans: Mapping[str, tuple[int, int]]
    made: dict[str, Evidence] = field(default_factory=dict)

    def rarest(self, ranked: Ranked, most: int) -> list[Evidence]:
        """The rarest words that the skill has, in the order of the message."""
        places: Iterable[int] = range(len(ranked.words))
        if len(ranked.words) > most:
            places = sorted(sorted(places, key=ranked.shares.__getitem__, reverse=True)[:most])
        return [self._quote(ranked.words[place]) for place in places]

    def _quote(self, word: str) -> Evidence:
        quote = self.made.get(word)
        if quote is None:
            start, end = self.message.span(*self.spans[word])
            quote = self.made[word] = Evidence("terms", self.message.original[start:end], start, end)
        return quote


def _candidate(
    context: MatchContext, quotes: _Quotes, ranked: Ranked, left_out: int, trigger: TriggerMatch | None
) -> Candidate:
    evidence: list[Evidence] = []
    if trigger is not None:
        evidence.append(evidence_of((trigger.vetoes or trigger.hits)[0], quotes.message))
    if left_out:
        text = f"only the rarest words of the message were looked up; {left_out} more common ones were not"
        evidence.append(Evidence("terms", text))
    evidence.extend(quotes.rarest(ranked, MOST_EVIDENCE - len(evidence)))
    return Candidate(context.skills.active[ranked.position].id, ranked.score, MATCHER, tuple(evidence))


def _why_not(place: int, ranked: Ranked) -> str:
    words = "1 word" if len(ranked.words) == 1 else f"{len(ranked.words)} words"
    measured = f"it shares {words} with the message and covers {ranked.coverage:.0%} of what the message is about"
    if place:
        return f"number {place + 1} by shared words: {measured}"
    return f"first by shared words, but not clearly enough: {measured}"


def rejected_ids(
    context: MatchContext, message: Folded, matches: Mapping[int, TriggerMatch], reason: str
) -> Iterator[Rejected]:
    """Reject skills of which only an id of one word is in the message."""
    for position, match in matches.items():
        candidate = candidate_of(match, context.skills.active[position].id, message)
        yield Rejected(candidate, Outcome.BELOW_THRESHOLD, reason)
