"""Whether examples begin where they belong, phrases that must begin nothing do not, and intents can be told apart."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.subject import Declaration, Subject
from skillweave.graph.compiled import CompiledGraph
from skillweave.graph.conditions import HOLDS, EvalContext, Intent, intents_of, spaced
from skillweave.graph.declared import Entry
from skillweave.graph.move import MoveContext
from skillweave.graph.moving import Notes, candidates, first_entry
from skillweave.graph.wording import named

_MANY_RULES = 3
"""From so many entries with conditions on, phrases that try them are missed."""
_FIT = "Widen the condition so that it holds, or correct the example."


def check_phrases(subject: Subject) -> Iterator[Problem]:
    """Tries each phrase alone, as the first message; conditions with intents are left out."""
    if subject.compiled is not None:
        trials = _Trials(subject, subject.compiled)
        yield from trials.examples()
        yield from trials.never_routes()
    yield from _no_evidence(subject)


@dataclass(frozen=True, slots=True)
class _Trials:
    subject: Subject
    compiled: CompiledGraph

    def examples(self) -> Iterator[Problem]:
        for entry in self.subject.declared.entries:
            if intents_of(entry.condition):
                continue
            for example in dict.fromkeys(entry.examples):
                if spaced(example) not in self.compiled.never:
                    yield from self._example(entry, example)

    def never_routes(self) -> Iterator[Problem]:
        entries = self.subject.declared.entries
        owners = {spaced(example): entry.skill for entry in reversed(entries) for example in entry.examples}
        for phrase in dict.fromkeys(self.subject.declared.never_routes):
            owner = owners.get(spaced(phrase))
            if owner is not None:
                message = f"{named(phrase)} is an example of the entry {named(owner)} and must not begin any."
                fix = "Remove it from the examples, or from `never_routes`."
                yield problem("never-routes-claimed", message, fix, skill=owner)
                continue
            ctx = self._sight(phrase)
            claims = ((one, one.condition) for one in candidates(self.compiled, ctx))
            claiming = next((one for one, rule in claims if rule is not None and rule.judge(ctx).holds), None)
            if claiming is not None:
                claimer = named(claiming.skill)
                message = f"{named(phrase)} must not begin any entry, and the condition of {claimer} holds for it."
                fix = f"Narrow the condition of {claimer}, so that it leaves such phrases alone."
                yield problem("never-routes-claimed", message, fix, skill=claiming.skill)

    def _example(self, entry: Entry, example: str) -> Iterator[Problem]:
        ctx, owner, phrase = self._sight(example), named(entry.skill), named(example)
        own = HOLDS if entry.condition is None else entry.condition.judge(ctx)
        if not own.holds:
            raised = f" ({own.evidence[0].text})" if own.raised else ""
            message = f"The condition of the entry {owner} does not hold for its example {phrase}{raised}."
            yield problem("example-misses-own-rule", message, _FIT, skill=entry.skill)
        if not self.subject.in_order:
            return
        first = first_entry(self.compiled, ctx, Notes())
        if first is None:
            message = f"No entry begins on {phrase}, an example of {owner}."
            yield problem("example-unclaimed", message, _FIT, skill=entry.skill)
        elif own.holds and first.to != entry.skill:
            message = f"{phrase} begins {named(first.to)}, which is declared before {owner}, whose example it is."
            fix = f"Declare {owner} first, or narrow the condition of {named(first.to)}."
            spot = {"skill": entry.skill, "from_": first.to, "to": entry.skill}
            yield problem("example-shadowed-by-earlier", message, fix, **spot)

    def _sight(self, phrase: str) -> EvalContext:
        return EvalContext(self.compiled.lexicon, self.subject.declared.scales, MoveContext(user=phrase))


def _no_evidence(subject: Subject) -> Iterator[Problem]:
    declared = subject.declared
    rules = [entry for entry in declared.entries if entry.condition is not None]
    examples = any(
        entry.examples or any(intent.examples for intent in intents_of(entry.condition)) for entry in declared.entries
    )
    if len(rules) >= _MANY_RULES and not examples and not declared.never_routes:
        message = f"{len(rules)} entries have conditions, and no phrase says what must begin at one of them or at none."
        fix = "Add `examples` to the entries, and phrases to `never_routes`."
        yield problem("no-negative-evidence", message, fix)


def check_intents(subject: Subject) -> Iterator[Problem]:
    """intent-without-scorer for each intent where it is declared, then duplicate-intent-example."""
    found = ((one, [part for part in one.parts if isinstance(part, Intent)]) for one in subject.declarations)
    judged = [(declaration, intents) for declaration, intents in found if intents]
    if not subject.has_scorer:
        for declaration, intents in judged:
            owner, _, spot, _ = declaration.wording
            for name in dict.fromkeys(intent.intent for intent in intents):
                message = f"The intent {named(name)} of {owner} is never heard: the graph has no scorer."
                fix = "Give the graph a scorer (`pick`), or use keywords instead."
                yield problem("intent-without-scorer", message, fix, **spot)
    yield from _duplicates(judged)


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
                    skill, earlier = declaration.wording.skill, before.wording.skill
                    message = f"{named(example)} is an example of the intents {named(name)} and {named(intent.intent)}."
                    fix = "Keep it with the intent that it means."
                    yield problem("duplicate-intent-example", message, fix, skill=skill, from_=earlier, to=skill)
