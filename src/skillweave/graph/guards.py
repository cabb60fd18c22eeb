"""Guards: typed comparisons with what a tool answered and where the conversation stands (spec 3.1)."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from operator import ge, gt, le, lt
from typing import NamedTuple, TypeAlias

from skillweave.conversation import ToolResult
from skillweave.frontmatter.yaml_text import Plain, resolved
from skillweave.graph.move import MoveContext
from skillweave.graph.shape import (
    LONGEST_LABEL,
    LONGEST_PHRASE,
    MOST_ITEMS,
    hint,
    inside,
    is_finite,
    require_list,
    require_mapping,
    require_text,
    shown,
    wrong,
)
from skillweave.graph.wording import first_few, piece

Scales: TypeAlias = Mapping[str, tuple[str, ...]]
"""The order of words that guards may compare: by field its words, the lowest first."""

Scalar: TypeAlias = str | int | float | bool | None

HOP_FIELDS = ("tool_name", "result", "status", "iteration", "user_message", "current_skill_id")
"""What a guard can read beside the fields of a JSON result."""
_FORM = "write comparisons such as {risk: {gte: high}}"


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
ORDERED: Mapping[Op, Callable[[float, float], bool]] = {Op.GT: gt, Op.GTE: ge, Op.LT: lt, Op.LTE: le}
"""The operators that need an order, each with its function."""

_OPERATORS = tuple(op.value for op in Op)


@dataclass(frozen=True, slots=True)
class FieldTest:
    """One comparison: `field` with `value`, a tuple for `in` and `not_in`."""

    field: str
    op: Op
    value: Scalar | tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{self.field} {SIGNS[self.op]} {json_text(self.value)}"

    def caption(self) -> str:
        """The comparison in a drawing: long values are cut, of a long list only the first values stand there."""
        if isinstance(self.value, tuple):
            few = tuple(first_few(piece(json_text(value)) for value in self.value))
            return str(FieldTest(piece(self.field), self.op, few))
        return str(FieldTest(piece(self.field), self.op, piece(json_text(self.value))))


@dataclass(frozen=True, slots=True)
class Guard:
    """Comparisons that all have to hold, in the order of declaration."""

    tests: tuple[FieldTest, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.tests))

    def caption(self) -> str:
        """The guard in a drawing: its first comparisons; empty for a guard that compares nothing."""
        return " and ".join(first_few(test.caption() for test in self.tests))

    def digest(self) -> list[object]:
        """The comparisons in an order of their own: data has them as keys, which many a store sorts its own way."""
        return sorted(([test.field, test.op, json_value(test.value)] for test in self.tests), key=json.dumps)


class Missing:
    """Stands for a field that is not there; no comparison with it holds."""


MISSING = Missing()
LONGEST_RESULT = 1_000_000
"""Characters of a tool result whose fields are read; a guard on a field of a longer one does not hold."""
TOO_LONG = Missing()
"""What a field of such a result is."""

FieldsOf: TypeAlias = Callable[[ToolResult], Mapping[str, object]]


def holds(test: FieldTest, found: object, scales: Scales) -> bool:
    """Whether the comparison is true; values of different types never compare, words only on their field's scale."""
    wanted, op = test.value, test.op
    if isinstance(wanted, tuple):
        alike = [value for value in wanted if _alike(value, found)] if op in LISTED else []
        return bool(alike) and (found in alike) is (op is Op.IN)
    if not _alike(wanted, found):
        return False
    if op == Op.EQ:
        return found == wanted
    if op == Op.NE:
        return found != wanted
    in_order = ORDERED.get(op)
    if in_order is None or wanted is None or isinstance(wanted, bool):
        return False
    if isinstance(wanted, str):
        scale = scales.get(test.field, ())
        return found in scale and wanted in scale and in_order(scale.index(str(found)), scale.index(wanted))
    return isinstance(found, int | float) and in_order(found, wanted)


def _alike(wanted: object, found: object) -> bool:
    """Whether both are of one type of JSON; a number that is not finite is of none."""
    if isinstance(wanted, str):
        return isinstance(found, str)
    if isinstance(wanted, bool):
        return isinstance(found, bool)
    if wanted is None:
        return found is None
    return _is_number(wanted) and _is_number(found)


def _is_number(value: object) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


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


