"""A whole graph into files, JSON or CSV, that give equal entities and edges when they are read (spec 6.1)."""

import csv
import json
import os
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias, cast

from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import Entity, Piece, WritableGraph
from skillweave.sources.entity_reading import (
    EDGE_COLUMNS,
    ENTITY_COLUMNS,
    LARGEST_CELL,
    LARGEST_JSON,
    PLACE_COLUMNS,
    PROPERTY,
    cell_of,
    cell_of_text,
    cell_of_texts,
    is_formula,
)
from skillweave.sources.names import expanded, quoted

PathLike: TypeAlias = "str | os.PathLike[str]"
_Data: TypeAlias = dict[str, Any]
"""An entity or edge as it stands in a JSON file."""


@dataclass(frozen=True, slots=True)
class Written:
    """How many entities and edges were written."""

    entities: int
    edges: int


async def write_json(graph: WritableGraph, path: PathLike) -> Written:
    """Writes the graph as one JSON file, whole or not at all; raises InvalidValue, and what `export` raises."""
    with ExitStack() as stack:
        kept = await _kept(graph, stack)
        if kept.size + 100 > LARGEST_JSON:
            most = LARGEST_JSON >> 20
            raise InvalidValue(
                f"{quoted(os.fspath(path))} would be larger than {most} MiB and could not be read; write two CSV files"
            )
        with _replacing(path) as file:
            file.write('{"nodes": [')
            file.writelines(_listed(kept.entities))
            file.write('\n],\n"edges": [')
            file.writelines(_listed(kept.edges))
            file.write("\n]}\n")
        return kept.written


async def write_csv(graph: WritableGraph, entities: PathLike, edges: PathLike) -> Written:
    """Writes CSV files of entities and edges, whole or not at all; formulas are quoted. Raises like `write_json`."""
    if _target(entities) == _target(edges):
        name = quoted(os.fspath(edges))
        raise InvalidValue(f"{name} is named for the entities and for the edges; name two files, one for each")
    with ExitStack() as stack:
        kept = await _kept(graph, stack)
        with _replacing(entities) as of_entities, _replacing(edges) as of_edges:
            own = ENTITY_COLUMNS + (PLACE_COLUMNS if kept.located else ())
            _write_rows(of_entities, own, kept.entity_keys, kept.entities)
            _write_rows(of_edges, EDGE_COLUMNS, kept.edge_keys, kept.edges)
        return kept.written


class _Kept:
    """What a graph holds, read once into temporary files of JSON lines, with the names of all properties."""

    def __init__(self, stack: ExitStack) -> None:
        self.entities, self.edges = (
            stack.enter_context(TemporaryFile("w+", encoding="utf-8", newline="\n"))  # noqa: SIM115 - the stack closes it
            for _ in range(2)
        )
        self.entity_keys: dict[str, None] = {}
        self.edge_keys: dict[str, None] = {}
        self._ids: set[str] = set()
        self._counts = [0, 0]
        self.located = False
        self.size = 0

    def add(self, piece: Piece) -> None:
        if isinstance(piece, Entity):
            file, keys, which = self.entities, self.entity_keys, 0
            self._ids.add(piece.id)
        elif {piece.source, piece.target} <= self._ids:
            file, keys, which = self.edges, self.edge_keys, 1
        else:
            return  # of an entity that was put after the entities were read: what is written could not be loaded
        data = _data_of(piece)
        line = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
        file.write(line)
        keys.update(dict.fromkeys(data["properties"]))
        self._counts[which] += 1
        self.located = self.located or "location" in data
        # A comma comes before each line.
        self.size += len(line.encode()) + 1

    @property
    def written(self) -> Written:
        return Written(*self._counts)


async def _kept(graph: WritableGraph, stack: ExitStack) -> _Kept:
    kept = _Kept(stack)
    # Whatever happens here, a database must not wait until the generator is collected.
    async with aclosing(cast("AsyncGenerator[Piece, None]", graph.export())) as pieces:
        async for piece in pieces:
            kept.add(piece)
    kept.entities.seek(0)
    kept.edges.seek(0)
    return kept


def _data_of(piece: Piece) -> _Data:
    data = piece.to_dict()
    if isinstance(piece, Entity):
        place = data.pop("location")
        names = data.pop("aliases")
        return data | ({"aliases": names} if names else {}) | ({"location": place} if place else {})
    # The word of the files that there are.
    return {"source": piece.source, "type": piece.relation, "target": piece.target, "properties": data["properties"]}


def _listed(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{',' if number else ''}\n{line[:-1]}"


def _write_rows(file: IO[str], own: Sequence[str], keys: Collection[str], lines: Iterable[str]) -> None:
    writer = csv.writer(file)
    writer.writerow([*own, *(_column(key, own) for key in keys)])
    for line in lines:
        data: _Data = json.loads(line)
        properties = data["properties"]
        row = [_own_cell(data, name) for name in own]
        row += (cell_of(properties[key]) if key in properties else "" for key in keys)
        if sum(map(len, row)) > LARGEST_CELL:
            name = data.get("id") or f"{data['source']} {data['type']} {data['target']}"
            raise InvalidValue(
                f"{name[:100]!r} has more than {LARGEST_CELL:,} characters, and could not be read from CSV; write JSON"
            )
        writer.writerow(row)


def _own_cell(data: _Data, name: str) -> str:
    if name in PLACE_COLUMNS:
        value = data.get("location", {}).get(name, "")
        return cell_of(value) if isinstance(value, float) else cell_of_text(value)
    if name == "aliases":
        return cell_of_texts(data.get(name, ()))
    return cell_of_text(data["type" if name == "relation" else name])


def _column(key: str, own: Sequence[str]) -> str:
    """The name of a property's column, which must not be that of another one, nor a formula."""
    taken = {*own, *PLACE_COLUMNS, "type", "relation", ""}
    plain = key == key.strip() and key.casefold() not in taken and not key.startswith(PROPERTY) and not is_formula(key)
    return key if plain else f"{PROPERTY}{key}"


def _target(path: PathLike) -> str:
    return os.path.realpath(expanded(Path(path)))


@contextmanager
def _replacing(path: PathLike) -> Iterator[IO[str]]:
    """A new file beside the one at the path, which it replaces when the context ends well."""
    target = _target(path)
    part = f"{target}.{token_hex(4)}.part"
    try:
        with open(part, "x", encoding="utf-8", newline="") as file:  # noqa: PTH123 - undecodable names stay as they are
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, target)  # noqa: PTH105
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        name = quoted(os.fspath(path))
        raise InvalidValue(f"{name} cannot be written: {why}; name a file in a folder that can be written") from None
    finally:
        Path(part).unlink(missing_ok=True)
