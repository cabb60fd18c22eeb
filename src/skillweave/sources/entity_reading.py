"""The data of entities and edges in one file: JSON, which is read whole, or CSV, which is read row by row (spec 6.1).

A cell of a CSV file holds any JSON, readable by people and harmless in a spreadsheet (decision 0039).
"""

import csv
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from enum import Enum
from typing import BinaryIO, TypeAlias

from skillweave.checking import shown
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.frontmatter.codes import FILE_TOO_LARGE, NOT_UTF8, Code
from skillweave.frontmatter.documents import read_json, refuse_constant
from skillweave.frontmatter.yaml_text import Limits, Tree
from skillweave.frozen import FrozenJson, Json, thaw
from skillweave.sources import codes
from skillweave.sources.files import Refused, open_real, read_real, refusal

MOST_FINDINGS = 1_000
"""So many findings are listed about one file."""
LARGEST_JSON = 64 * 1024 * 1024
"""Bytes of a JSON file of entities: it is read whole, and takes several times as much in memory."""
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
NODES, EDGES = "nodes", "edges"
Where: TypeAlias = int | str | None
"""The line of what is read in a CSV file, or its place in the data of a JSON file."""
_LIMITS = Limits(characters=LARGEST_JSON, nodes=20_000_000, depth=80)
_JSON_STARTS = frozenset('"[{-0123456789ntf')
_FORMULA = frozenset("=+-@＝＋－＠\t\r\n")
"""A spreadsheet program runs a cell that begins so, also after spaces."""


class Stopped(Refused):
    """A file that is not read from a line on."""

    def __init__(self, code: Code, line: int, why: str, fix: str) -> None:
        self.line = line
        super().__init__(code, why, fix)


