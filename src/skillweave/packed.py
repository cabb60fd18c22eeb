"""Values of a few known classes as bytes that are read back quickly: JSON for what is short, long texts beside it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import partial
from typing import Any

from skillweave.frozen import EMPTY, FrozenDict

LONG = 160
"""Characters from which on a text stands beside the JSON: there it need not be parsed."""
_TUPLE, _TEXT, _FIRST = 0, 1, 2


class Unpackable(ValueError):
    """A value that cannot be packed, or bytes that no value was packed into."""


def pack(value: object, classes: Sequence[type]) -> tuple[bytes, bytes]:
    """The value as JSON and as the long texts that it refers to.

    Values are None, truth values, numbers, texts, tuples and mappings of values by texts, enums, and dataclasses whose
    fields are their arguments; `classes` are those that may occur. Raises Unpackable for anything else.
    """
    texts: list[bytes] = []
    written = _Writer({cls: number for number, cls in enumerate(classes, _FIRST)}, texts).write(value)
    return json.dumps(written, ensure_ascii=True, separators=(",", ":")).encode(), b"".join(texts)


def unpack(data: bytes | memoryview, texts: bytes | memoryview, classes: Sequence[type]) -> Any:  # noqa: ANN401
    """The value that was packed with the same classes in the same order; raises Unpackable for other data."""
    makers: list[Callable[..., Any]] = [lambda *items: items, partial(_text, texts), *classes]

    def read(found: list[Any]) -> Any:  # noqa: ANN401
        maker = makers[found[0]]
        return maker(*[read(one) if type(one) is list else one for one in found[1:]])

    try:
        return read([_TUPLE, json.loads(bytes(data), object_hook=_frozen(read))])[0]
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise Unpackable(f"this is not a packed value: {error}") from error


class _Writer:
    def __init__(self, numbers: Mapping[type, int], texts: list[bytes]) -> None:
        self._numbers = numbers
        self._texts = texts
        self._end = 0
        self._fields: dict[type, list[str]] = {}

    def write(self, value: object) -> object:
        if isinstance(value, Enum):
            return [self._number(type(value)), value.value]
        if isinstance(value, str):
            return value if len(value) < LONG else self._beside(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, tuple):
            return [_TUPLE, *map(self.write, value)]
        if isinstance(value, Mapping):
            return {self._key(key): self.write(item) for key, item in value.items()}
        if not is_dataclass(value):
            raise Unpackable(f"a {type(value).__name__} cannot be packed")
        names = self._fields.setdefault(type(value), [field.name for field in fields(value)])
        return [self._number(type(value)), *(self.write(getattr(value, name)) for name in names)]

    def _beside(self, text: str) -> list[int]:
        data = text.encode("utf-8", "surrogatepass")
        self._texts.append(data)
        start, self._end = self._end, self._end + len(data)
        return [_TEXT, start, self._end]

    def _number(self, cls: type) -> int:
        if cls not in self._numbers:
            raise Unpackable(f"a {cls.__name__} cannot be packed")
        return self._numbers[cls]

    def _key(self, key: object) -> str:
        if not isinstance(key, str):
            raise Unpackable(f"the key {key!r} is not text")
        return key


def _text(texts: bytes | memoryview, start: int, end: int) -> str:
    return str(texts[start:end], "utf-8", "surrogatepass")


def _frozen(read: Callable[[list[Any]], Any]) -> Callable[[dict[str, Any]], Mapping[str, Any]]:
    def freeze(found: dict[str, Any]) -> Mapping[str, Any]:
        if not found:
            return EMPTY
        return FrozenDict((key, read(item) if type(item) is list else item) for key, item in found.items())

    return freeze
