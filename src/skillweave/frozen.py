"""JSON data: plain while it is read and written, unchangeable inside values."""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ForwardRef, Never, NoReturn, Self, TypeAlias, TypeVar

K = TypeVar("K")
V = TypeVar("V")

if TYPE_CHECKING:
    Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
    FrozenJson: TypeAlias = "bool | int | float | str | tuple[FrozenJson, ...] | Mapping[str, FrozenJson] | None"
else:
    # Names that a type has inside itself are looked up here, wherever the type hints are read.
    _inner = partial(ForwardRef, module=__name__)
    Json = bool | int | float | str | _inner("list[Json]") | _inner("dict[str, Json]") | None
    FrozenJson = bool | int | float | str | _inner("tuple[FrozenJson, ...]") | _inner("Mapping[str, FrozenJson]") | None
"""Plain JSON data, mutable, is what readers produce and `to_*` functions return; frozen, its lists are tuples and its
objects read-only mappings."""

_DEEPEST = 64


class FrozenDict(dict[K, V]):
    """A dict that refuses changes; unlike a `mappingproxy` it can be pickled, copied and hashed.

    It is as fast to read as a dict. Every change raises TypeError; `{**frozen, "key": value}` makes a changed dict.
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping cannot be changed; make a new one with {**mapping, key: value}")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __copy__(self) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[dict[K, V]]]:
        return type(self), (dict(self),)


EMPTY: Mapping[Any, Never] = FrozenDict()
"""The mapping of nothing, a default of many fields."""


def freeze(value: Json) -> FrozenJson:
    """JSON data that is unchangeable at every depth."""
    if isinstance(value, dict):
        return freeze_mapping(value)
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


def freeze_mapping(value: Mapping[str, Json]) -> Mapping[str, FrozenJson]:
    """A JSON object, unchangeable at every depth."""
    return FrozenDict((key, freeze(item)) for key, item in value.items()) if value else EMPTY


def thaw(value: FrozenJson) -> Json:
    """Plain mutable JSON data again: the inverse of `freeze`."""
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    return value


def as_json(value: object, depth: int = 0) -> Json:
    """The value as plain JSON data, a text of a subclass as its text. Raises ValueError for what JSON has not."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if depth == _DEEPEST:
        raise ValueError(f"data nested deeper than {_DEEPEST}")
    if isinstance(value, Mapping):
        return {_key(key): as_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item, depth + 1) for item in value]
    what = value if isinstance(value, float) else f"a value of type {type(value).__name__}"
    raise ValueError(f"{what}, which JSON does not have")


def _key(key: object) -> str:
    if isinstance(key, str):
        return str(key)
    raise ValueError(f"a key of type {type(key).__name__}")
