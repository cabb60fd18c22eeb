"""Entities in one CSV file and edges in another, read row by row, so that a million of them need no memory at once.

A cell holds any JSON, readable by people and harmless in a spreadsheet (decision 0080).
"""

import csv
import json
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, BinaryIO

from skillweave.frontmatter.codes import FILE_TOO_LARGE, NOT_UTF8
from skillweave.frontmatter.documents import refuse_constant
from skillweave.frozen import FrozenJson, Json, thaw
from skillweave.sources import codes
from skillweave.sources.entity_data import LineOf, Reported, Unread
from skillweave.sources.files import Refused, open_real, refusal

if TYPE_CHECKING:
    from _csv import Reader

LARGEST_CELL = 8 * 1024 * 1024
"""Characters of one cell: what a quotation mark that is never closed takes with it ends here."""
LARGEST_LINE = 5 * LARGEST_CELL
"""Bytes of one line."""
PROPERTY = "properties."
"""What stands before the name of a property that would be taken for another column."""
ENTITY_COLUMNS = ("id", "label", "aliases")
PLACE_COLUMNS = ("latitude", "longitude", "datum")
"""These three are a location where both of the first two are there."""
EDGE_COLUMNS = ("source", "relation", "target")
_RELATION = ("relation", "type")
_SWALLOWED = ("unexpected end of data", "field larger than field limit")
"""How the reader's words begin where a cell does not end."""
_OLD_BREAK = "new-line character seen"
"""How the reader's words begin where CR stands alone, as it ended lines on other machines."""
_OTHER_SIGNS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What some programs write between columns."""
_BOM = b"\xef\xbb\xbf"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,4000}", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,400})\.[0-9]{1,400}", re.ASCII)
_WORDS: Mapping[str, Json] = {"null": None, "true": True, "false": False}
_FORMULA = frozenset("=+-@＝＋－＠\t\r\n")
"""A spreadsheet program runs a cell that begins so, also after spaces."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns stand that every row has, by their names, and the properties that the others are."""

    own: Mapping[str, int]
    properties: Sequence[tuple[int, str]]
    number: int

    @property
    def of_entities(self) -> bool:
        """Whether the rows are entities and not edges."""
        return "id" in self.own


class CsvFile:
    """One file of entities or of edges, told apart by its first line, which is read when this is made."""

    datum = None
    """What degrees are measured in where no cell says it: nothing."""

    def __init__(self, path: str, found: Reported) -> None:
        self._path = path
        self._found = found
        self._columns = self._header()

    @property
    def of_entities(self) -> bool | None:
        """Whether it holds entities, or else edges; None where it cannot be read."""
        return self._columns.of_entities if self._columns else None

    def nodes(self) -> Iterator[tuple[LineOf, object]]:
        """The data of the entities, each with its line."""
        return self._items(of_entities=True)

    def edges(self) -> Iterator[tuple[LineOf, object]]:
        """The data of the edges, each with its line."""
        return self._items(of_entities=False)

    def _items(self, *, of_entities: bool) -> Iterator[tuple[LineOf, object]]:
        columns = self._columns
        if columns is None or columns.of_entities is not of_entities:
            return
        data_of = _entity_data if of_entities else _edge_data
        rows = self._rows()
        next(rows, None)
        for number, row in rows:
            if len(row) != columns.number:
                message = f"the row has {len(row)} cells, and the first line names {columns.number} columns"
                fix = "put cells that hold a comma in quotation marks, and leave empty ones empty"
                self._found.add(codes.BAD_ROW, number, message, fix)
            else:
                yield _always(number), data_of(row, columns)

    def _header(self) -> Columns | None:
        with closing(self._rows()) as rows:
            first = next(rows, None)
        if first is None:
            if not self._found.has_errors:
                fix = "begin it with the line `id,label` or `source,relation,target`, and names of properties"
                self._found.refused(codes.NO_ENTITIES, None, "it is empty", fix)
            return None
        try:
            return columns_of(*first)
        except Unread as unread:
            self._found.not_read(unread)
            return None

    def _rows(self) -> Generator[tuple[int, list[str]], None, None]:
        """The rows that are not blank, each with the line on which it begins."""
        # The limit is one for the whole process; it is only ever raised, as others may have raised it.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        try:
            with open_real(self._path) as file:
                yield from self._rows_of(csv.reader(_lines(file), strict=True))
        except OSError as error:
            self._found.not_read(refusal(error))
        except Refused as refused:
            self._found.not_read(refused)

    def _rows_of(self, reader: "Reader") -> Iterator[tuple[int, list[str]]]:
        named = False
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                fix = "close every quotation mark, and write one inside a cell twice"
                why = f"the row that begins here is not CSV: {error}"
                if str(error).startswith(_OLD_BREAK):
                    fix = "save the file with the line breaks LF or CR LF, or put the cell in quotation marks"
                    why = "a line break of CR alone stands in the row that begins here"
                if not named or str(error).startswith(_SWALLOWED):
                    # A quotation mark that is never closed takes the rows after it along: how many nobody can tell.
                    raise Unread(codes.BAD_ROW, line, f"{why}; nothing from here on is read", fix) from None
                self._found.add(codes.BAD_ROW, line, why, fix)
                continue
            if row is None:
                return
            if row:
                named = True
                yield line, row


