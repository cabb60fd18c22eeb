"""A JSON Schema made ready to check values: looked through once, with everything that is wrong with it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TypeAlias
from urllib.parse import unquote

from skillweave.contracts import codes
from skillweave.contracts.codes import Problem, broken_rule, shown
from skillweave.contracts.keywords import (
    DRAFTS,
    Exhausted,
    Json,
    TooDeep,
    Validator,
    checker_for,
    compiled,
    draft_of,
    validator_of,
    working,
)
from skillweave.contracts.plain import SCHEMA_LIMITS, NotPlain, plain
from skillweave.frontmatter.codes import Code
from skillweave.skill import FrozenJson
from skillweave.text.search import BrokenPattern

MOST = 5
"""Mistakes of one schema that are reported."""
_POSITION = re.compile("[0-9]{1,9}")
_NOT_CHECKED = {
    "$id": "leave it out; a reference leads from the top of the whole schema",
    "$dynamicRef": "use `$ref`",
    "unevaluatedItems": "use `items` and `prefixItems`",
    "unevaluatedProperties": "use `additionalProperties`, with all properties in one schema",
}
"""Rules of a draft that are refused, each with what to write in its place."""

JsonSchema: TypeAlias = Mapping[str, FrozenJson] | bool
"""A schema as JSON data, also frozen: an object with rules, true for anything, false for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSchema:
    """A schema for any number of checks, in any thread; with a problem there is no `validator`, and nothing passes."""

    validator: Validator = None
    targets: Mapping[str, Json] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def prepare_schema(schema: JsonSchema) -> PreparedSchema:
    """Look a schema through. Raises MissingExtra without the package `jsonschema`, and nothing else."""
    try:
        return _prepared(json.dumps(plain(schema, SCHEMA_LIMITS, codes.SCHEMA_TOO_LARGE)))
    except NotPlain as refused:
        code = codes.SCHEMA_INVALID if refused.code is codes.NOT_JSON else refused.code
        return _refused(code, refused.keys, f"the schema is not read: {refused.why}", refused.fix)
    except (TooDeep, RecursionError):
        message = "the schema is nested too deeply to be looked through"
        return _refused(codes.SCHEMA_TOO_LARGE, (), message, "flatten it")


@lru_cache(maxsize=64)
def _prepared(text: str) -> PreparedSchema:
    """The schema with that JSON; kept, as to look through one takes half a millisecond for each of its properties."""
    try:
        with working():
            return _looked_through(plain(json.loads(text), SCHEMA_LIMITS))
    except Exhausted:
        return _refused(codes.SCHEMA_TOO_LARGE, (), "the schema is too much work to look through", "make it smaller")


def _looked_through(schema: Json) -> PreparedSchema:
    if not isinstance(schema, dict | bool):
        fix = "write an object with rules, or true for anything"
        return _refused(codes.SCHEMA_INVALID, (), "a schema is an object, true or false", fix)
    draft = draft_of(schema)
    if draft not in DRAFTS:
        message = f"`$schema: {shown(draft)}` is not a draft that is known here"
        return _refused(codes.SCHEMA_DRAFT, ("$schema",), message, f"use one of {', '.join(DRAFTS)}")
    if isinstance(schema, dict):
        schema.pop("$id", None)  # at the top it names the schema, and no reference is looked up by it
    checker, targets = checker_for(draft), dict[str, Json]()
    problems = tuple(islice(_problems(schema, checker, targets), MOST))
    return PreparedSchema(None if problems else validator_of(checker, schema), targets, problems)


def _problems(schema: Json, checker: Validator, targets: dict[str, Json]) -> Iterator[Problem]:
    from referencing.jsonschema import specification_with

    subschemas = specification_with(draft_of(schema)).subresources_of
    seen: set[int] = set()
    pending = [schema]
    while pending:
        against = _against_draft(pending[-1], schema, checker)
        yield from against
        if against:
            return
        parts = [pending.pop()]
        while parts:
            part = parts.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            parts.extend(subschemas(part))
            yield from _mistakes(part, schema)
            if "$ref" in part:
                target = _pointed(part["$ref"], schema)
                if target is None:
                    message = f"`$ref: {shown(part['$ref'])}` leads to no schema inside this one"
                    fix = "put what it means under `$defs`, refer to it as `#/$defs/name`; nothing is ever fetched"
                    yield Problem(codes.SCHEMA_REFERENCE, _keys_of(part, schema), message, fix)
                elif part["$ref"] not in targets:
                    targets[part["$ref"]] = target
                    pending.append(target)


def _mistakes(part: dict[str, Json], schema: Json) -> Iterator[Problem]:
    keys = _keys_of(part, schema)
    if "$schema" in part and draft_of(part) != draft_of(schema):
        message = f"a part of it says `$schema: {shown(part['$schema'])}`, another draft than the whole"
        yield Problem(codes.SCHEMA_DRAFT, keys, message, "write all of a schema in one draft")
    for rule, fix in _NOT_CHECKED.items():
        if rule in part:
            yield Problem(codes.SCHEMA_RULE, keys, f"`{rule}` is not supported here", fix)
    for source in (*part.get("patternProperties", ()), *([part["pattern"]] if "pattern" in part else [])):
        try:
            compiled(source)
        except BrokenPattern as broken:
            message = f"the pattern {shown(source)} can't be used: {broken}"
            yield Problem(codes.SCHEMA_PATTERN, keys, message, broken.fix)


def _against_draft(part: Json, whole: Json, checker: Validator) -> list[Problem]:
    problems: list[Problem] = []
    for error in islice(validator_of(checker, checker.META_SCHEMA).iter_errors(part), MOST):
        message, fix = broken_rule(error)
        keys = (*_keys_of(part, whole), *error.absolute_path)
        told = f"the schema breaks the rules of its draft: {message}"
        problems.append(Problem(codes.SCHEMA_INVALID, keys, told, fix))
    return problems


def _refused(code: Code, keys: tuple[str | int, ...], message: str, fix: str) -> PreparedSchema:
    return PreparedSchema(problems=(Problem(code, keys, message, fix),))


def _keys_of(part: object, schema: object) -> tuple[str | int, ...]:
    """The keys that lead to a part of a schema; none for one of another document."""
    pending: list[tuple[object, tuple[str | int, ...]]] = [(schema, ())]
    while pending:
        value, keys = pending.pop()
        if value is part:
            return keys
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        pending.extend((inner, (*keys, key)) for key, inner in items)
    return ()


def _pointed(reference: object, schema: Json) -> Json:
    """The schema at a JSON pointer (RFC 6901) in its fragment form; None where there is none."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    found = schema
    for step in unquote(reference[1:]).split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and _POSITION.fullmatch(key) and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found if isinstance(found, dict | bool) else None
