"""Values made of arrays as bytes, and back without copying: what is read lies where the bytes lie."""

import json
from array import array
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from skillweave.packed import Unpackable

ALIGNED = 64
"""Each array begins at a multiple of so many bytes, as vector instructions like it."""
_LENGTH = 8


def to_parts(value: object, classes: Sequence[type]) -> list[bytes | memoryview]:
    """The value as parts to be written one after the other; `classes` are the dataclasses that may occur.

    Their fields are numbers, texts, tuples of numbers, arrays, mappings of texts to 0, 1, 2 and so on in this order,
    and values of these classes. Raises Unpackable for anything else.
    """
    writer = _Writer({cls.__name__ for cls in classes})
    head = json.dumps(writer.write(value), separators=(",", ":")).encode()
    before = _LENGTH + len(head)
    return [len(head).to_bytes(_LENGTH, "little"), head, bytes(-before % ALIGNED), *writer.parts]


def from_content(content: memoryview, classes: Sequence[type]) -> Any:  # noqa: ANN401
    """The value of the written parts, whose arrays are views of the content; raises Unpackable for other content."""
    try:
        end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
        body = content[end + -end % ALIGNED :]
        return _read(json.loads(bytes(content[_LENGTH:end])), body, {cls.__name__: cls for cls in classes})
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unpackable(f"these are not written arrays: {error}") from error


class _Writer:
    def __init__(self, known: set[str]) -> None:
        self._known = known
        self.parts: list[bytes | memoryview] = []
        self._end = 0

    def write(self, value: object) -> object:
        if isinstance(value, bool | int | float | str) or value is None:
            return value
        if isinstance(value, np.ndarray):
            contiguous = np.ascontiguousarray(value)
            return ["array", contiguous.dtype.str, *value.shape, self._beside(contiguous.tobytes())]
        if isinstance(value, array | memoryview):
            code = value.typecode if isinstance(value, array) else value.format
            return ["numbers", code, self._beside(value.tobytes())]
        if isinstance(value, tuple):
            return ["tuple", *map(self.write, value)]
        if isinstance(value, dict):
            return ["numbered", len(value), self._beside(_joined(value))]
        name = type(value).__name__
        if not is_dataclass(value) or name not in self._known:
            raise Unpackable(f"a {name} cannot be written as arrays")
        return [name, {each.name: self.write(getattr(value, each.name)) for each in fields(value)}]

    def _beside(self, data: bytes) -> list[int]:
        start = self._end
        self.parts += (data, bytes(-len(data) % ALIGNED))
        self._end += len(data) + -len(data) % ALIGNED
        return [start, len(data)]


def _joined(numbered: dict[Any, Any]) -> bytes:
    if list(numbered.values()) != list(range(len(numbered))) or any("\n" in word for word in numbered):
        raise Unpackable("only texts of one line, numbered in their order, can be written")
    return "\n".join(numbered).encode("utf-8", "surrogatepass")


def _read(found: Any, body: memoryview, classes: dict[str, type]) -> Any:  # noqa: ANN401
    if not isinstance(found, list):
        return found
    kind = found[0]
    if kind == "tuple":
        return tuple(_read(each, body, classes) for each in found[1:])
    if kind in classes:
        return classes[kind](**{name: _read(each, body, classes) for name, each in found[1].items()})
    start, length = found[-1]
    data = body[start : start + length]
    if len(data) != length:
        raise ValueError("the content ends early")
    if kind == "array":
        return np.frombuffer(data, dtype=found[1]).reshape(found[2:-1])
    if kind == "numbers":
        return data.cast(found[1])
    if kind != "numbered":
        raise ValueError(f"{kind!r} is unknown")
    words = str(data, "utf-8", "surrogatepass").split("\n") if found[1] else []
    return dict(zip(words, range(found[1]), strict=True))
