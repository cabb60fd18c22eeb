"""Whether the conditions of one declaration can hold together."""

from collections.abc import Iterator

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.declarations import Declaration
from skillweave.graph.checkup.parts import OnTool, Part
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.terms import TOOL, Place, Terms, asked_values, bounds_of, terms_of
from skillweave.graph.checkup.typed import mistake_in
from skillweave.graph.checkup.wording import named, opening, said
from skillweave.graph.declared import STATUSES, Entry, Route
from skillweave.graph.guards import FieldTest
from skillweave.graph.scales import Scales

_MOST_TOLD = 4


def check_satisfiable(subject: Subject) -> Iterator[Problem]:
    """guard-unsatisfiable: of entries, routes and decisions, by the comparisons that are typed."""
    for declaration, terms in _with_terms(subject):
        if terms.never is None:
            continue
        parts, place = _proof(declaration, subject.declared.scales)
        if place is not None:
            message = f"{opening(declaration.called)} {_fate(declaration)}: {_why(parts, place)}."
            yield problem("guard-unsatisfiable", message, _fix(subject, parts), **declaration.spot)


def _with_terms(subject: Subject) -> Iterator[tuple[Declaration, Terms]]:
    for entry, terms in zip(subject.entries, subject.entry_terms, strict=True):
        if terms is not None:
            yield entry, terms
    for position, terms in subject.route_terms.items():
        yield subject.routes[position], terms
    for decision in subject.decisions:
        yield decision, terms_of(decision.parts, subject.declared.scales)


def _proof(declaration: Declaration, scales: Scales) -> tuple[list[Part], Place | None]:
    """The parts that exclude each other and the place for which they leave nothing; None for no proof.

    What another code already says of a part is left out: an untyped comparison, statuses that there are not.
    """
    parts = [part for part in declaration.parts if not _is_told(part, declaration, scales)]
    place = terms_of(parts, scales, bounds_of(declaration.source)).never
    return [part for part in parts if _is_about(part, place, scales)], place


def _is_told(part: Part, declaration: Declaration, scales: Scales) -> bool:
    if not isinstance(part, FieldTest):
        return False
    source = declaration.source
    if isinstance(source, Route) and part.field == "status" and part.value == source.on_status:
        return not set(source.on_status) & set(STATUSES)
    return mistake_in(part, scales) is not None


def _is_about(part: Part, place: Place | None, scales: Scales) -> bool:
    if isinstance(part, OnTool):
        return place == TOOL
    asked = asked_values(part, scales)
    return asked is not None and asked[0] == place


def _fate(declaration: Declaration) -> str:
    match declaration.source:
        case Entry():
            return "never begins"
        case Route():
            return "never fires"
        case _:
            return "never holds"


def _why(parts: list[Part], place: Place) -> str:
    told = list(dict.fromkeys(map(said, parts[:_MOST_TOLD])))
    if len(parts) > _MOST_TOLD:
        return f"{', '.join(told)} and {len(parts) - _MOST_TOLD} more exclude each other"
    if len(told) > 1:
        return f"{', '.join(told[:-1])} and {told[-1]} exclude each other"
    subject = told[0] if told else named(place[1])
    match place[1]:
        case "status":
            return f"{subject} is true of no status"
        case "iteration":
            return f"{subject} is true of no iteration, which are counted from 1"
        case "current_skill_id":
            return f"{subject} is not true of the skill that the route comes from"
        case _:
            return f"{subject} is true of nothing"


def _fix(subject: Subject, parts: list[Part]) -> str:
    statuses = [part.value for part in parts if isinstance(part, FieldTest) and part.field == "status"]
    stray = next((one for one in statuses if isinstance(one, str) and one not in STATUSES), None)
    if stray is not None:
        near = subject.guesses.of(stray, STATUSES, "statuses")
        return f"Write {named(near)}." if near else f"Write one of {', '.join(STATUSES)}."
    return "Correct one of the conditions, or remove what can never happen."
