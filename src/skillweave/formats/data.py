"""Free JSON data inside a definition: metadata, unknown keys, schemas."""

import math
from collections.abc import Mapping

from skillweave.skill import Json

_DEEPEST = 64


def as_json(value: object, depth: int = 0) -> Json:
    """The value as plain JSON data, an unquoted YAML scalar as its text. Raises ValueError for what JSON has not."""
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


def holds_text_only(value: Json) -> bool:
    """Whether every scalar in the data is text, so that YAML without types carries it."""
    if isinstance(value, dict):
        return all(holds_text_only(item) for item in value.values())
    if isinstance(value, list):
        return all(holds_text_only(item) for item in value)
    return isinstance(value, str)
