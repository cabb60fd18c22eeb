"""Whether guards compare what can be compared, and whether the conditions of one part can hold together."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from skillweave.graph.checked import Problem, problem
from skillweave.graph.checkup.subject import Declaration, Subject, said
from skillweave.graph.checkup.terms import Part, Place, Terms, asked_values, terms_of
from skillweave.graph.checkup.values import values_of
from skillweave.graph.declared import STATUSES
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
        fix = "Use `in` and `not_in` with lists, and the other operators with one value."
        return Mistake(f"`{test.op.value}` takes {'one value' if listed else 'a list'}", fix)
    values = values_of(test)
    types = list(dict.fromkeys(map(type_name, values)))
    if len(types) > 1:
        why = f"its list mixes {' and '.join(types)}, of which only one can be found"
        return Mistake(why, "Keep values of one type.")
    if types == ["a number"] and any(isinstance(value, float) and not isfinite(value) for value in values):
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
    fix = f"Write one of {several(scale)}, or add the word to the scale."
    return Mistake(f"{what} is not on the scale of {named(test.field)}", fix)


def check_satisfiable(subject: Subject) -> Iterator[Problem]:
    """guard-unsatisfiable: of entries, routes and decisions that no other code calls wrong."""
    for declaration, terms in _with_terms(subject):
        place, scales = terms.never, subject.declared.scales
        if place is None or any(_is_told(part, scales) for part in declaration.parts):
            continue
        asked = ((part, asked_values(part, scales)) for part in declaration.parts)
        parts = [part for part, values in asked if values is not None and values[0] == place]
        name, never, spot, _ = declaration.wording
        message = f"{sentence(name)} {never}: {_why(parts, place)}."
        yield problem("guard-unsatisfiable", message, "Correct it, or remove what can never happen.", **spot)


def _with_terms(subject: Subject) -> Iterator[tuple[Declaration, Terms]]:
    for entry, terms in zip(subject.entries, subject.entry_terms, strict=True):
        if terms is not None:
            yield entry, terms
    for position, terms in subject.route_terms.items():
        yield subject.routes[position], terms
    for decision in subject.decisions:
        yield decision, terms_of(decision.parts, subject.declared.scales)


def _is_told(part: Part, scales: Scales) -> bool:
    """Whether another code says what is wrong: an untyped comparison, a status that there is not."""
    if not isinstance(part, FieldTest):
        return False
    return mistake_in(part, scales) is not None or (
        part.field == "status" and any(status not in STATUSES for status in values_of(part))
    )


def _why(parts: list[Part], place: Place) -> str:
    told = list(dict.fromkeys(map(said, parts[:_MOST_TOLD])))
    if len(parts) > _MOST_TOLD:
        return f"{', '.join(told)} and {len(parts) - _MOST_TOLD} more exclude each other"
    if len(told) > 1:
        return f"{', '.join(told[:-1])} and {told[-1]} exclude each other"
    return f"{told[0] if told else named(place[1])} is never true here"
