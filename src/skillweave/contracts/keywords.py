"""The checkers of `jsonschema`, one per draft, made safe for schemas and values of others.

Their work is counted, their patterns run in linear time, nothing takes quadratic time and nothing is fetched. Each rule
has the signature that `jsonschema` asks for: the validator, the rule's value, the instance, the schema.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from skillweave.contracts.codes import shown
from skillweave.errors import MissingExtra
from skillweave.text.search import Pattern, compile_flagged

DRAFTS: Mapping[str, str] = MappingProxyType(
    {
        "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
        "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
        "http://json-schema.org/draft-07/schema": "Draft7Validator",
        "http://json-schema.org/draft-06/schema": "Draft6Validator",
        "http://json-schema.org/draft-04/schema": "Draft4Validator",
    }
)
"""What `$schema` may say, with or without `#` at its end, and the class of `jsonschema` for it."""
DEFAULT = "https://json-schema.org/draft/2020-12/schema"

Json: TypeAlias = Any
"""JSON data, or a part of a schema, as plain Python values."""
Validator: TypeAlias = Any
"""A validator, checker class or resolver of `jsonschema`, which has no types."""
Keyword: TypeAlias = Callable[[Validator, Json, Json, Json], Iterator[Any] | None]

BUDGET = 1_000_000
"""Keys and items passed, and values compared: 1 s on a laptop, some seconds at worst."""
ONE_RULE = 8
"""What it is to look at one rule of a schema."""
_FRAMES = 6
"""Python frames that one level of a schema takes at most."""
_SPARE = 60
"""Frames that what is called on each level needs."""
_CHARACTERS = 64
"""Characters of text that are as much work as one rule."""
_INSTRUCTIONS = 4_096
"""Steps of a pattern's program that are as much work as one rule."""
_COMPILING = 200
_COMPARED = frozenset({"const", "enum"})
_ESCAPE = re.compile(r"\\(u([0-9A-Fa-f]{4})|.)", re.DOTALL)


class Exhausted(Exception):
    """The work of this check is used up."""


class TooDeep(Exception):
    """A schema within a schema, or a reference to a reference, further down than the interpreter's stack reaches."""


class Work:
    """The work that one check has left, and how deep it may go."""

    __slots__ = ("_left", "_levels")

    def __init__(self, budget: int, levels: int) -> None:
        self._left = budget
        self._levels = levels

    def spend(self, amount: int) -> None:
        """Count some work; raises Exhausted when it is too much."""
        self._left -= amount
        if self._left < 0:
            raise Exhausted

    def descend(self, level: int) -> None:
        """Go down to a level; raises TooDeep.

        To wait for a RecursionError will not do: where one strikes in compiled code (`rpds`), the process may end.
        """
        if level > self._levels:
            raise TooDeep


WORK: ContextVar[Work] = ContextVar("skillweave_check_work")
"""That of the check that runs now: the functions of a checker's rules have no place for it."""


