"""Whether intents can be told apart by their examples, and whether anybody judges them."""

from collections.abc import Iterator

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.declarations import Declaration
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.wording import named
from skillweave.graph.conditions import Intent
from skillweave.graph.declared import Decide, Entry, Route
from skillweave.graph.lexicon import spaced


def check_intents(subject: Subject) -> Iterator[Problem]:
    """intent-without-scorer for each intent where it is declared, then duplicate-intent-example."""
    judged = [(one, intents) for one in subject.declarations if (intents := _intents_of(one))]
    if not subject.has_scorer:
        for declaration, intents in judged:
            for name in dict.fromkeys(intent.intent for intent in intents):
                message = f"The intent {named(name)} of {declaration.called} is never heard: the graph has no scorer."
                fix = "Give the graph a scorer (`pick`), or use keywords instead."
                yield problem("intent-without-scorer", message, fix, **declaration.spot)
    yield from _duplicates(judged)


def _intents_of(declaration: Declaration) -> list[Intent]:
    return [part for part in declaration.parts if isinstance(part, Intent)]


def _duplicates(judged: list[tuple[Declaration, list[Intent]]]) -> Iterator[Problem]:
    first: dict[str, tuple[str, Declaration]] = {}
    told: set[tuple[str, str]] = set()
    for declaration, intents in judged:
        own = declaration.source.examples if isinstance(declaration.source, Entry) else ()
        for intent in intents:
            for example in (*intent.examples, *own):
                phrase = spaced(example)
                name, before = first.setdefault(phrase, (intent.intent, declaration))
                if name != intent.intent and (phrase, intent.intent) not in told:
                    told.add((phrase, intent.intent))
                    yield _duplicate(example, (name, intent.intent), before, declaration)


def _duplicate(example: str, intents: tuple[str, str], before: Declaration, after: Declaration) -> Problem:
    message = f"{named(example)} is an example of the intents {named(intents[0])} and {named(intents[1])}."
    fix = "Keep it with the intent that it means."
    skill = _skill_of(after)
    return problem("duplicate-intent-example", message, fix, skill=skill, from_=_skill_of(before), to=skill)


def _skill_of(declaration: Declaration) -> str | None:
    match declaration.source:
        case Entry(skill):
            return skill
        case Route(to=to):
            return to
        case Decide(then=then):
            return then if isinstance(then, str) else None
