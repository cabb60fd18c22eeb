"""Asking a scorer: which intent it hears, and which of the entries that may begin it chooses (spec 3.4)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from skillweave.graph.compiled import Compiled, all_intents
from skillweave.graph.conditions import Intent
from skillweave.graph.context import MoveContext
from skillweave.graph.declared import ANY, Entry, EntryPick
from skillweave.graph.entries import intents_of, scorable_entries
from skillweave.graph.judging import Sight
from skillweave.graph.ranking import best_of, heard_of, ranked_entries, scores_in_order
from skillweave.graph.score_candidates import entry_candidates, intent_candidates
from skillweave.graph.scoring import EntryScoring, ScoreCandidate, Scorer


async def score_entries(compiled: Compiled, context: MoveContext) -> EntryScoring:
    """What the graph's scorer says to the user's message at this moment; empty for a graph without a scorer.

    First it is asked about the intents that could count, then, at the start, about the entries that may begin. An entry
    whose intent is not heard is ranked like the others and never chosen. Raises InvalidScores for a wrong answer, and
    what the scorer raises; no exception is held back.
    """
    scorer = compiled.declared.pick
    if isinstance(scorer, EntryPick):
        return EntryScoring(scorer.value, None)
    entries = _entries_at(compiled, context)
    intents = intent_candidates(_intents_at(compiled, context, entries))
    scoring = EntryScoring(scorer.name, None, intent=await _heard(scorer, context.user, intents))
    return await _ranked(scorer, scoring, context.user, entries, entry_candidates(entries, compiled.declared.skills))


async def _heard(scorer: Scorer, message: str, intents: Sequence[ScoreCandidate]) -> str | None:
    if not intents:
        return None
    best = heard_of(await _scores(scorer, message, intents), scorer.policy)
    return None if best is None else intents[best].id


async def _ranked(
    scorer: Scorer,
    scoring: EntryScoring,
    message: str,
    entries: Sequence[Entry],
    candidates: Sequence[ScoreCandidate],
) -> EntryScoring:
    if not candidates:
        return scoring
    scores = await _scores(scorer, message, candidates)
    skills = [candidate.id for candidate in candidates]
    open_ = {entry.skill for entry in entries if all(one.intent == scoring.intent for one in intents_of(entry))}
    eligible = [score if skill in open_ else -inf for skill, score in zip(skills, scores, strict=True)]
    best = best_of(eligible, scorer.policy)
    chosen = None if best is None else skills[best]
    return replace(scoring, chosen=chosen, ranked=ranked_entries(skills, scores, scorer.policy))


async def _scores(scorer: Scorer, message: str, candidates: Sequence[ScoreCandidate]) -> tuple[float, ...]:
    answer = await scorer.score(message, candidates)
    return scores_in_order(scorer.name, answer, [candidate.id for candidate in candidates])


def _entries_at(compiled: Compiled, context: MoveContext) -> tuple[Entry, ...]:
    """The entries to be scored: none in a tree, and none once a skill is begun."""
    if compiled.declared.tree is not None or context.current in compiled.wired:
        return ()
    return tuple(scorable_entries(compiled, Sight(compiled.lexicon, compiled.declared.scales, context)))


def _intents_at(compiled: Compiled, context: MoveContext, entries: Iterable[Entry]) -> Iterator[Intent]:
    """The intents that could make a difference: all of a tree, those of the entries, of the ways onward."""
    if compiled.declared.tree is not None:
        yield from all_intents(compiled.declared)
    elif context.current is not None and context.current in compiled.wired:
        yield from compiled.intents_from.get(context.current, ())
        yield from compiled.intents_from.get(ANY, ())
    for entry in entries:
        yield from intents_of(entry)
