"""Whether guards compare what can be compared: values of one type, words on a scale, numbers in order."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import NamedTuple

from skillweave.graph.checked import Problem
from skillweave.graph.checkup.codes import problem
from skillweave.graph.checkup.subject import Subject
from skillweave.graph.checkup.wording import named, opening, said, several
from skillweave.graph.guards import HOP_FIELDS, LISTED, ORDERED, FieldTest, Scalar, type_name
from skillweave.graph.scales import Scales

_TYPES: Mapping[str, str] = {name: "a number" if name == "iteration" else "text" for name in HOP_FIELDS}


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
                message = f"{opening(declaration.called)} asks for {said(part)}, and {mistake.why}."
                yield problem("untyped-comparison", message, mistake.fix, **declaration.spot)


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
        return Mistake("that is no finite number, which nothing compares with", "Write a finite number.")
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