def columns_of(line: int, cells: Sequence[str]) -> Columns:
    """What the first line says; raises Unread where it names neither entities nor edges, or a column twice."""
    names = [cell.strip().casefold() for cell in cells]
    if {"id", "label"} <= {*names}:
        own = {*ENTITY_COLUMNS, *(PLACE_COLUMNS if {"latitude", "longitude"} <= {*names} else ())}
    elif {"source", "target"} <= {*names} and not {*_RELATION}.isdisjoint(names):
        own = {"source", "target", next(name for name in _RELATION if name in names)}
    else:
        other = next((sign for sign in _OTHER_SIGNS if len(cells) == 1 and sign in cells[0]), None)
        named = ", ".join(repr(cell[:40]) for cell in cells[:8])
        raise Unread(
            codes.BAD_COLUMNS,
            line,
            f"its columns are {named}: neither those of entities nor those of edges",
            "name `id` and `label`, or `source`, `relation` (or `type`) and `target`, in the first line"
            if other is None
            else f"put commas between the columns, where {_OTHER_SIGNS[other]} stand now",
        )
    places: dict[str, int] = {}
    properties: list[tuple[int, str]] = []
    for place, (cell, name) in enumerate(zip(cells, names, strict=True)):
        key = cell.removeprefix(PROPERTY) if cell.startswith(PROPERTY) else cell.strip()
        if not name:
            raise Unread(
                codes.BAD_COLUMNS, line, f"column {place + 1} has no name", "name it, or take it out of every line"
            )
        if name in places or (name not in own and key in (known for _, known in properties)):
            raise Unread(
                codes.BAD_COLUMNS, line, f"column {key[:60]!r} is there twice", "give one of the two another name"
            )
        if name in own:
            places[name] = place
        else:
            properties.append((place, key))
    return Columns(places, properties, len(cells))


def _entity_data(row: Sequence[str], columns: Columns) -> Mapping[str, object]:
    own = columns.own
    data: dict[str, object] = {
        "id": text_of(row[own["id"]]),
        "label": text_of(row[own["label"]]),
        "properties": _properties(row, columns),
    }
    if "aliases" in own:
        data["aliases"] = texts_of(row[own["aliases"]])
    degrees = {
        key: value for key in PLACE_COLUMNS[:2] if key in own and (value := value_of(row[own[key]])) is not Empty.CELL
    }
    if degrees:
        datum = text_of(row[own["datum"]]) if "datum" in own else ""
        data["location"] = {**degrees, "datum": datum} if datum else degrees
    return data


def _edge_data(row: Sequence[str], columns: Columns) -> Mapping[str, object]:
    own = columns.own
    return {
        "source": text_of(row[own["source"]]),
        "relation": text_of(row[own[next(name for name in _RELATION if name in own)]]),
        "target": text_of(row[own["target"]]),
        "properties": _properties(row, columns),
    }


def _properties(row: Sequence[str], columns: Columns) -> dict[str, Json]:
    return {key: value for place, key in columns.properties if (value := value_of(row[place])) is not Empty.CELL}


def _always(number: int) -> LineOf:
    return lambda: number


def _lines(file: BinaryIO) -> Iterator[str]:
    """The lines with their ends; raises Unread for one that is too long or not UTF-8."""
    number = 0
    while data := file.readline(LARGEST_LINE + 1):
        number += 1
        if number == 1:
            # Spreadsheet programs begin a file so; it says nothing that UTF-8 does not.
            data = data.removeprefix(_BOM)
        if len(data) > LARGEST_LINE:
            why = f"the line has more than {LARGEST_LINE >> 20} MiB"
            raise Unread(FILE_TOO_LARGE, number, why, "is it CSV? Write one entity or edge on a line")
        try:
            yield data.decode()
        except UnicodeDecodeError as error:
            why = f"byte {data[error.start]:#04x} is not UTF-8; nothing from here on is read"
            raise Unread(NOT_UTF8, number, why, "save the file as UTF-8") from None


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
