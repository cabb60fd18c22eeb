"""JSON data as both databases hold it: what they cannot hold is refused, and every number comes back as it was."""

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from skillweave.errors import InvalidSkill
from skillweave.skills import digest_of, dotted
from skillweave.values import Json, Keys

_DEEPEST = 100
_LONGEST_WHOLE = 13_000
"""Bits of a whole number: Python reads back up to 4,300 digits."""
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_OWN = "x-skillweave"
"""The key of a definition under which our own fields stand."""
_UNHELD = re.compile("[\0\ud800-\udfff]")


def storable(data: object, keys: Keys = ()) -> Any:  # noqa: ANN401 - JSON data of any shape
    """The data with `0.0` for `-0.0`, between which databases make no difference.

    Raises InvalidSkill for what one of the databases does not hold as JSON, naming the place and what to do.
    """
    if isinstance(data, str):
        return _text(data, keys)
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, int):
        if data.bit_length() > _LONGEST_WHOLE:
            raise _refused(keys, "is a number of more than 3,900 digits", "write it as text")
        return data
    if isinstance(data, float):
        if not math.isfinite(data):
            raise _refused(keys, f"is {data}, which JSON does not have", "write another number, or text")
        return data + 0.0
    if len(keys) > _DEEPEST:
        raise _refused(keys, f"is nested deeper than {_DEEPEST} levels", "write it flatter")
    if isinstance(data, Mapping):
        return {_text(key, keys): storable(value, (*keys, key)) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [storable(value, (*keys, index)) for index, value in enumerate(data)]
    raise _refused(keys, f"is of type {type(data).__name__}, which JSON does not have", "write text, numbers and lists")


def is_storable_text(text: str) -> bool:
    """Whether every database can hold the text; what it cannot hold is not there to be found."""
    return _UNHELD.search(text) is None


def held_text(text: str) -> str:
    """The text with a sign in place of each character that a database cannot hold."""
    return _UNHELD.sub(REPLACEMENT, text)


def json_text(data: Json) -> str:
    """The JSON text of storable data.

    PostgreSQL keeps numbers as decimals, so that `1e+23` would come back as a whole number, and as another one.
    """
    if isinstance(data, float) and data.is_integer():
        digits = f"{Decimal(repr(data)):f}"
        return digits if "." in digits else f"{digits}.0"
    if isinstance(data, dict):
        return f"{{{','.join(f'{json.dumps(key)}:{json_text(value)}' for key, value in data.items())}}}"
    if isinstance(data, list):
        return f"[{','.join(map(json_text, data))}]"
    return json.dumps(data)


def definition_hash_of(manifest: object, definition: object) -> str:
    """SHA-256 hex by which a definition is known that somebody changed in its table. Raises InvalidSkill."""
    if isinstance(definition, dict) and isinstance(own := definition.get(_OWN), dict) and "phrases" in own:
        # They stand beside the text: with other phrases it is another version, and what was given of it still holds.
        rest = {key: value for key, value in own.items() if key != "phrases"}
        definition = {key: rest if key == _OWN else each for key, each in definition.items() if key != _OWN or rest}
    return digest_of({"manifest": manifest, "definition": definition})


def _text(text: object, keys: Keys) -> str:
    if not isinstance(text, str):
        raise _refused(keys, f"has a key of type {type(text).__name__}", "write texts as keys")
    found = _UNHELD.search(text)
    if found:
        what = "the character NUL" if found.group() == "\0" else "half of a surrogate pair, which is not text,"
        raise _refused(keys, f"holds {what} at position {found.start()}, which a database does not keep", "remove it")
    return str(text)


def _refused(keys: Keys, what: str, fix: str) -> InvalidSkill:
    return InvalidSkill(f"`{_UNHELD.sub(REPLACEMENT, dotted(keys))}` {what}; {fix}")
