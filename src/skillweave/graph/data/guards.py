"""Guards in the data form: `{field: {op: value}}` (spec 3.1)."""

from collections.abc import Iterator

from skillweave.errors import nearest_names
from skillweave.frontmatter import Plain, resolved
from skillweave.graph.data.bounds import LONGEST_LABEL, LONGEST_PHRASE, MOST_ITEMS
from skillweave.graph.data.shape import inside, is_finite, require_list, require_mapping, require_text, shown, wrong
from skillweave.graph.guards import LISTED, FieldTest, Guard, Op, Scalar

_FORM = "write comparisons such as {risk: {gte: high}}"
_OPERATORS = tuple(op.value for op in Op)


def read_guard(value: object, place: str) -> Guard:
    """The guard at that place; one that is a Guard already is checked in the same way.

    Whether values of these types can be compared is the checkup's to say. Raises InvalidGraph for a wrong shape.
    """
    if isinstance(value, Guard):
        value = write_guard(value, place)
    fields = require_mapping(value, place, _FORM)
    if not fields:
        raise wrong(place, "the guard compares nothing", _FORM)
    if len(fields) > MOST_ITEMS:
        raise wrong(place, f"the guard has {len(fields):,} fields, and {MOST_ITEMS:,} are allowed", "shorten it")
    return Guard(tuple(test for field, tests in fields.items() for test in _read_tests(field, tests, place)))


def write_guard(guard: Guard, place: str = "") -> dict[str, object]:
    """The guard as plain data.

    Raises InvalidGraph for what the form has no place for: one comparison of one field twice.
    """
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
            near = nearest_names(operator, _OPERATORS)
            guess = f"did you mean {near[0]!r}? " if near else ""
            fix = f"{guess}the operators are {', '.join(_OPERATORS)}"
            raise wrong(here, f"{operator[:60]!r} is no operator", fix)
        op = Op(operator)
        at = inside(here, operator)
        yield FieldTest(field, op, _read_list(value, at) if op in LISTED else _read_scalar(value, at))


def _read_list(value: object, place: str) -> tuple[Scalar, ...]:
    items = require_list(value, place, "write a list such as [success, partial]")
    return tuple(_read_scalar(item, inside(place, number)) for number, item in enumerate(items))


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
