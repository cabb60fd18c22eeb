"""Words that a message shares with skills, and whether they are clear enough to select one (spec 2.1)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from skillweave.decisions import Evidence, Outcome
from skillweave.select.calibration import LEXICAL, Calibration
from skillweave.select.candidates import MOST_EVIDENCE, VETOED, Candidate, Rejected, Selection
from skillweave.select.index import Kind, TriggerMatch, candidate_of, evidence_of
from skillweave.select.matchers import MatchContext
from skillweave.text.search import Folded
from skillweave.text.words import word_spans

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_DECLARED = frozenset({"pattern", "keyword", "verb"})


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
    features: tuple[float, ...] = ()


class Dense(NamedTuple):
    """How near each active skill is to the message, by position: cosines of the embedder with this id."""

    cosines: "NDArray[np.float32]"
    embedder: str


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best skills, best first; `left_out` words of a long message were not looked up."""

    best: tuple[Ranked, ...] = ()
    left_out: int = 0


MATCHER = "lexical"
MATCHERS_OF_WORDS = frozenset({MATCHER, "hybrid"})
"""Where one of these takes part, an id in ordinary words is evidence for it and selects nothing by itself."""
SHOWN = 5
"""How many of the best ranked skills are reported, chosen or not."""


def match_message(
    context: MatchContext, matcher: str = MATCHER, dense: Dense | None = None, calibration: Calibration = LEXICAL
) -> Selection:
    """Say which of the best ranked skills are given, which are offered, and why the others are neither.

    Silent where the message is not the user's, and where a marker, mention, host or declared trigger chose a skill.
    `matcher` is the name that the candidates bear. With `dense` the ranking counts nearness too; `calibration` must be
    that of its embedder: without one give LEXICAL, by which nearness alone selects nothing.
    """
    message = context.message
    if message is None:
        return Selection()
    named: dict[int, TriggerMatch] = {}
    vetoed: dict[int, TriggerMatch] = {}
    for match in context.triggered:
        if match.vetoes:
            vetoed[match.position] = match
        elif match.hits[0].kind is Kind.WORD_ID and _may_be_named(context, match):
            named[match.position] = match
    if any(_answers(candidate) for candidate in context.chosen):
        reason = "its id is only evidence here, and other skills were asked for"
        return Selection(rejected=tuple(_rejected_ids(context, message, named, reason)))
    thresholds = context.thresholds
    calibrated = thresholds.over(calibration)
    ranking = rank_message(context, dense, max(thresholds.ranked, thresholds.offer_most) + len(vetoed))
    quotes = _Quotes(message, word_spans(message.text))
    chosen: list[Candidate] = []
    offered: list[Candidate] = []
    rejected: list[Rejected] = []
    for ranked in ranking.best:
        veto = vetoed.get(ranked.position)
        likely = calibrated.probability(ranked.features)
        trigger = veto or named.pop(ranked.position, None)
        candidate = _candidate(context, quotes, ranked, ranking.left_out, trigger, matcher, likely)
        if veto:
            rejected.append(Rejected(candidate, Outcome.VETOED, VETOED))
        elif likely >= calibrated.give_at and not chosen:
            chosen.append(candidate)
        elif likely >= calibrated.offer_at and len(offered) < thresholds.offer_most:
            offered.append(candidate)
        else:
            reason = f"not likely enough to offer ({likely:.0%}; that needs {calibrated.offer_at:.0%})"
            rejected.append(Rejected(candidate, Outcome.BELOW_THRESHOLD, reason))
    reason = "an id of one word is only evidence, and by shared words the skill is not among the best"
    return Selection(tuple(chosen), (*rejected, *_rejected_ids(context, message, named, reason)), tuple(offered))


def rank_message(context: MatchContext, dense: Dense | None = None, limit: int = SHOWN) -> Ranking:
    """Rank the skills that may be chosen for the turn's message, best first, with their features; pure."""
    message = context.message
    words = [] if message is None else list(word_spans(message.text))
    if not words or not context.skills.active:
        return Ranking()
    from skillweave.select.lexical_index import rank  # brings numpy, which a turn with a declared trigger never needs

    allowed = None if context.within is None else context.skills.positions_within(context.within)
    return rank(context.skills.lexical(), words, limit, allowed, None if dense is None else dense.cosines)


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
    context: MatchContext,
    quotes: _Quotes,
    ranked: Ranked,
    left_out: int,
    trigger: TriggerMatch | None,
    matcher: str,
    likely: float,
) -> Candidate:
    evidence: list[Evidence] = []
    if trigger is not None:
        evidence.append(evidence_of((trigger.vetoes or trigger.hits)[0], quotes.message))
    if left_out:
        text = f"only the rarest words of the message were looked up; {left_out} more common ones were not"
        evidence.append(Evidence("terms", text))
    evidence.extend(quotes.rarest(ranked, MOST_EVIDENCE - len(evidence)))
    skill_id = context.skills.active[ranked.position].id
    return Candidate(skill_id, ranked.score, matcher, tuple(evidence), probability=likely)


def _rejected_ids(
    context: MatchContext, message: Folded, matches: Mapping[int, TriggerMatch], reason: str
) -> Iterator[Rejected]:
    """Reject skills of which only an id of one word is in the message."""
    for position, match in matches.items():
        candidate = candidate_of(match, context.skills.active[position].id, message)
        yield Rejected(candidate, Outcome.BELOW_THRESHOLD, reason)


def _may_be_named(context: MatchContext, match: TriggerMatch) -> bool:
    skill_id = context.skills.active[match.position].id
    return "triggers" in context.matchers and (context.within is None or skill_id in context.within)


def _answers(candidate: Candidate) -> bool:
    """Whether somebody asked for the skill, or declared what the message says: then nothing is to be guessed."""
    if candidate.matcher in ("explicit", "mention"):
        return True
    return any(piece.kind in _DECLARED for piece in candidate.evidence)
