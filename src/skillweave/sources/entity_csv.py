"""Entities in one CSV file and edges in another, read row by row, so that a million of them need no memory at once."""

import csv
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from skillweave.frontmatter.codes import FILE_TOO_LARGE, NOT_UTF8, Code
from skillweave.knowledge.entity import Edge, Entity
from skillweave.skill import Json
from skillweave.sources import codes
from skillweave.sources.entity_cells import Empty, text_of, texts_of, value_of
from skillweave.sources.entity_data import LineOf, PieceReader, PropertyRoles, Reported
from skillweave.sources.files import Refused, open_real, refusal

if TYPE_CHECKING:
    from _csv import Reader

Piece = TypeVar("Piece", Entity, Edge)

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

    def __init__(self, path: str, found: Reported, roles: PropertyRoles) -> None:
        self._path = path
        self._found = found
        self._pieces = PieceReader(found, roles)
        self._columns = self._header()

    @property
    def of_entities(self) -> bool | None:
        """Whether it holds entities, or else edges; None where it cannot be read."""
        return self._columns.of_entities if self._columns else None

    def entities(self) -> Iterator[tuple[LineOf, Entity]]:
        """The entities, each with its line."""
        columns = self._columns
        if columns is None or not columns.of_entities:
            return iter(())
        return self._pieces_of(columns, self._pieces.entity, _entity_data)

    def edges(self) -> Iterator[tuple[LineOf, Edge]]:
        """The edges, each with its line."""
        columns = self._columns
        if columns is None or columns.of_entities:
            return iter(())
        return self._pieces_of(columns, self._pieces.edge, _edge_data)

    def _pieces_of(
        self,
        columns: Columns,
        read: Callable[[object, LineOf], Piece | None],
        data_of: Callable[[Sequence[str], Columns], Mapping[str, object]],
    ) -> Iterator[tuple[LineOf, Piece]]:
        rows = self._rows()
        next(rows, None)
        for number, row in rows:
            line = _always(number)
            if len(row) != columns.number:
                message = f"the row has {len(row)} cells, and the first line names {columns.number} columns"
                fix = "put cells that hold a comma in quotation marks, and leave empty ones empty"
                self._found.add(codes.BAD_ROW, number, message, fix)
                continue
            piece = read(data_of(row, columns), line)
            if piece is not None:
                yield line, piece

    def _header(self) -> Columns | None:
        with closing(self._rows()) as rows:
            first = next(rows, None)
        if first is None:
            if not self._found.has_errors:
                fix = "begin it with the line `id,label` or `source,relation,target`, and names of properties"
                self._found.refused(codes.NO_ENTITIES, None, "it is empty", fix)
            return None
        number, cells = first
        try:
            return columns_of(cells)
        except _BadColumns as bad:
            self._found.refused(codes.BAD_COLUMNS, number, bad.why, bad.fix)
            return None

    def _rows(self) -> Generator[tuple[int, list[str]], None, None]:
        """The rows that are not blank, each with the line on which it begins."""
        # The limit is one for the whole process; it is only ever raised, as others may have raised it.
        csv.field_size_limit(max(csv.field_size_limit(), LARGEST_CELL))
        try:
            with open_real(self._path) as file:
                yield from self._rows_of(csv.reader(_lines(file), strict=True))
        except OSError as error:
            refused = refusal(error)
            self._found.refused(refused.code, None, refused.why, refused.fix)
        except Refused as refused:
            self._found.refused(refused.code, None, refused.why, refused.fix)
        except _Unread as unread:
            self._found.refused(unread.code, unread.line, unread.why, unread.fix)

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
                    raise _Unread(codes.BAD_ROW, line, f"{why}; nothing from here on is read", fix) from None
                self._found.add(codes.BAD_ROW, line, why, fix)
                continue
            if row is None:
                return
            if row:
                named = True
                yield line, row


class _Unread(Exception):
    def __init__(self, code: Code, line: int, why: str, fix: str) -> None:
        self.code, self.line, self.why, self.fix = code, line, why, fix
        super().__init__(why)


class _BadColumns(Exception):
    def __init__(self, why: str, fix: str) -> None:
        self.why, self.fix = why, fix
        super().__init__(why)


def columns_of(cells: Sequence[str]) -> Columns:
    """What the first line says; raises _BadColumns where it names neither entities nor edges, or a column twice."""
    names = [cell.strip().casefold() for cell in cells]
    if {"id", "label"} <= {*names}:
        own = {*ENTITY_COLUMNS, *(PLACE_COLUMNS if {"latitude", "longitude"} <= {*names} else ())}
    elif {"source", "target"} <= {*names} and not {*_RELATION}.isdisjoint(names):
        own = {"source", "target", next(name for name in _RELATION if name in names)}
    else:
        other = next((sign for sign in _OTHER_SIGNS if len(cells) == 1 and sign in cells[0]), None)
        named = ", ".join(repr(cell[:40]) for cell in cells[:8])
        raise _BadColumns(
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
            raise _BadColumns(f"column {place + 1} has no name", "name it, or take it out of every line")
        if name in places or (name not in own and key in (known for _, known in properties)):
            raise _BadColumns(f"column {key[:60]!r} is there twice", "give one of the two another name")
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
    """The lines with their ends; raises _Unread for one that is too long or not UTF-8."""
    number = 0
    while data := file.readline(LARGEST_LINE + 1):
        number += 1
        if number == 1:
            # Spreadsheet programs begin a file so; it says nothing that UTF-8 does not.
            data = data.removeprefix(_BOM)
        if len(data) > LARGEST_LINE:
            why = f"the line has more than {LARGEST_LINE >> 20} MiB"
            raise _Unread(FILE_TOO_LARGE, number, why, "is it CSV? Write one entity or edge on a line")
        try:
            yield data.decode()
        except UnicodeDecodeError as error:
            why = f"byte {data[error.start]:#04x} is not UTF-8; nothing from here on is read"
            raise _Unread(NOT_UTF8, number, why, "save the file as UTF-8") from None
