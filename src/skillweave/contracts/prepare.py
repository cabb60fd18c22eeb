"""A JSON Schema made ready to check values: looked through once, with everything that is wrong with it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

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
_REFERENCES = ("$ref", "$dynamicRef")

JsonSchema: TypeAlias = Mapping[str, FrozenJson] | bool
"""A schema as JSON data, also frozen: an object with rules, true for anything, false for nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSchema:
    """A schema for any number of checks, in any thread; with a problem there is no `validator`, and nothing passes."""

    validator: Validator = None
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
    checker = checker_for(draft)
    parts = _Parts(schema, checker)
    problems = tuple(islice(_problems(schema, checker, parts), MOST))
    return PreparedSchema(None if problems else validator_of(checker, schema, parts.resolver), problems)


def _problems(schema: Json, checker: Validator, parts: "_Parts") -> Iterator[Problem]:
    """What is wrong by the draft's own rules; where nothing is, what is wrong with patterns and references."""
    against = _against_draft(schema, schema, checker)
    if not against:
        for target in parts.look():
            against = _against_draft(target, schema, checker)
            if against:
                break
    yield from against or parts.problems


def _against_draft(part: Json, whole: Json, checker: Validator) -> list[Problem]:
    problems: list[Problem] = []
    for error in islice(validator_of(checker, checker.META_SCHEMA).iter_errors(part), MOST):
        message, fix = broken_rule(error)
        keys = (*_keys_of(part, whole), *error.absolute_path)
        told = f"the schema breaks the rules of its draft: {message}"
        problems.append(Problem(codes.SCHEMA_INVALID, keys, told, fix))
    return problems


def _refused(code: Code, keys: tuple[str | int, ...], message: str, fix: str) -> PreparedSchema:
    return PreparedSchema(None, (Problem(code, keys, message, fix),))


class _Parts:
    """Walks through all parts of a schema that keeps to the rules of its draft.

    `problems` are mistakes that would show only when a value is checked; `resolver` knows where references lead.
    """

    def __init__(self, schema: Json, checker: Validator) -> None:
        from referencing.jsonschema import specification_with

        self._schema = schema
        self._draft = draft_of(schema)
        self._references = tuple(rule for rule in _REFERENCES if rule in checker.VALIDATORS)
        self._specification = specification_with(self._draft)
        self.resolver: Validator = None
        self.problems: list[Problem] = []

    def look(self) -> Iterator[Json]:
        """Look at every part; gives each that only a reference leads to, before that is looked at."""
        for part, _ in self._below(self._schema, None, set()):
            self._look_at(part)
        if not self.problems:
            self._index()
        followed: set[int] = set()
        fresh = [(self._schema, self.resolver)]
        while fresh and not self.problems:
            for part, resolver in list(self._below(*fresh.pop(), followed)):
                self._look_at(part)
                for target in self._targets(part, resolver):
                    if id(target.contents) not in followed:
                        yield target.contents
                        fresh.append((target.contents, target.resolver))

    def _below(self, part: Json, resolver: Validator, seen: set[int]) -> Iterator[tuple[Json, Validator]]:
        """The subschemas at and below one that were not seen yet, each with the resolver of its references."""
        pending = [(part, resolver)]
        while pending:
            part, resolver = pending.pop()
            if isinstance(part, dict) and id(part) not in seen:
                seen.add(id(part))
                yield part, resolver
                inside = self._specification.subresources_of(part)
                pending.extend((inner, self._entered(inner, resolver)) for inner in inside)

    def _entered(self, part: Json, resolver: Validator) -> Validator:
        return resolver and resolver.in_subresource(self._specification.create_resource(part))

    def _look_at(self, part: dict[str, Json]) -> None:
        if "$schema" in part and draft_of(part) != self._draft:
            message = f"a part of it says `$schema: {shown(part['$schema'])}`, another draft than the whole"
            self._report(codes.SCHEMA_DRAFT, part, message, "write all of a schema in one draft")
        for source in (*part.get("patternProperties", ()), *([part["pattern"]] if "pattern" in part else [])):
            try:
                compiled(source)
            except BrokenPattern as broken:
                message = f"the pattern {shown(source)} can't be used: {broken}"
                self._report(codes.SCHEMA_PATTERN, part, message, broken.fix)

    def _index(self) -> None:
        """Find every `$id` and anchor, once: a resolver without them would search for each reference anew."""
        from jsonschema_specifications import REGISTRY

        resource = self._specification.create_resource(self._schema)
        base = resource.id() or ""
        try:
            self.resolver = REGISTRY.with_resource(base, resource).crawl().resolver(base)
        except ValueError as error:
            message = f"an `$id` in it is not an address: {error}"
            self._report(codes.SCHEMA_REFERENCE, self._schema, message, "correct it, or leave it out")

    def _targets(self, part: dict[str, Json], resolver: Validator) -> Iterator[Json]:
        for rule in self._references:
            if rule in part:
                target = _resolved(part[rule], resolver)
                if target is not None and isinstance(target.contents, dict | bool):
                    yield target
                else:
                    message = f"`{rule}: {shown(part[rule])}` leads to no schema inside this one"
                    fix = "put what it means under `$defs`, refer to it as `#/$defs/name`; nothing is ever fetched"
                    self._report(codes.SCHEMA_REFERENCE, part, message, fix)

    def _report(self, code: Code, part: object, message: str, fix: str) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(code, _keys_of(part, self._schema), message, fix))


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


def _resolved(reference: str, resolver: Validator) -> Validator:
    from referencing.exceptions import CannotDetermineSpecification, Unresolvable

    try:
        return resolver.lookup(reference)
    except (Unresolvable, CannotDetermineSpecification, LookupError, ValueError, TypeError, AttributeError):
        return None  # the last four are what a pointer through a text or a number comes to
