"""Checking a declared graph before anything runs: all findings, and what a report does not prove (spec 3.5)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias

from skillweave.errors import InvalidGraph, nearest_names
from skillweave.graph.checked import CODES, Checkup, Problem
from skillweave.graph.checkup.comparisons import check_satisfiable, check_typed
from skillweave.graph.checkup.order import check_routes, check_rules
from skillweave.graph.checkup.phrases import check_intents, check_phrases
from skillweave.graph.checkup.reaching import check_reaching, check_wiring
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.tools import check_bodies, check_vocabulary
from skillweave.graph.declared import Declared
from skillweave.graph.wording import named

Check: TypeAlias = Callable[[Subject], Iterator[Problem]]
_CHECKS: tuple[Check, ...] = (
    check_wiring,
    check_intents,
    check_vocabulary,
    check_typed,
    check_satisfiable,
    check_reaching,
    check_routes,
    check_rules,
    check_phrases,
    check_bodies,
)


def checkup(declared: Declared, known_tools: Collection[str] | None = None) -> Checkup:
    """Returns everything that is wrong with a graph; pure, and no graph makes it raise.

    `known_tools` are the host's own, None if not stated. Linear, but for pairs of routes and of entries, of which it
    compares 30,000 of a kind and notes if there are more. Raises InvalidGraph for known tools that are no names.
    """
    subject = Subject(declared, _names(known_tools))
    problems: list[Problem] = []
    suppressed: dict[str, list[Problem]] = {}
    for check in _CHECKS:
        for found in check(subject):
            if found.code in declared.suppress:
                suppressed.setdefault(found.code, []).append(found)
            else:
                problems.append(found)
    return Checkup(tuple(problems), tuple(notes_on(subject, suppressed)))


def _names(known_tools: Collection[str] | None) -> frozenset[str] | None:
    if known_tools is None:
        return None
    if isinstance(known_tools, str) or not all(isinstance(name, str) for name in known_tools):
        raise InvalidGraph("known_tools is not a list of tools' names; give names such as ['read_file', 'search']")
    return frozenset(known_tools)


def notes_on(subject: Subject, suppressed: Mapping[str, Sequence[Problem]]) -> Iterator[str]:
    """What examples and negative phrases do not prove, what was too much to compare, what was suppressed and why."""
    yield from _on_phrases(subject)
    for budget, code in (
        (subject.shadow_pairs, "shadowed-route"),
        (subject.clash_pairs, "ambiguous-routes"),
        (subject.entry_pairs, "rules-shadowed-by-order"),
    ):
        if budget.is_spent:
            yield f"Not all pairs were compared for {named(code)}: they are too many."
    for code, reason in subject.declared.suppress.items():
        if code not in CODES:
            near = nearest_names(code, CODES)
            guess = f"; did you mean {named(near[0])}?" if near else "."
            yield f"{named(code)} is suppressed, and there is no such code{guess}"
        elif code in suppressed:
            count = len(suppressed[code])
            level = CODES[code].level.value if count == 1 else f"{CODES[code].level.value}s"
            yield f"{count} {level} of {named(code)} suppressed: {' '.join(reason.split())}"


def _on_phrases(subject: Subject) -> Iterator[str]:
    declared = subject.declared
    has_examples = any(entry.examples for entry in declared.entries)
    if (has_examples or declared.never_routes) and subject.compiled is None:
        yield "The examples and `never_routes` were not tried, as a condition of an entry cannot be compiled."
        return
    if has_examples:
        yield "Examples prove themselves only, each as the first message of a conversation; other words are not tried."
        if not subject.in_order:
            chooser = "a scorer" if subject.has_scorer else "the model"
            yield f"Which entry takes an example was not tried, because {chooser} chooses."
    if declared.never_routes:
        yield "`never_routes` stops exactly these phrases; what says the same in other words may still begin an entry."
