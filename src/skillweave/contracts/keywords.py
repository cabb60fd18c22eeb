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
from skillweave.errors import MissingExtra, first_of
from skillweave.text.search import Pattern, compile_flagged

DRAFTS: Mapping[str, str] = MappingProxyType(
    {
        "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
        "http://json-schema.org/draft-07/schema": "Draft7Validator",
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
    """The work that one check has left, how deep it may go, and where the references of its schema lead."""

    __slots__ = ("_left", "_levels", "targets")

    def __init__(self, budget: int, levels: int, targets: Mapping[str, Json]) -> None:
        self._left = budget
        self._levels = levels
        self.targets = targets

    def spend(self, amount: int) -> None:
        """Count some work; raises Exhausted when it is too much."""
        self._left -= amount
        if self._left < 0:
            raise Exhausted

    def descend(self, level: int) -> None:
        """Goes down a level. Raises TooDeep, as a RecursionError in compiled code (`rpds`) may end the process."""
        if level > self._levels:
            raise TooDeep


WORK: ContextVar[Work] = ContextVar("skillweave_check_work")
"""That of the check that runs now: the functions of a checker's rules have no place for it."""


@contextmanager
def working(targets: Mapping[str, Json] = MappingProxyType({})) -> Iterator[None]:
    """Run one check with a limit on its work and depth; `targets` are the schemas that its references mean."""
    token = WORK.set(Work(BUDGET, (sys.getrecursionlimit() - _depth() - _SPARE) // _FRAMES, targets))
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


def following(keyword: Keyword) -> Keyword:
    """Make the rule for `$ref`: a known target is descended into, what a draft's own schema refers to looked up."""

    def follow(validator: Validator, reference: str, instance: Json, schema: Json) -> Iterator[Json] | None:
        targets = WORK.get().targets
        if reference in targets:
            return validator.descend(instance, targets[reference])  # type: ignore[no-any-return]
        return keyword(validator, reference, instance, schema)

    return follow


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


OWN: Mapping[str, Keyword] = MappingProxyType(
    {
        "additionalProperties": additional_properties,
        "format": noted,
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "required": required,
        "uniqueItems": unique_items,
    }
)


def _broken(what: str) -> Validator:
    from jsonschema import ValidationError

    return ValidationError(what)


def _names(names: Sequence[str | int]) -> str:
    return first_of([shown(name) for name in names], 5)


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
    if isinstance(value, int | float):
        return int, str(int(value)) if value == int(value) else repr(value)
    return value


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
    standing = {**standard.VALIDATORS, "$ref": following(standard.VALIDATORS["$ref"])}
    rules = {name: metered(name, OWN.get(name, rule)) for name, rule in standing.items()}
    checker: Validator = jsonschema.validators.extend(standard, rules)
    checker.evolve = _evolve
    return checker


def validator_of(checker: Validator, schema: object, resolver: Validator = None, level: int = 0) -> Validator:
    """The validator of one schema, so many levels down."""
    # The field for the checks of `format`, which is no rule here, carries the level: nothing else is passed on.
    return checker(schema, format_checker=level, registry=_nothing_else(), _resolver=resolver)


def _evolve(validator: Validator, **changes: Json) -> Validator:
    """The validator of a part, one level down; the library's own would change to an uncounted class at `$schema`."""
    level = validator.format_checker + 1
    WORK.get().descend(level)
    schema, resolver = changes.get("schema", validator.schema), changes.get("_resolver", validator._resolver)  # noqa: SLF001
    return validator_of(type(validator), schema, resolver, level)


@cache
def _nothing_else() -> Validator:
    """A registry without anything to fetch from: the library's default would ask the network."""
    from referencing import Registry

    return Registry()
