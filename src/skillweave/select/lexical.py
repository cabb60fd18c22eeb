"""Words that a message shares with skills, and whether they are clear enough to select one (spec 2.1)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from skillweave.decisions import Evidence, Outcome
from skillweave.dialogue import Role, Turn
from skillweave.select.candidates import DENIED, MOST_EVIDENCE, VETOED, Candidate, Rejected, Selection
from skillweave.select.index import Kind, SkillIndex, TriggerMatch
from skillweave.select.matchers import MatchContext
from skillweave.select.own_fit import FEATURES, Calibrated, OwnFit, calibrated, calibration_of, fitted
from skillweave.select.query import Query, read_query
from skillweave.select.triggers import candidate_of, evidence_of
from skillweave.text.search import Folded
from skillweave.text.stems import stems_of, telling
from skillweave.text.words import LIGHT_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from skillweave.select.lexical_index import LexicalIndex
    from skillweave.select.ranking import Ranked, Ranking


_NAMING = ("explicit", "mention")
_DECLARED = frozenset({"pattern", "keyword", "verb"})


class Dense(NamedTuple):
    """How near each active skill is to the message, by position: cosines of the embedder with this id."""

    cosines: "NDArray[np.float32]"
    embedder: str


_COSINE = FEATURES.index("cosine")
MATCHER = "lexical"
MATCHERS_OF_WORDS = frozenset({MATCHER, "hybrid", "reranked"})
"""Where one of these takes part, an id in ordinary words is evidence for it and selects nothing by itself."""
SHOWN = 14
"""How many of the best ranked skills are looked at."""
MOST_OF_FOLLOW_UP = 3
LITTLE_TOLD = 1.0
"""A message of so few content words, which together tell so little, asks for nothing new."""
LEAST_REST = 3
LEAST_SHARE = 0.3
"""So many distinct words, and so large a part of all, must be left for a message to ask for a second thing."""


def match_message(context: MatchContext, matcher: str = MATCHER, dense: Dense | None = None) -> Selection:
    """Say which of the best ranked skills are given, which are offered, and why the others are neither.

    Silent where the message is not the user's, and where a marker, mention, host or declared trigger chose a skill.
    `matcher` is the name that the candidates bear. With `dense` the ranking counts nearness too; where nothing was
    fitted for its embedder, nearness orders and selects nothing.
    """
    message = context.message
    if message is None:
        return Selection()
    named, vetoed = _triggered(context)
    # Where somebody asked for a skill, or declared what the message says, nothing is to be guessed.
    if any(one.matcher in _NAMING or any(e.kind in _DECLARED for e in one.evidence) for one in context.chosen):
        reason = "its id is only evidence here, and other skills were asked for"
        return Selection(rejected=tuple(_rejected_ids(context, message, named, reason)))
    if not context.skills.active:
        return Selection()
    query = read_query(message, earlier_in(context.turn))
    if asks_for_nothing(query):
        left = _rejected_ids(context, message, named, "the message asks for nothing")
        return Selection(rejected=tuple(left), goes_on=True)
    ranking = rank_message(context, query, dense, max(SHOWN, context.thresholds.ranked) + len(vetoed))
    if dense is None and all(word.isdigit() for one in ranking.best for word in one.words):
        ranking = replace(ranking, best=())  # numbers alone tell of no skill
    own, asked = context.thresholds, None if dense is None else dense.embedder
    phrased = context.skills.lexical().phrased
    calibration = calibration_of(asked, phrases=phrased) or fitted()[None, phrased]
    fit = calibrated(calibration, asked, own.fitted, own.give_at, own.offer_at)
    verdict = _Verdict(context, fit, matcher, _Quotes(message, query.spans), named)
    verdict.judge(ranking, vetoed)
    if verdict.given and (rest := _rest(query, verdict.given[0])):
        verdict.judge_rest(rank_message(context, rest, dense, SHOWN), vetoed)
    reason = "its id in ordinary words is only evidence, and by shared words it is not among the best"
    left = _rejected_ids(context, message, named, reason)
    goes_on = not verdict.given and _asks_nothing_new(query, context.skills.lexical())
    return Selection(tuple(verdict.chosen), (*verdict.rejected, *left), tuple(verdict.offered), goes_on=goes_on)


def shipped_fit(skills: SkillIndex, embedder: str | None = None) -> OwnFit:
    """What gives and offers in a library where nobody fitted anything, as a fit that changes nothing."""
    phrased = skills.lexical().phrased
    known = calibration_of(embedder, phrases=phrased) or fitted()[None, phrased]
    return OwnFit(1.0, 0.0, known.give_at, known.offer_at, embedder, known.list_at)


def rank_message(context: MatchContext, query: Query, dense: Dense | None = None, limit: int = SHOWN) -> "Ranking":
    """Rank the skills that may be chosen for a query, best first, with their features; pure."""
    from skillweave.select.ranking import rank  # brings numpy, which a turn with a declared trigger never needs

    allowed = None if context.within is None else context.skills.positions_within(context.within)
    return rank(context.skills.lexical(), query, limit, allowed, None if dense is None else dense.cosines)


@dataclass(slots=True)
class _Verdict:
    """What becomes of each ranked skill, best ranked first."""

    context: MatchContext
    calibrated: Calibrated
    matcher: str
    quotes: "_Quotes"
    named: dict[int, TriggerMatch]
    given: "list[Ranked]" = field(default_factory=list)
    chosen: list[Candidate] = field(default_factory=list)
    offered: list[Candidate] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)

    def judge(self, ranking: "Ranking", vetoed: Mapping[int, TriggerMatch]) -> None:
        """Give the likeliest skill if it is likely enough, offer the next ones, and keep near-duplicates apart."""
        shown: dict[int, Candidate] = {}
        likelihoods = [round(self.calibrated.probability(ranked.features), 4) for ranked in ranking.best]
        free = (likely for likely, one in zip(likelihoods, ranking.best, strict=True) if one.position not in vetoed)
        most = max(free, default=0.0)
        offer_at = self.calibrated.offer_at if most >= self.calibrated.list_at else self.calibrated.list_at
        for likely, ranked in zip(likelihoods, ranking.best, strict=True):
            position = ranked.position
            veto = vetoed.get(position)
            candidate = self._candidate(ranked, ranking.left_out, likely, veto or self.named.pop(position, None))
            twin = next((other for other in ranked.like if other in shown), None)
            if veto:
                self.rejected.append(Rejected(candidate, Outcome.VETOED, VETOED if veto.vetoes else DENIED))
            elif twin is not None:
                self._set_aside(candidate, shown[twin])
            elif not self.given and likely >= self.calibrated.give_at and likely == most:
                self.given.append(ranked)
                self.chosen.append(candidate)
                shown[position] = candidate
            elif likely >= offer_at:
                self.offered.append(candidate)
                shown[position] = candidate
            else:
                reason = f"not likely enough to offer: {likely:.1%}, and {offer_at:.1%} is needed"
                self.rejected.append(Rejected(candidate, Outcome.BELOW_THRESHOLD, reason))
        if len(self.offered) > self.context.thresholds.offer_most:
            self._keep_likeliest()

    def _keep_likeliest(self) -> None:
        """Offer no more than the settings allow; the likeliest stay, in their order."""
        most = self.context.thresholds.offer_most
        kept = sorted(self.offered, key=lambda each: -(each.probability or 0))[:most]
        for each in self.offered:
            if each not in kept:
                reason = f"likely enough to offer ({each.probability:.1%}), but {most} others are likelier"
                self.rejected.append(Rejected(each, Outcome.BELOW_THRESHOLD, reason))
        self.offered = [each for each in self.offered if each in kept]

    def judge_rest(self, ranking: "Ranking", vetoed: Mapping[int, TriggerMatch]) -> None:
        """Give a second skill for what the first leaves of the message, if it is likely enough by that alone."""
        second = next((one for one in ranking.best if one.position not in vetoed), None)
        if second is None:
            return
        first = self.given[0].position
        likely = round(self.calibrated.probability(second.features), 4)
        skill_id = self.context.skills.active[second.position].id
        # What is left of a message says less than the whole, so a second skill has to be twice as certain.
        if likely < (1 + self.calibrated.give_at) / 2 or second.position == first or first in second.like:
            return
        self.given.append(second)
        self.chosen.append(self._candidate(second, 0, likely, None))
        self.offered = [each for each in self.offered if each.skill_id != skill_id]
        self.rejected = [each for each in self.rejected if each.candidate.skill_id != skill_id]

    def _set_aside(self, candidate: Candidate, twin: Candidate) -> None:
        """Reject a near-duplicate, and tell of it where the skill stands that takes its place."""
        told = Evidence("like", candidate.skill_id)
        for shown in (self.chosen, self.offered):
            for place, each in enumerate(shown):
                if each.skill_id == twin.skill_id:
                    shown[place] = replace(each, evidence=(*each.evidence[: MOST_EVIDENCE - 1], told))
        reason = f"like `{twin.skill_id}`, which is shown in its place"
        self.rejected.append(Rejected(candidate, Outcome.OVER_LIMIT, reason))

    def _candidate(self, ranked: "Ranked", left_out: int, likely: float, trigger: TriggerMatch | None) -> Candidate:
        evidence: list[Evidence] = []
        if trigger is not None:
            evidence.append(evidence_of((trigger.vetoes or trigger.hits or trigger.denied)[0], self.quotes.message))
        if left_out:
            text = f"only the rarest words of the message were looked up; {left_out} more common ones were not"
            evidence.append(Evidence("terms", text))
        if ranked.features[_COSINE] > 0:
            evidence.append(Evidence("meaning", f"{ranked.features[_COSINE]:.0%} alike"))
        evidence.extend(self.quotes.rarest(ranked, MOST_EVIDENCE - len(evidence)))
        skill_id = self.context.skills.active[ranked.position].id
        return Candidate(skill_id, ranked.score, self.matcher, tuple(evidence), probability=likely)


def _triggered(context: MatchContext) -> tuple[dict[int, TriggerMatch], dict[int, TriggerMatch]]:
    """By position the ids that are in the message in ordinary words, and the skills that a `never` phrase vetoes."""
    named: dict[int, TriggerMatch] = {}
    vetoed: dict[int, TriggerMatch] = {}
    for match in context.triggered:
        if match.vetoes or not match.hits:
            vetoed[match.position] = match
        elif match.hits[0].kind is Kind.WORD_ID and _may_be_named(context, match):
            named[match.position] = match
    return named, vetoed


def _rest(query: Query, first: "Ranked") -> Query | None:
    """What of a message is left without the words that a skill has; None where that is too little to ask for more."""
    covered = set(first.words)
    spans = {word: span for word, span in query.spans.items() if word not in covered}
    if len(spans) < LEAST_REST or len(spans) < len(query.spans) * LEAST_SHARE:
        return None
    return Query(spans, [word for word in query.sequence if word in spans])


def asks_for_nothing(query: Query) -> bool:
    """Whether a message has only everyday words and numbers, such as a greeting, thanks or `yes, go on`."""
    return all(word in LIGHT_WORDS or word.isdigit() for word in query.spans)


def _asks_nothing_new(query: Query, index: "LexicalIndex") -> bool:
    """Whether a message has few words, none of which tells much or names a skill, such as `and make it shorter`."""
    stems = stems_of([word for word in query.spans if word not in LIGHT_WORDS])
    if len(stems) > MOST_OF_FOLLOW_UP or sum(map(telling, stems)) > LITTLE_TOLD:
        return False
    return not any(_names_a_skill(index, stem) for stem in stems)


def _names_a_skill(index: "LexicalIndex", stem: str) -> bool:
    from skillweave.select.lexical_index import Channel

    number = index.stems.get(stem)
    term = None if number is None else index.firsts[Channel.NAME] + number
    return term is not None and index.starts[term] < index.starts[term + 1]


def earlier_in(turn: Turn) -> tuple[str, ...]:
    """What the user said before this turn's message, as far as the transcript shows it, oldest first."""
    said = [message.text for message in turn.transcript or () if message.role is Role.USER and message.text]
    if said and said[-1] == turn.message.text:
        said.pop()
    return tuple(said)


@dataclass(frozen=True, slots=True)
class _Quotes:
    """The message's words as evidence, each made once: several skills share the same ones."""

    message: Folded
    spans: Mapping[str, tuple[int, int]]
    made: dict[str, Evidence] = field(default_factory=dict)

    def rarest(self, ranked: "Ranked", most: int) -> list[Evidence]:
        """The rarest words that the skill has, in the order of the message."""
        places: Iterable[int] = range(len(ranked.words))
        if len(ranked.words) > most:
            places = sorted(sorted(places, key=ranked.shares.__getitem__, reverse=True)[:most])
        words = [ranked.words[place] for place in places]
        for word in words:
            if word not in self.made:
                start, end = self.message.span(*self.spans[word])
                self.made[word] = Evidence("terms", self.message.original[start:end], start, end)
        return [self.made[word] for word in words]


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
