"""What stands in a cell of a CSV file: any JSON, readable by people, and harmless in a spreadsheet (decision 0080)."""

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from math import isfinite

from skillweave.frontmatter.documents import refuse_constant
from skillweave.frozen import FrozenJson, Json, thaw

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,4000}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,400})\.[0-9]{1,400}", re.ASCII)
_WORDS: Mapping[str, Json] = {"null": None, "true": True, "false": False}
_FORMULA = frozenset("=+-@＝＋－＠\t\r\n")
"""A spreadsheet program runs a cell that begins so, also after spaces."""


class Empty(Enum):
    """What an empty cell says: there is no such property, which is not the same as null."""

    CELL = ""


def value_of(cell: str) -> Json | Empty:
    """What a cell says.

    It is JSON where it is a word of JSON, a number, or begins like a text, list or object of JSON and is one; anything
    else is the text itself. Digits with a zero before them are no number in JSON, and stay as they are; so does a
    number that would lose digits.
    """
    text = cell.strip()
    if not text:
        return Empty.CELL
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in '"[{':
        parsed = _parsed(text)
        return cell if parsed is Empty.CELL else parsed
    if text[0].isdigit() or text[0] == "-":
        number = _number(text)
        return cell if number is None else number
    return cell


def cell_of(value: FrozenJson) -> str:
    """The cell that says the value."""
    if isinstance(value, str):
        return _written(value) if value_of(value) != value or is_formula(value) else value
    return _written(thaw(value))


def text_of(cell: str) -> str:
    """The text that a cell says where only a text can stand; empty for an empty one."""
    text = cell.strip()
    if text.startswith('"'):
        parsed = _parsed(text)
        if isinstance(parsed, str):
            return parsed
    return text


def cell_of_text(text: str) -> str:
    """The cell that says the text where only a text can stand."""
    return _written(text) if text_of(text) != text or is_formula(text) else text


def texts_of(cell: str) -> list[str]:
    """The texts in a cell, with a `|` between them, or as a list of JSON."""
    text = cell.strip()
    if text.startswith("["):
        parsed = _parsed(text)
        if isinstance(parsed, list) and all(isinstance(one, str) for one in parsed):
            return [str(one) for one in parsed]
    return [one for one in (part.strip() for part in text.split("|")) if one]


def cell_of_texts(texts: Sequence[str]) -> str:
    """The cell that says the texts."""
    joined = "|".join(texts)
    return _written(list(texts)) if texts_of(joined) != list(texts) or is_formula(joined) else joined


def is_formula(text: str) -> bool:
    """Whether a spreadsheet program could take the text for something to carry out."""
    return text.lstrip(" ")[:1] in _FORMULA if text else False


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _parsed(text: str) -> Json | Empty:
    """The JSON, or `Empty.CELL` for what is none."""
    try:
        found: Json = json.loads(text, object_pairs_hook=_once, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return Empty.CELL
    return found


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found


def _number(text: str) -> int | float | None:
    if _WHOLE.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    # With an exponent only as it is written here: 1E5 may well be the number of a part.
    if not isfinite(number):
        return None
    if repr(number) == text:
        return number
    return number if _DECIMAL.fullmatch(text) and Decimal(repr(number)) == Decimal(text) else None
