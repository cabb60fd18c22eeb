"""The whole checkup, one kind of finding after the other."""

from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

from skillweave.errors import InvalidGraph
from skillweave.graph.checked import Checkup, Problem
from skillweave.graph.checkup.bodies import check_bodies
from skillweave.graph.checkup.intents import check_intents
from skillweave.graph.checkup.notes import notes_on
from skillweave.graph.checkup.phrases import check_phrases
from skillweave.graph.checkup.reaching import check_reaching
from skillweave.graph.checkup.routes import check_routes
from skillweave.graph.checkup.rules import check_rules
from skillweave.graph.checkup.satisfiable import check_satisfiable
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.typed import check_typed
from skillweave.graph.checkup.vocabulary import check_vocabulary
from skillweave.graph.checkup.wiring import check_wiring
from skillweave.graph.declared import Declared

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
    """Everything that is wrong with a graph or wants attention; pure, and no graph makes it raise.

    `known_tools` are the host's own tools beside those of the skills; without them nothing is said of tools where a
    skill does not state its own. The order is that of the checks, and in each that of the declaration. Linear in the
    graph but for pairs of routes and of entries that no exact value tells apart, of which it compares 100,000 of a
    kind, and notes where there were more. Raises InvalidGraph for known tools that are no names.
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
        raise InvalidGraph("known_tools is no list of tools' names; give names such as ['read_file', 'search']")
    return frozenset(known_tools)