class Found:
    """What is found in one file; `unread` are the findings for which the file, or the rest of it, is not read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.listed: list[Diagnostic] = []
        self.unread: list[Diagnostic] = []

    def add(self, code: Code, where: Where, message: str, fix: str) -> None:
        """Add a finding; of very many the first ones are listed."""
        if len(self.listed) == MOST_FINDINGS:
            code, where, message = codes.MORE_FINDINGS, None, "more findings are not listed"
            fix = "correct those that are listed, and read the file again"
        if len(self.listed) <= MOST_FINDINGS:
            self.listed.append(self._made(code, where, message, fix))

    def refused(self, code: Code, where: Where, message: str, fix: str) -> None:
        """Add a finding for which the file is not read: an error, whatever else the code is used for."""
        self.unread.append(replace(self._made(code, where, message, fix), severity=Severity.ERROR))

    def not_read(self, refused: Refused) -> None:
        """Add what was raised instead of reading the file, or the rest of it."""
        line = refused.line if isinstance(refused, Stopped) else None
        self.refused(refused.code, line, refused.why, refused.fix)

    def _made(self, code: Code, where: Where, message: str, fix: str) -> Diagnostic:
        place, said = (None, f"{where}: {message}") if isinstance(where, str) else (where, message)
        return code.found(Location(self.path, place), said, fix)


class JsonFile:
    """A JSON file with `nodes`, `edges`, and in `meta` the datum of what names none; read when this is made."""

    holds = None
    """Whether it has entities alone, or edges alone: neither."""

    def __init__(self, path: str, found: Found) -> None:
        self._found = found
        self._data = self._read(path)
        meta = self._data.get("meta")
        datum = meta.get("datum") if isinstance(meta, dict) else meta
        self.datum = datum if isinstance(meta, dict) and isinstance(datum, str) else None
        if datum is not None and self.datum is None:
            what, fix = "`meta` is no mapping, or its `datum` no text", 'write `"meta": {"datum": "NAD83"}`'
            found.add(codes.UNREAD_ENTITY_KEY, None, what, fix)
        for key in self._data:
            if key not in ("meta", NODES, EDGES):
                fix = "nothing, if it is for other programs; `meta`, `nodes` and `edges` are read"
                found.add(codes.UNREAD_GRAPH_KEY, None, f"key `{key[:60]}` is not read", fix)

    def items(self, kind: str) -> Iterator[tuple[Where, object]]:
        """Yield the data of each entity or edge with its place; `kind` is NODES or EDGES."""
        values = self._data.get(kind)
        for position, data in enumerate(values if isinstance(values, list) else ()):
            yield f"{kind}[{position}]", data

    def _read(self, path: str) -> dict[str, Tree]:
        try:
            data = read_real(path, LARGEST_JSON).data
            text = data.decode("utf-8-sig")
        except Refused as refused:
            self._found.not_read(refused)
            return {}
        except UnicodeDecodeError as error:
            self._found.not_read(_not_utf8(error, error.object.count(b"\n", 0, error.start) + 1))
            return {}
        document = read_json(text, path=self._found.path, limits=_LIMITS)
        for found in document.diagnostics:
            (self._found.unread if found.severity is Severity.ERROR else self._found.listed).append(found)
        if document.data is None:
            return {}
        if document.data.keys().isdisjoint((NODES, EDGES)):
            fix = 'write `{"nodes": [...], "edges": [...]}`'
            self._found.refused(codes.NO_ENTITIES, None, "neither `nodes` nor `edges` stands in it", fix)
        for key in (NODES, EDGES):
            if not isinstance(document.data.get(key, []), list):
                what = f"`{key}` is {shown(document.data[key])}, not a list"
                self._found.refused(codes.NO_ENTITIES, None, what, "write a list of mappings")
        return document.data


class CsvFile:
    """A CSV file of entities or of edges, told apart by its first line, which is read when this is made."""

    datum = None

    def __init__(self, path: str, found: Found) -> None:
        self._path = path
        self._found = found
        self.holds: str | None = None
        """NODES or EDGES, None for a file that cannot be read."""
        self._columns: Sequence[tuple[str, bool]] = ()
        with closing(self._rows()) as rows:
            for line, cells in rows:
                try:
                    self.holds, self._columns = _columns(line, cells)
                except Stopped as stopped:
                    found.not_read(stopped)
                return
        if not found.unread:
            fix = "begin it with the line `id,label` or `source,relation,target`, and names of properties"
            found.refused(codes.NO_ENTITIES, None, "it is empty", fix)

    def items(self, kind: str) -> Iterator[tuple[Where, object]]:
        """Yield the data of each entity or edge with its line; `kind` is NODES or EDGES."""
        if kind != self.holds:
            return
        rows = self._rows()
        next(rows, None)
        for line, row in rows:
            if len(row) == len(self._columns):
                yield line, self._data(row)
                continue
            message = f"the row has {len(row)} cells, and the first line names {len(self._columns)} columns"
            fix = "put cells that hold a comma in quotation marks, and leave empty ones empty"
            self._found.add(codes.BAD_ROW, line, message, fix)

    def _data(self, row: Sequence[str]) -> Mapping[str, object]:
        properties: dict[str, Json] = {}
        place: dict[str, object] = {}
        data: dict[str, object] = {"properties": properties}
        for (name, own), cell in zip(self._columns, row, strict=True):
            if not own:
                if (value := value_of(cell)) is not Empty.CELL:
                    properties[name] = value
            elif name in PLACE_COLUMNS:
                degrees = text_of(cell) if name == "datum" else value_of(cell)
                if degrees not in ("", Empty.CELL):
                    place[name] = degrees
            else:
                data[name] = texts_of(cell) if name == "aliases" else text_of(cell)
        # A datum alone is no place.
        return data | {"location": place} if place.keys() - {"datum"} else data

    def _rows(self) -> Generator[tuple[int, list[str]], None, None]:
        """Yield the rows that are not blank, each with the line on which it begins."""
        # The limit is one for the whole process; it is only ever raised, as others may have raised it.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        line = 1
        try:
            with open_real(self._path) as file:
                reader = csv.reader(_lines(file), strict=True)
                for row in reader:
                    if row:
                        yield line, row
                    line = reader.line_num + 1
        except csv.Error as error:
            why = f"the row that begins here is not CSV: {error}; nothing from here on is read"
            fix = "close every quotation mark, write one inside a cell twice, and end lines with LF or CR LF"
            self._found.refused(codes.BAD_ROW, line, why, fix)
        except OSError as error:
            self._found.not_read(refusal(error))
        except Refused as refused:
            self._found.not_read(refused)


def _columns(line: int, cells: Sequence[str]) -> tuple[str, Sequence[tuple[str, bool]]]:
    """What the rows are, and for each column its name and whether it is no property; raises Stopped."""
    names = [cell.strip().casefold() for cell in cells]
    own: set[str]
    if {"id", "label"} <= {*names}:
        kind, own = NODES, {*ENTITY_COLUMNS, *(PLACE_COLUMNS if {"latitude", "longitude"} <= {*names} else ())}
    elif {"source", "target"} <= {*names} and not {"relation", "type"}.isdisjoint(names):
        kind, own = EDGES, {"source", "target", "relation" if "relation" in names else "type"}
    else:
        told = ", ".join(repr(cell[:40]) for cell in cells[:8])
        why = f"its columns are {told}: neither those of entities nor those of edges"
        fix = "name `id` and `label`, or `source`, `relation` (or `type`) and `target`, with commas between them"
        raise Stopped(codes.BAD_COLUMNS, line, why, fix)
    columns = [
        (name, True)
        if name in own
        else (cell.removeprefix(PROPERTY) if cell.startswith(PROPERTY) else cell.strip(), False)
        for cell, name in zip(cells, names, strict=True)
    ]
    if "" in names:
        why = f"column {names.index('') + 1} has no name"
        raise Stopped(codes.BAD_COLUMNS, line, why, "name it, or take it out of every line")
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        why = f"column {twice[0][:60]!r} is there twice"
        raise Stopped(codes.BAD_COLUMNS, line, why, "give one of the two another name")
    return kind, columns


def _lines(file: BinaryIO) -> Iterator[str]:
    """Yield the lines with their ends; raises Stopped for one that is too long or not UTF-8."""
    number = 0
    while data := file.readline(LARGEST_LINE + 1):
        number += 1
        if len(data) > LARGEST_LINE:
            why = f"the line has more than {LARGEST_LINE >> 20} MiB"
            raise Stopped(FILE_TOO_LARGE, number, why, "is it CSV? Write one entity or edge on a line")
        try:
            # Spreadsheet programs begin a file with a mark, which says nothing.
            yield data.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(error, number) from None


def _not_utf8(error: UnicodeDecodeError, line: int) -> Stopped:
    why = f"byte {error.object[error.start]:#04x} is not UTF-8; nothing from here on is read"
    return Stopped(NOT_UTF8, line, why, "save the file as UTF-8")


class Empty(Enum):
    """What an empty cell says: there is no such property, which is not the same as null."""

    CELL = ""


def value_of(cell: str) -> Json | Empty:
    """Returns a cell's JSON, else its text; a number that would lose digits or has an exponent stays text."""
    text = cell.strip()
    if not text:
        return Empty.CELL
    if text[0] not in _JSON_STARTS:
        return cell
    try:
        value: Json = json.loads(text, object_pairs_hook=_once, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return cell
    if isinstance(value, int | float) and not isinstance(value, bool) and repr(value) != text:
        exact = isinstance(value, float) and "e" not in text.lower() and Decimal(text) == Decimal(repr(value))
        return value if exact else cell
    return value


def cell_of(value: FrozenJson) -> str:
    """Return the cell that says the value."""
    if isinstance(value, str) and value_of(value) == value and not is_formula(value):
        return value
    return json.dumps(thaw(value), ensure_ascii=False)


def text_of(cell: str) -> str:
    """Return the text that a cell says where only a text can stand; empty for an empty one."""
    text = cell.strip()
    value = value_of(text) if text.startswith('"') else text
    return value if isinstance(value, str) else text


def cell_of_text(text: str) -> str:
    """Return the cell that says the text where only a text can stand."""
    return json.dumps(text, ensure_ascii=False) if text_of(text) != text or is_formula(text) else text


def texts_of(cell: str) -> list[str]:
    """Return the texts in a cell, with a `|` between them, or as a list of JSON."""
    text = cell.strip()
    value = value_of(text) if text.startswith("[") else None
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return [str(one) for one in value]
    return [one for one in (part.strip() for part in text.split("|")) if one]


def cell_of_texts(texts: Sequence[str]) -> str:
    """Return the cell that says the texts."""
    joined = "|".join(texts)
    plain = texts_of(joined) == list(texts) and not is_formula(joined)
    return joined if plain else json.dumps(list(texts), ensure_ascii=False)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet program could take the text for something to carry out."""
    return text.lstrip(" ")[:1] in _FORMULA if text else False


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key twice")
    return found
