"""Scales: the order of words that guards may compare, by the field that holds them (spec 3.1)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, nan
from typing import TypeAlias, TypeGuard

Scales: TypeAlias = Mapping[str, tuple[str, ...]]
"""By field its words, the lowest first."""


Scalar: TypeAlias = str | int | float | bool | None

HOP_FIELDS = ("tool_name", "result", "status", "iteration", "user_message", "current_skill_id")
"""What a guard can read beside the fields of a JSON result."""


class Op(StrEnum):
    """How a field is compared; `in` and `not_in` take lists."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    NOT_IN = "not_in"


ORDERED = frozenset({Op.GT, Op.GTE, Op.LT, Op.LTE})
LISTED = frozenset({Op.IN, Op.NOT_IN})
SIGNS: Mapping[Op, str] = {
    Op.EQ: "=",
    Op.NE: "≠",
    Op.GT: ">",
    Op.GTE: "≥",
    Op.LT: "<",
    Op.LTE: "≤",
    Op.IN: "in",
    Op.NOT_IN: "not in",
}


@dataclass(frozen=True, slots=True)
class FieldTest:
    """One comparison: `field` with `value`, a tuple for `in` and `not_in`."""

    field: str
    op: Op
    value: Scalar | tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{self.field} {SIGNS[self.op]} {shown(self.value)}"


@dataclass(frozen=True, slots=True)
class Guard:
    """Comparisons that all have to hold, in the order of declaration."""

    tests: tuple[FieldTest, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests))


class Missing:
    """What a field is that is not there: it compares as true with nothing."""


MISSING = Missing()


def holds(test: FieldTest, found: object, scales: Scales) -> bool:
    """Whether the comparison is true of what was found; values of different types never are, whatever the operator.

    Booleans are no numbers, and numbers that are not finite compare with nothing. Words are ordered only on their
    field's scale.
    """
    if isinstance(test.value, tuple):
        return test.op in LISTED and _is_listed(test.op, test.value, found)
    if not _alike(test.value, found):
        return False
    match test.op:
        case Op.EQ:
            return found == test.value
        case Op.NE:
            return found != test.value
        case _:
            return _in_order(test.op, *_ranked(test, found, scales))


def type_name(value: object) -> str:
    """The type of a JSON value, as messages call it."""
    if isinstance(value, bool):
        return "a boolean"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "an object" if isinstance(value, Mapping) else "missing" if value is MISSING else "a list"


def shown(value: Scalar | tuple[Scalar, ...]) -> str:
    """A value as JSON writes it; a list in brackets."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(shown, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_listed(op: Op, values: tuple[Scalar, ...], found: object) -> bool:
    alike = [value for value in values if _alike(value, found)]
    return bool(alike) and (found in alike) is (op is Op.IN)


def _ranked(test: FieldTest, found: object, scales: Scales) -> tuple[float, float]:
    """What stands for the two values in their order; numbers that compare with nothing where they have none."""
    if isinstance(found, str) and isinstance(test.value, str):
        scale = scales.get(test.field, ())
        return (scale.index(found), scale.index(test.value)) if found in scale and test.value in scale else (nan, nan)
    if isinstance(found, int | float) and isinstance(test.value, int | float) and not isinstance(found, bool):
        return found, test.value
    return nan, nan


def _in_order(op: Op, found: float, wanted: float) -> bool:
    match op:
        case Op.GT:
            return found > wanted
        case Op.GTE:
            return found >= wanted
        case Op.LT:
            return found < wanted
        case Op.LTE:
            return found <= wanted
        case _:
            return False


def _alike(wanted: object, found: object) -> bool:
    if isinstance(wanted, str):
        return isinstance(found, str)
    if isinstance(wanted, bool):
        return isinstance(found, bool)
    if wanted is None:
        return found is None
    return _is_number(wanted) and _is_number(found)


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)
