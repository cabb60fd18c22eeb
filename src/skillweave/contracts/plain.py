"""Plain JSON data out of any value: copied once, with limits, so that what follows can be trusted to be finite."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillweave.contracts import codes
from skillweave.frontmatter.codes import Code

_MOST_DIGITS = 300
"""A number stays below the largest float, so that no comparison of numbers can overflow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many values, how many levels of lists and objects, and how many characters of text are read."""

    values: int
    depth: int
    characters: int


VALUE_LIMITS = Limits(values=50_000, depth=64, characters=1 << 20)
SCHEMA_LIMITS = Limits(values=20_000, depth=64, characters=1 << 20)


class NotPlain(ValueError):
    """A value that is not JSON data, or too much of it; `keys` lead to the place."""

    def __init__(self, code: Code, keys: tuple[str | int, ...], why: str, fix: str) -> None:
        self.code = code
        self.keys = keys
        self.why = why
        self.fix = fix
        super().__init__(why)


class JsonList(list[Any]):
    """A list with a short `repr`, as checkers write many; `weight` counts the values in it at every depth."""

    __slots__ = ("weight",)
    weight: int

    def __repr__(self) -> str:
        return f"<a list of {len(self)}>"


class JsonObject(dict[str, Any]):
    """An object with a short `repr`, and its `weight`."""

    __slots__ = ("weight",)
    weight: int

    def __repr__(self) -> str:
        return f"<an object with {len(self)} keys>"


def plain(value: object, limits: Limits, too_large: Code = codes.VALUE_TOO_LARGE) -> Any:  # noqa: ANN401 - JSON data
    """The value as JSON data of exactly the JSON types; tuples become lists. Raises NotPlain."""
    return _Copying(limits, too_large).copy(value)


@dataclass(slots=True)
class _Copying:
    limits: Limits
    too_large: Code
    values: int = 0
    characters: int = 0
    keys: list[str | int] = field(default_factory=list)

    def copy(self, value: object) -> Any:  # noqa: ANN401
        self.values += 1
        if self.values > self.limits.values:
            raise self._excess(f"it has more than {self.limits.values:,} values", "shorten it, or check it in parts")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int | float):
            return self._number(value)
        if isinstance(value, list | tuple):
            return self._list(value)
        if isinstance(value, Mapping):
            return self._object(value)
        raise self._no_json(f"a {type(value).__name__} is not JSON data", "turn it into JSON data before it is checked")

    def _list(self, value: list[object] | tuple[object, ...]) -> JsonList:
        copied, before = JsonList(), self.values
        for position, item in enumerate(value):
            copied.append(self._below(position, item))
        copied.weight = 1 + self.values - before
        return copied

    def _object(self, value: Mapping[Any, object]) -> JsonObject:
        copied, before = JsonObject(), self.values
        for key, item in value.items():
            if not isinstance(key, str):
                raise self._no_json(f"the key {str(key)[:40]!r} is not text", "give every key of an object as text")
            copied[self._text(key)] = self._below(key, item)
        copied.weight = 1 + self.values - before
        return copied

    def _below(self, key: str | int, item: object) -> Any:  # noqa: ANN401
        self.keys.append(key)
        if len(self.keys) > self.limits.depth:
            raise self._excess(f"it is nested more than {self.limits.depth} levels deep", "flatten it")
        copied = self.copy(item)
        self.keys.pop()
        return copied

    def _text(self, value: str) -> str:
        self.characters += len(value)
        if self.characters > self.limits.characters:
            limit = self.limits.characters
            raise self._excess(f"it has more than {limit:,} characters of text", "shorten it, or check it in parts")
        if not value.isascii() and _has_surrogates(value):
            raise self._no_json("a text in it is not valid Unicode", "remove the lone surrogate")
        return str.__str__(value)

    def _number(self, value: int | float) -> int | float:
        if isinstance(value, float):
            if not math.isfinite(value):
                raise self._no_json(f"{value} is not a JSON number", "give a finite number, or null")
            return float(value)
        if abs(value) >= 10**_MOST_DIGITS:
            raise self._excess(f"a number in it has more than {_MOST_DIGITS} digits", "give it as text")
        return int(value)

    def _no_json(self, why: str, fix: str) -> NotPlain:
        return NotPlain(codes.NOT_JSON, tuple(self.keys), why, fix)

    def _excess(self, why: str, fix: str) -> NotPlain:
        return NotPlain(self.too_large, tuple(self.keys), why, fix)


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
