"""Whether guards compare what can be compared, and whether the conditions of one part can hold together."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.subject import Declaration, Subject, said
from skillweave.graph.checkup.terms import TOOL, OnTool, Part, Place, Terms, asked_values, bounds_of, terms_of
from skillweave.graph.declared import STATUSES, Route
from skillweave.graph.guards import HOP_FIELDS, LISTED, ORDERED, FieldTest, Scalar, Scales, type_name
from skillweave.graph.wording import named, sentence, several

_TYPES: Mapping[str, str] = {name: "a number" if name == "iteration" else "text" for name in HOP_FIELDS}
_MOST_TOLD = 4


class Mistake(NamedTuple):
    """Why values cannot be compared, and what to do."""

    why: str
    fix: str


def check_typed(subject: Subject) -> Iterator[Problem]:
    """untyped-comparison: of each comparison in the order of declaration."""
    for declaration in subject.declarations:
        for part in declaration.parts:
            mistake = mistake_in(part, subject.declared.scales) if isinstance(part, FieldTest) else None
            if isinstance(part, FieldTest) and mistake is not None:
                message = f"{sentence(declaration.wording.name)} asks for {said(part)}, and {mistake.why}."
                yield problem("untyped-comparison", message, mistake.fix, **declaration.wording.spot)


def mistake_in(test: FieldTest, scales: Scales) -> Mistake | None:
    """Why a comparison can never be judged; None for one that can."""
    listed = isinstance(test.value, tuple)
    if listed is not (test.op in LISTED):
        return Mistake(
            f"`{test.op.value}` takes {'one value' if listed else 'a list'}",
            "Use `in` and `not_in` with lists, and the other operators with one value.",
        )
    values = test.value if isinstance(test.value, tuple) else (test.value,)
    types = list(dict.fromkeys(map(type_name, values)))
    if len(types) > 1:
        return Mistake(
            f"its list mixes {' and '.join(types)}, of which only one can be found", "Keep values of one type."
        )
    if types == ["a number"] and not all(map(_is_finite, values)):
        return Mistake("that is not a finite number, which nothing compares with", "Write a finite number.")
    if test.op in ORDERED and types not in (["a number"], ["text"]):
        return Mistake(f"{types[0]} has no order", "Use `eq`, or compare numbers or words that have a scale.")
    wanted = _TYPES.get(test.field)
    if wanted is not None and types and types != [wanted]:
        return Mistake(f"{named(test.field)} is always {wanted}", f"Compare it with {wanted}.")
    return _off_scale(test, values, scales)


def _off_scale(test: FieldTest, values: tuple[Scalar, ...], scales: Scales) -> Mistake | None:
    scale = scales.get(test.field)
    if scale is None:
        if test.op in ORDERED and isinstance(test.value, str):
            fix = f"Declare `scales: {{{test.field[:60]}: [...]}}` with its words, the lowest first."
            return Mistake(f"words have no order without a scale for {named(test.field)}", fix)
        return None
    stray = next((value for value in values if value not in scale), None)
    if all(isinstance(value, str) and value in scale for value in values):
        return None
    what = named(stray) if isinstance(stray, str) else type_name(stray)
    return Mistake(
        f"{what} is not on the scale of {named(test.field)}",
        f"Write one of {several(scale)}, or add the word to the scale.",
    )


def _is_finite(value: Scalar) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and isfinite(value))


def check_satisfiable(subject: Subject) -> Iterator[Problem]:
    """guard-unsatisfiable: of entries, routes and decisions, by the comparisons that are typed."""
    for declaration, terms in _with_terms(subject):
        if terms.never is None:
            continue
        parts, place = _proof(declaration, subject.declared.scales)
        if place is not None:
            name, never, spot, _ = declaration.wording
            message = f"{sentence(name)} {never}: {_why(parts, place)}."
            yield problem("guard-unsatisfiable", message, _fix(subject, parts), **spot)


def _with_terms(subject: Subject) -> Iterator[tuple[Declaration, Terms]]:
    for entry, terms in zip(subject.entries, subject.entry_terms, strict=True):
        if terms is not None:
            yield entry, terms
    for position, terms in subject.route_terms.items():
        yield subject.routes[position], terms
    for decision in subject.decisions:
        yield decision, terms_of(decision.parts, subject.declared.scales)


def _proof(declaration: Declaration, scales: Scales) -> tuple[list[Part], Place | None]:
    """The parts that exclude each other, and the place for which no value is left; None for no proof.

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
        return subject.guesses.fix(stray, STATUSES, "statuses", f"Write one of {', '.join(STATUSES)}.")
    return "Correct one of the conditions, or remove what can never happen."
