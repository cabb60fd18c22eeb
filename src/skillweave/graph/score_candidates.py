"""What a scorer is told about entries and intents (spec 3.4)."""

from collections.abc import Iterable, Mapping

from skillweave.graph.conditions import Intent
from skillweave.graph.declared import Entry, GraphSkill
from skillweave.graph.entries import intents_of
from skillweave.graph.scoring import ScoreCandidate


def entry_candidates(entries: Iterable[Entry], skills: Iterable[GraphSkill]) -> tuple[ScoreCandidate, ...]:
    """One candidate for each skill, in order: its id in words with its description, its examples, then its intents."""
    known = {skill.id: skill for skill in skills}
    texts: dict[str, dict[str, None]] = {}
    for entry in entries:
        own = texts.setdefault(entry.skill, {_described(entry.skill, known.get(entry.skill)): None})
        own.update(dict.fromkeys(entry.examples))
        for intent in intents_of(entry):
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