@contextmanager
def working() -> Iterator[None]:
    """Run one check with a limit on its work and depth."""
    token = WORK.set(Work(BUDGET, (sys.getrecursionlimit() - _depth() - _SPARE) // _FRAMES))
    try:
        yield
    finally:
        WORK.reset(token)


def _depth() -> int:
    frame, depth = sys._getframe(), 0  # noqa: SLF001 - `inspect.stack` reads the source of every frame
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def metered(name: str, keyword: Keyword) -> Keyword:
    """Wrap a rule so that its work is counted before it runs."""

    def look(validator: Validator, value: Json, instance: Json, schema: Json) -> Iterator[Json] | None:
        own = _weight(value) if name in _COMPARED else _size(value)
        WORK.get().spend(ONE_RULE + own + _size(instance))
        return keyword(validator, value, instance, schema)

    return look


@lru_cache(maxsize=1024)
def compiled(source: str) -> Pattern:
    r"""Compile a pattern of a schema, ECMAScript's `\u00e9` included; raises BrokenPattern."""
    WORK.get().spend(_COMPILING)
    return compile_flagged(_ESCAPE.sub(lambda found: f"\\x{{{found[2]}}}" if found[2] else found[0], source))


def matches(source: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    pattern = compiled(source)
    WORK.get().spend(1 + len(text) * pattern.programsize // _INSTRUCTIONS)
    return pattern.search(text.encode()) is not None


def noted(validator: Validator, value: Json, instance: Json, schema: Json) -> None:
    """Accept every value: `format` is a note since draft 2019-09, not a rule."""


def pattern(validator: Validator, source: str, instance: Json, schema: Json) -> Iterator[Json]:
    """Check that the pattern is found in a text."""
    if isinstance(instance, str) and not matches(source, instance):
        yield _broken("")


def pattern_properties(
    validator: Validator, schemas: Mapping[str, Json], instance: Json, schema: Json
) -> Iterator[Json]:
    """Check the values of all keys in which a pattern is found."""
    if isinstance(instance, dict):
        for source, subschema in schemas.items():
            for key, value in instance.items():
                if matches(source, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=source)


def additional_properties(validator: Validator, subschema: Json, instance: Json, schema: Json) -> Iterator[Json]:
    """Check the keys that neither `properties` nor `patternProperties` speaks of."""
    if not isinstance(instance, dict):
        return
    known, sources = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [key for key in instance if key not in known and not any(matches(source, key) for source in sources)]
    if subschema is False and extra:
        yield _broken(_names(extra))
    elif subschema is not False:
        for key in extra:
            yield from validator.descend(instance[key], subschema, path=key)


def required(validator: Validator, names: list[str], instance: Json, schema: Json) -> Iterator[Json]:
    """Check that the required keys are there; one error names all that are missing."""
    if isinstance(instance, dict) and isinstance(names, list):
        missing = [name for name in names if name not in instance]
        if missing:
            yield _broken(_names(missing))


def unique_items(validator: Validator, unique: bool, instance: Json, schema: Json) -> Iterator[Json]:  # noqa: FBT001
    """Check in one pass that no two items are equal."""
    if not unique or not isinstance(instance, list):
        return
    WORK.get().spend(_weight(instance))
    first: dict[object, int] = {}
    for position, item in enumerate(instance):
        earlier = first.setdefault(_identity(item), position)
        if earlier != position:
            yield _broken(f"{earlier} and {position}")
            return


def no_unevaluated_properties(validator: Validator, subschema: Json, instance: Json, schema: Json) -> Iterator[Json]:
    """Refuse keys that no other rule of the schema speaks of, unless their values fit this one."""
    if isinstance(instance, dict):
        seen = _keys(validator, instance, schema)
        if wrong := [key for key in instance if key not in seen]:
            yield _broken(_names(wrong))


def no_unevaluated_items(validator: Validator, subschema: Json, instance: Json, schema: Json) -> Iterator[Json]:
    """Refuse items that no other rule of the schema speaks of, unless they fit this one."""
    if isinstance(instance, list):
        seen = _positions(validator, instance, schema)
        if wrong := [position for position in range(len(instance)) if position not in seen]:
            yield _broken(_names(wrong))


OWN: Mapping[str, Keyword] = MappingProxyType(
    {
        "additionalProperties": additional_properties,
        "format": noted,
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "required": required,
        "unevaluatedItems": no_unevaluated_items,
        "unevaluatedProperties": no_unevaluated_properties,
        "uniqueItems": unique_items,
    }
)


# What a schema speaks of is *evaluated* (since draft 2019-09). `jsonschema` finds that out with patterns that can hang
# and lists that take quadratic time, so it is found out here.


def _keys(validator: Validator, instance: Mapping[str, Json], schema: Json) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    WORK.get().spend(ONE_RULE + len(schema) + len(instance))
    seen = {key for key in schema.get("properties", ()) if key in instance}
    for source in schema.get("patternProperties", ()):
        seen.update(key for key in instance if matches(source, key))
    for rule in ("additionalProperties", "unevaluatedProperties"):
        if rule in schema:
            inner = validator.evolve(schema=schema[rule])
            seen.update(key for key, value in instance.items() if key not in seen and inner.is_valid(value))
    for below, part in _parts(validator, instance, schema):
        seen |= _keys(below, instance, part)
    return seen


def _positions(validator: Validator, instance: Sequence[Json], schema: Json) -> set[int]:
    if not isinstance(schema, dict):
        return set()
    WORK.get().spend(ONE_RULE + len(schema) + len(instance))
    seen = set(range(_covered(validator, schema, len(instance))))
    for rule in ("contains", "unevaluatedItems"):
        if rule in schema:
            inner = validator.evolve(schema=schema[rule])
            seen.update(at for at, item in enumerate(instance) if at not in seen and inner.is_valid(item))
    for below, part in _parts(validator, instance, schema):
        seen |= _positions(below, instance, part)
    return seen


def _covered(validator: Validator, schema: Mapping[str, Json], length: int) -> int:
    """How many items at the start `items` and its companions speak of."""
    if "prefixItems" in validator.VALIDATORS:
        return length if "items" in schema else len(schema.get("prefixItems", ()))
    items = schema.get("items", [])
    return length if "additionalItems" in schema or not isinstance(items, list) else len(items)


def _parts(validator: Validator, instance: Json, schema: Mapping[str, Json]) -> Iterator[tuple[Any, Any]]:
    """The schemas that apply beside this one to the same value, each with its validator."""
    for resolved in _references(validator, schema):
        below = validator.evolve(schema=resolved.contents, _resolver=resolved.resolver)
        yield below, resolved.contents
    for name, part in schema.get("dependentSchemas", {}).items():
        if isinstance(instance, dict) and name in instance:
            yield _at(validator, part)
    for rule in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(rule, ()):
            below, _ = _at(validator, part)
            if below.is_valid(instance):
                yield below, part
    if "if" in schema:
        condition, part = _at(validator, schema["if"])
        holds = condition.is_valid(instance)
        if holds:
            yield condition, part
        branch = "then" if holds else "else"
        if branch in schema:
            yield _at(validator, schema[branch])


def _at(validator: Validator, part: Json) -> tuple[Any, Any]:
    return validator.evolve(schema=part), part


def _references(validator: Validator, schema: Mapping[str, Json]) -> Iterator[Json]:
    from referencing.jsonschema import lookup_recursive_ref

    resolver = validator._resolver  # noqa: SLF001 - the only way to what a reference means at this point
    for rule in ("$ref", "$dynamicRef"):
        if rule in schema and rule in validator.VALIDATORS:
            yield resolver.lookup(schema[rule])
    if "$recursiveRef" in schema and "$recursiveRef" in validator.VALIDATORS:
        yield lookup_recursive_ref(resolver)


def _broken(what: str) -> Validator:
    from jsonschema import ValidationError

    return ValidationError(what)


def _names(names: Sequence[str | int]) -> str:
    first = ", ".join(shown(name) for name in names[:5])
    return f"{first} and {len(names) - 5} more" if len(names) > 5 else first


def _size(value: object) -> int:
    if isinstance(value, list | dict):
        return len(value)
    return len(value) // _CHARACTERS if isinstance(value, str) else 0


def _weight(value: object) -> int:
    weight = getattr(value, "weight", None)
    return weight if isinstance(weight, int) else _size(value)


def _identity(value: Json) -> object:
    """What two values share only when JSON Schema calls them equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(value, bool):
        return bool, value
    if isinstance(value, list):
        return list, tuple(_identity(item) for item in value)
    if isinstance(value, dict):
        return dict, frozenset((key, _identity(item)) for key, item in value.items())
    # As text: numbers can be chosen so that their hashes are all the same, and each is compared with every other.
    return (int, _number(value)) if isinstance(value, int | float) else value


def _number(value: int | float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def draft_of(schema: object) -> str:
    """What the schema says of its draft; 2020-12 where it says nothing."""
    given = schema.get("$schema", DEFAULT) if isinstance(schema, dict) else DEFAULT
    return given.removesuffix("#") if isinstance(given, str) else str(given)


@cache
def checker_for(draft: str) -> Validator:
    """The checker of one of DRAFTS. Raises MissingExtra without `jsonschema`."""
    try:
        import jsonschema
    except ImportError:
        raise MissingExtra("checking values against a JSON Schema", "jsonschema", "schema") from None
    standard: Any = getattr(jsonschema, DRAFTS[draft])
    rules = {name: metered(name, OWN.get(name, rule)) for name, rule in standard.VALIDATORS.items()}
    checker: Validator = jsonschema.validators.extend(standard, rules)
    checker.evolve = _evolve
    return checker


def validator_of(checker: Validator, schema: object, resolver: Validator = None, level: int = 0) -> Validator:
    """The validator of one schema, so many levels down, whose references lead where the resolver says."""
    # The field for the checks of `format`, which is no rule here, carries the level: nothing else is passed on.
    return checker(schema, format_checker=level, registry=_nothing_else(), _resolver=resolver)


def _evolve(validator: Validator, **changes: Json) -> Validator:
    """The validator of a part, one level further down.

    In place of the library's own, which changes on a `$schema` inside to the class as it was, with nothing counted.
    """
    level = validator.format_checker + 1
    WORK.get().descend(level)
    schema, resolver = changes.get("schema", validator.schema), changes.get("_resolver", validator._resolver)  # noqa: SLF001
    return validator_of(type(validator), schema, resolver, level)


@cache
def _nothing_else() -> Validator:
    """A registry without anything to fetch from: the library's default would ask the network."""
    from referencing import Registry

    return Registry()