class FailedTest(NamedTuple):
    """The comparison for which a guard does not hold, and what was found in place of its value; lives for one move."""

    test: FieldTest
    found: object

    @property
    def reason(self) -> str:
        """Why it does not hold, without what was found, so that it may be kept."""
        wanted = self.test.value if isinstance(self.test.value, tuple) else (self.test.value,)
        if self.found is TOO_LONG:
            why = f"the result is longer than {LONGEST_RESULT:,} characters"
        elif self.found is MISSING:
            why = "there is no such field"
        elif all(type_name(value) != type_name(self.found) for value in wanted):
            why = f"it is {type_name(self.found)}"
        else:
            why = "it does not hold"
        return f"{self.test}: {why}"


def value_at(name: str, context: MoveContext, result: ToolResult | None, fields: FieldsOf) -> object:
    """Returns what a guard's field is at this moment; `fields` gives those of a result that is a JSON object."""
    match name:
        case "iteration":
            return context.iteration
        case "user_message":
            return context.user
        case "current_skill_id":
            return MISSING if context.current is None else context.current
        case _ if result is None:
            return MISSING
        case "tool_name":
            return result.tool
        case "result":
            return result.content
        case "status":
            return result.status
        case _ if len(result.content) > LONGEST_RESULT:
            return TOO_LONG
        case _:
            return fields(result).get(name, MISSING)


def read_fields(content: str) -> Mapping[str, object]:
    """Returns the fields of a tool result that is a JSON object; none of any other result."""
    if not content.lstrip().startswith("{"):
        return {}
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):  # prose that begins with a brace is not JSON, and has no fields
        return {}
    return data if isinstance(data, dict) else {}


def json_text(value: Scalar | tuple[Scalar, ...]) -> str:
    """A value as JSON writes it; a list in brackets."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(json_text, value))}]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)


def json_value(value: object) -> object:
    """The value as every writer of JSON spells it: 2.0 is 2."""
    if isinstance(value, tuple):
        return list(map(json_value, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_guard(value: object, place: str) -> Guard:
    """The guard `{field: {op: value}}` at that place, or a Guard checked likewise. Raises InvalidGraph."""
    if isinstance(value, Guard):
        value = write_guard(value, place)
    fields = require_mapping(value, place, _FORM)
    if not fields:
        raise wrong(place, "the guard compares nothing", _FORM)
    if len(fields) > MOST_ITEMS:
        raise wrong(place, f"the guard has {len(fields):,} fields, and {MOST_ITEMS:,} are allowed", "shorten it")
    return Guard(tuple(test for field, tests in fields.items() for test in _read_tests(field, tests, place)))


def write_guard(guard: Guard, place: str = "") -> dict[str, object]:
    """The guard as data. Raises InvalidGraph if it has one comparison of a field twice."""
    data: dict[str, dict[str, object]] = {}
    for test in guard.tests:
        tests = data.setdefault(test.field, {})
        if test.op.value in tests:
            rule = f"the guard compares {test.field[:60]!r} with {test.op.value!r} twice"
            raise wrong(place, rule, "keep one of them, or put the other into a condition of its own under `all`")
        tests[test.op.value] = list(test.value) if isinstance(test.value, tuple) else test.value
    return dict(data)


def _read_tests(field: str, tests: object, place: str) -> Iterator[FieldTest]:
    require_text(field, place, "name the field that is compared", LONGEST_LABEL)
    here = inside(place, field)
    mapping = require_mapping(tests, here, _FORM)
    if not mapping:
        raise wrong(here, "the field is compared with nothing", _FORM)
    for operator, value in mapping.items():
        if operator not in _OPERATORS:
            fix = f"{hint(operator, _OPERATORS)}the operators are {', '.join(_OPERATORS)}"
            raise wrong(here, f"{operator[:60]!r} is not an operator", fix)
        op, place_of_value = Op(operator), inside(here, operator)
        if op not in LISTED:
            yield FieldTest(field, op, _read_scalar(value, place_of_value))
            continue
        items = require_list(value, place_of_value, "write a list such as [success, partial]")
        listed = (_read_scalar(item, inside(place_of_value, number)) for number, item in enumerate(items))
        yield FieldTest(field, op, tuple(listed))


def _read_scalar(value: object, place: str) -> Scalar:
    if isinstance(value, Plain):
        value = resolved(value)
    if isinstance(value, str):
        if len(value) > LONGEST_PHRASE:
            rule = f"the text has {len(value):,} characters, and {LONGEST_PHRASE:,} are allowed"
            raise wrong(place, rule, "compare with a shorter one")
        return str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and is_finite(value):
        return value
    rule = f"it is {shown(value)}, which a field is not compared with"
    raise wrong(place, rule, "write text, a finite number, true, false or null")
