"""Which keys and items of a value a schema speaks of; the others are *unevaluated* (JSON Schema since 2019-09).

`jsonschema` has the same as a private part, with patterns that can hang and lists that take quadratic time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from skillweave.contracts.work import ONE_RULE, WORK

Matches = Callable[[str, str], bool]
"""Whether a pattern is found in a text."""


def unevaluated_properties(validator: Any, instance: Mapping[str, Any], schema: Any, matches: Matches) -> list[str]:  # noqa: ANN401 - validators of `jsonschema` have no public type, as in all of this file
    """The keys that no rule of the schema speaks of, or whose values do not fit `unevaluatedProperties`."""
    seen = _keys(validator, instance, schema, matches)
    return [key for key in instance if key not in seen]


def unevaluated_items(validator: Any, instance: Sequence[Any], schema: Any) -> list[int]:  # noqa: ANN401
    """The positions that no rule of the schema speaks of, or whose items do not fit `unevaluatedItems`."""
    seen = _positions(validator, instance, schema)
    return [position for position in range(len(instance)) if position not in seen]


def _keys(validator: Any, instance: Mapping[str, Any], schema: Any, matches: Matches) -> set[str]:  # noqa: ANN401
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
        seen |= _keys(below, instance, part, matches)
    return seen


def _positions(validator: Any, instance: Sequence[Any], schema: Any) -> set[int]:  # noqa: ANN401
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


def _covered(validator: Any, schema: Mapping[str, Any], length: int) -> int:  # noqa: ANN401
    """How many items at the start `items` and its companions speak of."""
    if "prefixItems" in validator.VALIDATORS:
        return length if "items" in schema else len(schema.get("prefixItems", ()))
    items = schema.get("items", [])
    return length if "additionalItems" in schema or not isinstance(items, list) else len(items)


def _parts(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    """The schemas that are in force beside this one for the same value, each with its validator."""
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


def _at(validator: Any, part: Any) -> tuple[Any, Any]:  # noqa: ANN401
    return validator.evolve(schema=part), part


def _references(validator: Any, schema: Mapping[str, Any]) -> Iterator[Any]:  # noqa: ANN401
    from referencing.jsonschema import lookup_recursive_ref

    resolver = validator._resolver  # noqa: SLF001 - the only way to what a reference means at this point
    for rule in ("$ref", "$dynamicRef"):
        if rule in schema and rule in validator.VALIDATORS:
            yield resolver.lookup(schema[rule])
    if "$recursiveRef" in schema and "$recursiveRef" in validator.VALIDATORS:
        yield lookup_recursive_ref(resolver)
