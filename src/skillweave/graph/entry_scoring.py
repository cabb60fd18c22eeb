"""Which entries may begin at a moment, and which of them a scorer chooses (spec 3.2, 3.4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, fsum, inf, isclose, isfinite
from numbers import Real

from skillweave.errors import InvalidScores, first_of
from skillweave.graph.compiled import CompiledGraph, all_intents
from skillweave.graph.conditions import AllOf, EvalContext, Intent, intents_of, leaves_of
from skillweave.graph.declared import ANY, Entry, EntryPick, GraphSkill
from skillweave.graph.move import MoveContext
from skillweave.graph.moving import is_never
from skillweave.graph.scoring import EntryScoring, RankedEntry, ScoreCandidate, ScorePolicy, Scorer


async def score_entries(compiled: CompiledGraph, context: MoveContext) -> EntryScoring:
    """Asks the scorer about intents that could count, at the start about entries too. Raises InvalidScores."""
    scorer = compiled.declared.pick
    if isinstance(scorer, EntryPick):
        return EntryScoring(scorer.value, None)
    entries, intent = _entries_at(compiled, context), None
    intents = intent_candidates(_intents_at(compiled, context, entries))
    if intents:
        heard = heard_of(await _scores(scorer, context.user, intents), scorer.policy)
        intent = None if heard is None else intents[heard].id
    candidates = entry_candidates(entries, compiled.declared.skills)
    if not candidates:
        return EntryScoring(scorer.name, None, intent=intent)
    scores = await _scores(scorer, context.user, candidates)
    skills = [candidate.id for candidate in candidates]
    open_ = {entry.skill for entry in entries if all(one.intent == intent for one in intents_of(entry.condition))}
    best = best_of(
        [score if skill in open_ else -inf for skill, score in zip(skills, scores, strict=True)], scorer.policy
    )
    ranked = ranked_entries(skills, scores, scorer.policy)
    return EntryScoring(scorer.name, None if best is None else skills[best], ranked, intent)


async def _scores(scorer: Scorer, message: str, candidates: Sequence[ScoreCandidate]) -> tuple[float, ...]:
    answer = await scorer.score(message, candidates)
    return scores_in_order(scorer.name, answer, [candidate.id for candidate in candidates])


def _entries_at(compiled: CompiledGraph, context: MoveContext) -> tuple[Entry, ...]:
    if compiled.declared.tree is not None or context.current in compiled.wired:
        return ()
    return tuple(scorable_entries(compiled, EvalContext(compiled.lexicon, compiled.declared.scales, context)))


def _intents_at(compiled: CompiledGraph, context: MoveContext, entries: Iterable[Entry]) -> Iterator[Intent]:
    """The intents that can count now: all of a tree, else those of the entries and of the routes onward."""
    if compiled.declared.tree is not None:
        yield from all_intents(compiled.declared)
    elif context.current is not None and context.current in compiled.wired:
        yield from compiled.intents_from.get(context.current, ())
        yield from compiled.intents_from.get(ANY, ())
    for entry in entries:
        yield from intents_of(entry.condition)


def scorable_entries(compiled: CompiledGraph, ctx: EvalContext) -> Iterator[Entry]:
    """The entries that may begin, intents apart: those are judged by the scorer that is asked next."""
    never = is_never(compiled, ctx)
    for entry in compiled.declared.entries:
        rest = AllOf(tuple(leaf for leaf in leaves_of(entry.condition) if not isinstance(leaf, Intent)))
        if entry.condition is None or (not never and rest.judge(ctx).holds):
            yield entry


def entry_candidates(entries: Iterable[Entry], skills: Iterable[GraphSkill]) -> tuple[ScoreCandidate, ...]:
    """One candidate for each skill, in order: its id in words with its description, its examples, then its intents."""
    known = {skill.id: skill for skill in skills}
    texts: dict[str, dict[str, None]] = {}
    for entry in entries:
        own = texts.setdefault(entry.skill, {_described(entry.skill, known.get(entry.skill)): None})
        own.update(dict.fromkeys(entry.examples))
        for intent in intents_of(entry.condition):
            own.update(dict.fromkeys((intent.intent, *intent.examples)))
    return _candidates(texts)


def intent_candidates(intents: Iterable[Intent]) -> tuple[ScoreCandidate, ...]:
    """One candidate for each intent, in order: what it is called, then the examples of all who ask for it."""
    texts: dict[str, dict[str, None]] = {}
    for intent in intents:
        texts.setdefault(intent.intent, {intent.intent: None}).update(dict.fromkeys(intent.examples))
    return _candidates(texts)


def _candidates(texts: Mapping[str, Iterable[str]]) -> tuple[ScoreCandidate, ...]:
    return tuple(ScoreCandidate(id_, tuple(text for text in own if text.strip())) for id_, own in texts.items())


def _described(skill_id: str, skill: GraphSkill | None) -> str:
    words = " ".join(skill_id.replace("-", " ").replace("_", " ").split())
    return f"{words}\n{skill.description}" if skill is not None and skill.description.strip() else words


def scores_in_order(scorer: str, answer: object, asked: Sequence[str]) -> tuple[float, ...]:
    """The scores in the order of the question; what is not finite is minus infinity. Raises InvalidScores."""
    if not isinstance(answer, Mapping):
        raise InvalidScores(scorer, "scores by id", f"a value of type {type(answer).__name__}")
    given = dict(answer)
    missing = [id_ for id_ in asked if id_ not in given]
    if missing:
        found = f"none for {_named(missing)}" if given else "none at all"
        raise InvalidScores(scorer, f"{len(asked)} scores", found)
    known = set(asked)
    strange = [id_ for id_ in given if id_ not in known]
    if strange:
        raise InvalidScores(scorer, f"scores of {_named(asked)} alone", f"one for {_named(strange)}")
    return tuple(_number(scorer, id_, given[id_]) for id_ in asked)


def relevances(scores: Sequence[float], temperature: float) -> tuple[float, ...]:
    """The softmax of the scores: shares that add up to 1, equal ones where no score is finite; none of no scores."""
    highest = max(scores, default=-inf)
    if not isfinite(highest):
        return tuple(1 / len(scores) for _ in scores)
    weights = [exp((score - highest) / temperature) for score in scores]
    total = fsum(weights)
    return tuple(weight / total for weight in weights)


def best_of(scores: Sequence[float], policy: ScorePolicy) -> int | None:
    """The position of the highest score, the first if equal; None if the policy abstains or no score is finite."""
    position = max(range(len(scores)), key=scores.__getitem__, default=None)
    if position is None or not isfinite(scores[position]):
        return None
    best = scores[position]
    if policy.min_score is not None and best < policy.min_score:
        return None
    if policy.margin is not None:
        lead = best - max((score for place, score in enumerate(scores) if place != position), default=-inf)
        if lead < policy.margin and not isclose(lead, policy.margin, rel_tol=1e-9):
            return None
    return position


def heard_of(scores: Sequence[float], policy: ScorePolicy) -> int | None:
    """The position of the intent that is heard: the best one, if its score is above `min_score`, or else above 0."""
    position = best_of(scores, policy)
    if position is None or scores[position] <= (policy.min_score or 0.0):
        return None
    return position


def ranked_entries(skills: Sequence[str], scores: Sequence[float], policy: ScorePolicy) -> tuple[RankedEntry, ...]:
    """The skills with their scores and relevances, in the order in which they are given."""
    return tuple(map(RankedEntry, skills, scores, relevances(scores, policy.temperature)))


def _number(scorer: str, id_: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidScores(scorer, f"a number for {_named([id_])}", f"a value of type {type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond all floats
        return -inf
    return number if isfinite(number) else -inf


def _named(ids: Sequence[object]) -> str:
    return first_of([repr(id_)[:60] for id_ in ids], 3)
