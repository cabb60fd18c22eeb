"""The rules that are looked at in our own way: patterns in linear time, and nothing that takes quadratic time.

Each has the signature that `jsonschema` asks for: the validator, the rule's value, the instance, the schema.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from skillweave.contracts.evaluated import unevaluated_items, unevaluated_properties
from skillweave.contracts.wording import shown
from skillweave.contracts.work import ONE_RULE, WORK
from skillweave.text.search import Pattern, compile_exact

Keyword: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

_CHARACTERS = 64
"""Characters of text that are as much work as one rule."""
_INSTRUCTIONS = 4_096
"""Steps of a pattern's program that are as much work as one rule."""
_COMPILING = 200
_COMPARED = frozenset({"const", "enum"})
_ESCAPE = re.compile(r"\\(u([0-9A-Fa-f]{4})|.)", re.DOTALL)


def metered(name: str, keyword: Keyword) -> Keyword:
    """The rule, its work counted before it is looked at."""

    def look(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any] | None:  # noqa: ANN401
        own = _weight(value) if name in _COMPARED else _size(value)
        WORK.get().spend(ONE_RULE + own + _size(instance))
        return keyword(validator, value, instance, schema)

    return look


@lru_cache(maxsize=1024)
def compiled(source: str) -> Pattern:
    r"""A pattern of a schema, ECMAScript's `\u00e9` included; raises BrokenPattern."""
    WORK.get().spend(_COMPILING)
    return compile_exact(_ESCAPE.sub(lambda found: f"\\x{{{found[2]}}}" if found[2] else found[0], source))


def matches(source: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text."""
    pattern = compiled(source)
    WORK.get().spend(1 + len(text) * pattern.programsize // _INSTRUCTIONS)
    return pattern.search(text.encode()) is not None


def noted(validator: Any, value: Any, instance: Any, schema: Any) -> None:  # noqa: ANN401
    """What says something about a value and is no rule, as `format` since draft 2019-09."""


def pattern(validator: Any, source: str, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """A text in which the pattern is found."""
    if isinstance(instance, str) and not matches(source, instance):
        yield _broken("")


def pattern_properties(validator: Any, schemas: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The values of all keys in which a pattern is found."""
    if isinstance(instance, dict):
        for source, subschema in schemas.items():
            for key, value in instance.items():
                if matches(source, key):
                    yield from validator.descend(value, subschema, path=key, schema_path=source)


def additional_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The keys that neither `properties` nor `patternProperties` speaks of."""
    if not isinstance(instance, dict):
        return
    known, sources = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [key for key in instance if key not in known and not any(matches(source, key) for source in sources)]
    if subschema is False and extra:
        yield _broken(_names(extra))
    elif subschema is not False:
        for key in extra:
            yield from validator.descend(instance[key], subschema, path=key)


def required(validator: Any, names: list[str], instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The keys that must be there, all that are missing in one error."""
    if isinstance(instance, dict) and isinstance(names, list):
        missing = [name for name in names if name not in instance]
        if missing:
            yield _broken(_names(missing))


def unique_items(validator: Any, unique: bool, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401, FBT001
    """No two equal items, found in one pass."""
    if not unique or not isinstance(instance, list):
        return
    WORK.get().spend(_weight(instance))
    first: dict[object, int] = {}
    for position, item in enumerate(instance):
        earlier = first.setdefault(_identity(item), position)
        if earlier != position:
            yield _broken(f"{earlier} and {position}")
            return


def no_unevaluated_properties(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The keys that no other rule speaks of."""
    if isinstance(instance, dict):
        wrong = unevaluated_properties(validator, instance, schema, matches)
        if wrong:
            yield _broken(_names(wrong))


def no_unevaluated_items(validator: Any, subschema: Any, instance: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401
    """The items that no other rule speaks of."""
    if isinstance(instance, list):
        wrong = unevaluated_items(validator, instance, schema)
        if wrong:
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


def _broken(what: str) -> Any:  # noqa: ANN401
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


def _identity(value: Any) -> object:  # noqa: ANN401
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
