"""A JSON Schema made ready to check values: looked through once, with everything that is wrong with it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, TypeAlias

from skillweave.contracts import codes
from skillweave.contracts.drafts import DRAFTS, checker_for, draft_of, validator_of
from skillweave.contracts.parts import MOST, Parts, keys_of
from skillweave.contracts.plain import SCHEMA_LIMITS, NotPlain, plain
from skillweave.contracts.problem import Problem
from skillweave.contracts.wording import broken_rule, shown
from skillweave.contracts.work import Exhausted, TooDeep, working
from skillweave.frontmatter.codes import Code
from skillweave.skill import FrozenJson

JsonSchema: TypeAlias = Mapping[str, FrozenJson] | bool
"""A schema as JSON data, also frozen: an object with rules, true for anything, false for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSchema:
    """A schema for any number of checks, in any thread; with a problem there is no `validator`, and nothing passes."""

    validator: Any = None
    problems: tuple[Problem, ...] = ()


def prepare_schema(schema: JsonSchema) -> PreparedSchema:
    """Look through a schema. Raises MissingExtra without the package `jsonschema`, and nothing else."""
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


def _looked_through(schema: Any) -> PreparedSchema:  # noqa: ANN401 - JSON data
    if not isinstance(schema, dict | bool):
        fix = "write an object with rules, or true for anything"
        return _refused(codes.SCHEMA_INVALID, (), "a schema is an object, true or false", fix)
    draft = draft_of(schema)
    if draft not in DRAFTS:
        message = f"`$schema: {shown(draft)}` is no draft that is known here"
        return _refused(codes.SCHEMA_DRAFT, ("$schema",), message, f"use one of {', '.join(DRAFTS)}")
    checker = checker_for(draft)
    parts = Parts(schema, checker)
    problems = tuple(islice(_problems(schema, checker, parts), MOST))
    return PreparedSchema(None if problems else validator_of(checker, schema, parts.resolver), problems)


def _problems(schema: Any, checker: Any, parts: Parts) -> Iterator[Problem]:  # noqa: ANN401
    """What is wrong by the draft's own rules; where nothing is, what is wrong with patterns and references."""
    against = _against_draft(schema, schema, checker)
    if not against:
        for target in parts.look():
            against = _against_draft(target, schema, checker)
            if against:
                break
    yield from against or parts.problems


def _against_draft(part: Any, whole: Any, checker: Any) -> list[Problem]:  # noqa: ANN401
    errors = list(islice(validator_of(checker, checker.META_SCHEMA).iter_errors(part), MOST))
    above = keys_of(part, whole) if errors else ()
    return [_against_rule(error, above) for error in errors]


def _against_rule(error: Any, above: tuple[str | int, ...]) -> Problem:  # noqa: ANN401
    message, fix = broken_rule(error)
    keys = (*above, *error.absolute_path)
    return Problem(codes.SCHEMA_INVALID, keys, f"the schema breaks the rules of its draft: {message}", fix)


def _refused(code: Code, keys: tuple[str | int, ...], message: str, fix: str) -> PreparedSchema:
    return PreparedSchema(None, (Problem(code, keys, message, fix),))
