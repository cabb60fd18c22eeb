"""YAML scalars: text until a field of another type asks (spec 1.2)."""

import math
import re
from collections.abc import Mapping
from typing import TypeAlias

Scalar: TypeAlias = "bool | int | float | str | None"

_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_LONGEST_NUMBER = 400


class Plain(str):
    """Text that stood unquoted in YAML, so that a field of another type may read it as a number or a truth value."""

    __slots__ = ()


def core_value(text: str) -> Scalar:
    """What an unquoted scalar is in the YAML 1.2 core schema: `no` and `1:30` are text, `true` and `1.0` are not.

    Numbers that JSON cannot carry (`.inf`, `.nan`, `1e999`) or that have more than 400 characters stay text.
    """
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    number = float(text) if _FLOAT.fullmatch(text) else math.nan
    return number if math.isfinite(number) else text


def resolved(value: object) -> object:
    """The same data, each unquoted scalar typed by the YAML 1.2 core schema; quoted ones stay text."""
    if isinstance(value, Plain):
        return core_value(str(value))
    if isinstance(value, Mapping):
        return {key: resolved(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item) for item in value]
    return value
