"""All that can be said about a JSON Schema, or about a value that is checked against it: codes, places, and words."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias
from urllib.parse import quote

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.frontmatter.codes import Code

SCHEMA_INVALID = Code("schema-invalid", Severity.ERROR, "a JSON Schema against the rules of its draft; not checked")
SCHEMA_DRAFT = Code("schema-draft", Severity.ERROR, "a JSON Schema of a draft that is not known here; not checked")
SCHEMA_REFERENCE = Code("schema-reference", Severity.ERROR, "a reference that leads nowhere; nothing is ever fetched")
SCHEMA_RULE = Code("schema-rule", Severity.ERROR, "a rule of JSON Schema that is not supported here; not checked")
SCHEMA_PATTERN = Code("schema-pattern", Severity.ERROR, "a pattern that can't be matched in linear time; not checked")
SCHEMA_TOO_LARGE = Code("schema-too-large", Severity.ERROR, "a JSON Schema beyond the limits; not checked")
MISMATCH = Code("schema-mismatch", Severity.ERROR, "a value that breaks a rule of the schema")
MORE_MISMATCHES = Code("more-mismatches", Severity.ERROR, "more broken rules than are listed one by one")
NOT_JSON = Code("not-json", Severity.ERROR, "no JSON where the schema asks for it")
VALUE_TOO_LARGE = Code("value-too-large", Severity.ERROR, "a value beyond the limits; not checked")
UNFINISHED = Code("check-unfinished", Severity.ERROR, "a check that would take more work than one may; given up")
SEVERAL_BLOCKS = Code("several-json-blocks", Severity.WARNING, "an answer with several JSON blocks; the last is read")

_LONGEST = 80
_LONGEST_MESSAGE = 600
_RULES_SHOWN = 200
_LONGEST_POINTER = 500
_UNRESERVED = "!$&'()*+,;=:@/"

_Error: TypeAlias = Any
"""A ValidationError of `jsonschema`, which has no types."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong and what to do about it; `keys` lead to the place."""

    code: Code
    keys: tuple[str | int, ...]
    message: str
    fix: str

    def found(self, place: str, skill: str | None) -> Diagnostic:
        """Make the diagnostic about a document of that name."""
        return replace(self.code.found(Location(fragment(place, self.keys)), self.message, self.fix), skill=skill)


def fragment(place: str, keys: tuple[str | int, ...]) -> str:
    """`place#` and the JSON pointer of what stands at those keys, in its fragment form (RFC 6901, section 6)."""
    parts = (str(key).replace("~", "~0").replace("/", "~1") for key in keys)
    pointer = "".join(f"/{quote(part, safe=_UNRESERVED, errors='replace')}" for part in parts)
    return f"{place}#{pointer if len(pointer) <= _LONGEST_POINTER else pointer[:_LONGEST_POINTER] + '…'}"


def broken_rule(error: _Error) -> tuple[str, str]:
    """Put one error of a checker into words: the message and the fix."""
    rule, value = error.validator, error.validator_value
    if rule is None:
        return f"{shown(error.instance)} stands where nothing may stand", "leave it out"
    if rule in ("anyOf", "oneOf"):
        return _choice(error)
    message, fix = _TOLD.get(rule, ("{value} breaks the rule `{rule}: {wanted}`", "change it so that the rule holds"))
    named = {"value": shown(error.instance), "said": error.message, "rule": rule}
    types = value if isinstance(value, list) else [value]
    named["wanted"] = " or ".join(map(str, types)) if rule == "type" else _rule(value)
    return message.format(**named), fix.format(**named)


def shown(value: object) -> str:
    """Show a value in a sentence: a short one as JSON, a large one by its size."""
    if isinstance(value, dict):
        return "an object without keys" if not value else f"an object with {len(value):,} key{'s' * (len(value) > 1)}"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{json.dumps(value[:_LONGEST], ensure_ascii=False)}… ({len(value):,} characters)"
    return _cut(json.dumps(value, ensure_ascii=False), _LONGEST)


_TOLD: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "additionalProperties": ("the schema has no place for {said} (`{rule}`)", "leave it out"),
        "const": ("{value} is not the one allowed value", "give {wanted}"),
        "enum": ("{value} is none of the allowed values", "give one of {wanted}"),
        "not": ("{value} is what `not` forbids: {wanted}", "give another value"),
        "pattern": ("{value} does not match the pattern", "give a text that matches {wanted}"),
        "required": ("it lacks what the schema requires: {said}", "add it"),
        "type": ("{value} is not of type {wanted}", "give a value of type {wanted}"),
        "uniqueItems": ("the items {said} are equal, and all must differ (`uniqueItems`)", "remove one of them"),
    }
)
"""By rule, what is wrong and what to do."""


def _choice(error: _Error) -> tuple[str, str]:
    count = len(error.validator_value)
    if not error.context:
        message = f"{shown(error.instance)} fits more than one of the {count} schemas of `oneOf`"
        return message, "change it so that it fits exactly one"
    message = f"{shown(error.instance)} fits none of the {count} schemas of `{error.validator}`"
    nearest = _nearest(error)
    inner, fix = broken_rule(nearest)
    where = f"at `{fragment('', tuple(nearest.relative_path))}`, " if nearest.relative_path else ""
    return _cut(f"{message}; nearest to one: {where}{inner}", _LONGEST_MESSAGE), fix


def _nearest(error: _Error) -> _Error:
    """The first error of the alternative that the value is nearest to, and deepest inside it."""
    branches: dict[object, list[_Error]] = {}
    for inner in error.context:
        branches.setdefault(next(iter(inner.relative_schema_path), None), []).append(inner)
    nearest: list[_Error] = min(branches.values(), key=_distance)
    return max(nearest, key=lambda inner: len(inner.relative_path))


def _distance(errors: list[_Error]) -> tuple[bool, int, int, int]:
    """How far an alternative is: of another type (or none), of another kind (told by `const`, `enum`), more errors."""
    other_type = any(inner.validator in ("type", None) and not inner.relative_path for inner in errors)
    other_kind = sum(inner.validator in ("const", "enum") for inner in errors)
    return other_type, other_kind, len(errors), -max(len(inner.relative_path) for inner in errors)


def _rule(value: object) -> str:
    """A rule's value as JSON, cut; large ones are not written out to be cut."""
    if getattr(value, "weight", 0) > _RULES_SHOWN:
        return shown(value)
    return _cut(json.dumps(value, ensure_ascii=False), _RULES_SHOWN)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
