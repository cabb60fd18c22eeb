"""The checkers of `jsonschema`, one per draft, with their work counted and their patterns in linear time."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from skillweave.contracts.keywords import OWN, metered
from skillweave.contracts.work import WORK
from skillweave.errors import MissingExtra

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


def draft_of(schema: object) -> str:
    """What the schema says of its draft; 2020-12 where it says nothing."""
    given = schema.get("$schema", DEFAULT) if isinstance(schema, dict) else DEFAULT
    return given.removesuffix("#") if isinstance(given, str) else str(given)


@cache
def checker_for(draft: str) -> Any:  # noqa: ANN401 - a class that `jsonschema` makes
    """The checker of one of DRAFTS. Raises MissingExtra without `jsonschema`."""
    try:
        import jsonschema
    except ImportError:
        raise MissingExtra("checking values against a JSON Schema", "jsonschema", "schema") from None
    standard: Any = getattr(jsonschema, DRAFTS[draft])
    rules = {name: metered(name, OWN.get(name, rule)) for name, rule in standard.VALIDATORS.items()}
    checker: Any = jsonschema.validators.extend(standard, rules)
    checker.evolve = _evolve
    return checker


def validator_of(checker: Any, schema: object, resolver: Any = None) -> Any:  # noqa: ANN401
    """The validator of one schema, whose references lead where the resolver says; nothing is ever fetched."""
    return _made(checker, schema, resolver, 0)


def _evolve(validator: Any, **changes: Any) -> Any:  # noqa: ANN401
    """The validator of a part, one level further down.

    In place of the library's own, which changes on a `$schema` inside to the class as it was, with nothing counted.
    """
    level = validator.format_checker + 1
    WORK.get().descend(level)
    schema, resolver = changes.get("schema", validator.schema), changes.get("_resolver", validator._resolver)  # noqa: SLF001
    return _made(type(validator), schema, resolver, level)


def _made(checker: Any, schema: object, resolver: Any, level: int) -> Any:  # noqa: ANN401
    # The field for the checks of `format`, which is no rule here, carries the level: nothing else is passed on.
    return checker(schema, format_checker=level, registry=_nothing_else(), _resolver=resolver)


@cache
def _nothing_else() -> Any:  # noqa: ANN401
    """A registry without anything to fetch from: the library's default would ask the network."""
    from referencing import Registry

    return Registry()
