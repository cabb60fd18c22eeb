"""Everything in a schema that can come into force: its subschemas, and what its references lead to."""

from collections.abc import Iterator
from typing import Any

from skillweave.contracts import codes
from skillweave.contracts.drafts import draft_of
from skillweave.contracts.keywords import compiled
from skillweave.contracts.problem import Problem
from skillweave.contracts.wording import shown
from skillweave.frontmatter.codes import Code
from skillweave.text.search import BrokenPattern

MOST = 5
"""Mistakes of one schema that are reported."""
_REFERENCES = ("$ref", "$dynamicRef")


class Parts:
    """A schema that keeps to the rules of its draft, part by part.

    `problems` are mistakes that would show only when a value is checked; `resolver` knows where references lead.
    """

    def __init__(self, schema: Any, checker: Any) -> None:  # noqa: ANN401 - JSON data; a class of `jsonschema`
        from referencing.jsonschema import specification_with

        self._schema = schema
        self._draft = draft_of(schema)
        self._references = tuple(rule for rule in _REFERENCES if rule in checker.VALIDATORS)
        self._specification = specification_with(self._draft)
        self.resolver: Any = None
        self.problems: list[Problem] = []

    def look(self) -> Iterator[Any]:
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

    def _below(self, part: Any, resolver: Any, seen: set[int]) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
        """The subschemas at and below one that were not seen yet, each with the resolver of its references."""
        pending = [(part, resolver)]
        while pending:
            part, resolver = pending.pop()
            if isinstance(part, dict) and id(part) not in seen:
                seen.add(id(part))
                yield part, resolver
                pending.extend((inner, self._entered(inner, resolver)) for inner in self._inside(part))

    def _inside(self, part: Any) -> Iterator[Any]:  # noqa: ANN401
        yield from self._specification.subresources_of(part)

    def _entered(self, part: Any, resolver: Any) -> Any:  # noqa: ANN401
        return resolver and resolver.in_subresource(self._specification.create_resource(part))

    def _look_at(self, part: dict[str, Any]) -> None:
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
            message = f"an `$id` in it is no address: {error}"
            self._report(codes.SCHEMA_REFERENCE, self._schema, message, "correct it, or leave it out")

    def _targets(self, part: dict[str, Any], resolver: Any) -> Iterator[Any]:  # noqa: ANN401
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
            self.problems.append(Problem(code, keys_of(part, self._schema), message, fix))


def keys_of(part: object, schema: object) -> tuple[str | int, ...]:
    """The keys that lead to a part of a schema; none for one of another document."""
    pending: list[tuple[object, tuple[str | int, ...]]] = [(schema, ())]
    while pending:
        value, keys = pending.pop()
        if value is part:
            return keys
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        pending.extend((inner, (*keys, key)) for key, inner in items)
    return ()


def _resolved(reference: str, resolver: Any) -> Any:  # noqa: ANN401
    from referencing.exceptions import CannotDetermineSpecification, Unresolvable

    try:
        return resolver.lookup(reference)
    except (Unresolvable, CannotDetermineSpecification, LookupError, ValueError, TypeError, AttributeError):
        return None  # the last four are what a pointer through a text or a number comes to
