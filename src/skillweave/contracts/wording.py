"""What a broken rule is called, and what to do about it, for the one who made the value: a person or a model."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from skillweave.contracts.plain import fragment

_LONGEST = 80
_LONGEST_MESSAGE = 600
_RULES_SHOWN = 200


def broken_rule(error: Any) -> tuple[str, str]:  # noqa: ANN401 - a ValidationError of `jsonschema`
    """The message and the fix of one error."""
    rule, value = error.validator, error.validator_value
    if rule is None:
        return f"{shown(error.instance)} stands where nothing may stand", "leave it out"
    told = _TOLD.get(rule)
    if told is not None:
        return told(error)
    message = f"{shown(error.instance)} breaks the rule `{rule}: {_rule(value)}`"
    return message, "change it so that the rule holds"


def shown(value: object) -> str:
    """A value for a sentence: short ones as JSON, large ones by their size."""
    if isinstance(value, dict):
        return "an object without keys" if not value else f"an object with {_counted(len(value), 'key')}"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{json.dumps(value[:_LONGEST], ensure_ascii=False)}… ({len(value):,} characters)"
    return _cut(json.dumps(value, ensure_ascii=False), _LONGEST)


def _type(error: Any) -> tuple[str, str]:  # noqa: ANN401
    wanted = _alternatives(error.validator_value)
    return f"{shown(error.instance)} is not of type {wanted}", f"give a value of type {wanted}"


def _required(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"it lacks what the schema requires: {error.message}", "add it"


def _extra(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"the schema has no place for {error.message} (`{error.validator}`)", "leave it out"


def _enum(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"{shown(error.instance)} is none of the allowed values", f"give one of {_rule(error.validator_value)}"


def _const(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"{shown(error.instance)} is not the one allowed value", f"give {_rule(error.validator_value)}"


def _pattern(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"{shown(error.instance)} does not match the pattern", f"give a text that matches {_rule(_value(error))}"


def _unique(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"the items {error.message} are equal, and all must differ (`uniqueItems`)", "remove one of them"


def _not(error: Any) -> tuple[str, str]:  # noqa: ANN401
    return f"{shown(error.instance)} is what `not` forbids: {_rule(_value(error))}", "give another value"


def _choice(error: Any) -> tuple[str, str]:  # noqa: ANN401
    count = len(error.validator_value)
    if not error.context:
        message = f"{shown(error.instance)} fits more than one of the {count} schemas of `oneOf`"
        return message, "change it so that it fits exactly one"
    message = f"{shown(error.instance)} fits none of the {count} schemas of `{error.validator}`"
    nearest = _nearest(error)
    inner, fix = broken_rule(nearest)
    where = f"at `{fragment('', tuple(nearest.relative_path))}`, " if nearest.relative_path else ""
    return _cut(f"{message}; nearest to one: {where}{inner}", _LONGEST_MESSAGE), fix


def _nearest(error: Any) -> Any:  # noqa: ANN401
    """The first error of the alternative that the value is nearest to, and deepest inside it."""
    branches: dict[object, list[Any]] = {}
    for inner in error.context:
        branches.setdefault(next(iter(inner.relative_schema_path), None), []).append(inner)
    nearest: list[Any] = min(branches.values(), key=_distance)
    return max(nearest, key=lambda inner: len(inner.relative_path))


def _distance(errors: list[Any]) -> tuple[bool, int, int, int]:
    """How far an alternative is: of another type (or none), of another kind (told by `const`, `enum`), more errors."""
    other_type = any(inner.validator in ("type", None) and not inner.relative_path for inner in errors)
    other_kind = sum(inner.validator in ("const", "enum") for inner in errors)
    return other_type, other_kind, len(errors), -max(len(inner.relative_path) for inner in errors)


_TOLD: Mapping[str, Callable[[Any], tuple[str, str]]] = MappingProxyType(
    {
        "additionalProperties": _extra,
        "anyOf": _choice,
        "const": _const,
        "enum": _enum,
        "not": _not,
        "oneOf": _choice,
        "pattern": _pattern,
        "required": _required,
        "type": _type,
        "unevaluatedItems": _extra,
        "unevaluatedProperties": _extra,
        "uniqueItems": _unique,
    }
)


def _value(error: Any) -> object:  # noqa: ANN401
    value: object = error.validator_value
    return value


def _rule(value: object) -> str:
    """A rule's value as JSON, cut; large ones are not written out to be cut."""
    if getattr(value, "weight", 0) > _RULES_SHOWN:
        return shown(value)
    return _cut(json.dumps(value, ensure_ascii=False), _RULES_SHOWN)


def _alternatives(types: object) -> str:
    names = [str(name) for name in types] if isinstance(types, list) else [str(types)]
    return " or ".join(names)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
