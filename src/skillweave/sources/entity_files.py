"""Entities and edges in files: one of JSON, or one or two of CSV; what is wrong in them is told with its place."""

import asyncio
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from threading import Lock
from typing import Any

from skillweave.checking import Checked
from skillweave.checking import shown as in_words
from skillweave.diagnostics import Diagnostic
from skillweave.errors import InvalidValue, SkillweaveError, StoreUnavailable
from skillweave.frontmatter.codes import Code
from skillweave.knowledge.entity import Direction, Edge, Entity, NearbyEntities, Neighbour, Point, is_alias
from skillweave.knowledge.memory import MemoryGraph
from skillweave.knowledge.rules import ContextRules
from skillweave.sources import codes
from skillweave.sources.entity_reading import EDGES, NODES, CsvFile, Found, JsonFile, Where
from skillweave.sources.names import expanded, shown

_ENTITY_KEYS = frozenset(("id", "label", "properties", "aliases", "location"))
_EDGE_KEYS = frozenset(("source", "relation", "target", "properties"))


NO_RULES = ContextRules()


class EntityFiles:
    """The entities and edges of a JSON file, or of CSV files of entities, of edges, or one of each.

    They are read once, as they are asked for; what cannot be read is left out and in `diagnostics`. `rules` say which
    properties are aliases and locations. Raises InvalidValue for files that do not go together.
    """

    def __init__(self, *paths: str | os.PathLike[str], rules: ContextRules = NO_RULES) -> None:
        files = [expanded(Path(path)) for path in Checked("EntityFiles").listed("paths", paths, "paths")]
        _require_together(files)
        self._found = [Found(shown(file.as_posix())) for file in files]
        self._files = [
            (JsonFile if file.suffix.casefold() == ".json" else CsvFile)(os.fspath(file), found)
            for file, found in zip(files, self._found, strict=True)
        ]
        self._rules = rules
        if len(self._files) == 2 and self._files[0].holds == self._files[1].holds is not None:
            raise InvalidValue(
                f"both {self._found[0].path!r} and {self._found[1].path!r} hold {self._files[0].holds}; name one file "
                "of entities and one of edges"
            )

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found until now: all of it when entities and edges were read to their ends."""
        return tuple(one for found in self._found for one in (*found.unread, *found.listed))

    @property
    def unread(self) -> tuple[Diagnostic, ...]:
        """Those findings for which a file, or the rest of it, was not read; others leave out single pieces."""
        return tuple(one for found in self._found for one in found.unread)

    def entities(self) -> Iterator[Entity]:
        """The entities in the order of the file; of two with one id the first."""
        seen: set[str] = set()
        for file, found in zip(self._files, self._found, strict=True):
            for where, data in file.items(NODES):
                entity = _entity_in(data, where, found, self._rules, file.datum)
                if entity is None:
                    continue
                if entity.id in seen:
                    message = f"entity {entity.id!r} stands in the file already; the first one counts"
                    found.add(codes.DUPLICATE_ENTITY, where, message, "remove one of them, or give it another id")
                else:
                    seen.add(entity.id)
                    yield entity

    def edges(self) -> Iterator[Edge]:
        """The edges in the order of the file; of two with one relation and the same ends the first."""
        return (edge for _, _, edge in self._edges())

    def edges_between(self, ids: Collection[str]) -> Iterator[Edge]:
        """The edges both ends of which are among the ids; the others are reported."""
        for found, where, edge in self._edges():
            missing = [end for end in dict.fromkeys((edge.source, edge.target)) if end not in ids]
            if missing:
                named = " and ".join(repr(end[:100]) for end in missing)
                message = f"the edge {edge.relation!r} names {named}, which is no entity's id; it is left out"
                found.add(codes.UNKNOWN_END, where, message, "add the entity, or correct the id")
            else:
                yield edge

    def _edges(self) -> Iterator[tuple[Found, Where, Edge]]:
        seen: set[tuple[str, str, str]] = set()
        for file, found in zip(self._files, self._found, strict=True):
            for where, data in file.items(EDGES):
                edge = _edge_in(data, where, found)
                if edge is None:
                    continue
                # Each id is one text in memory, however many edges name it.
                key = (intern(edge.source), intern(edge.relation), intern(edge.target))
                if key in seen:
                    message = f"the edge {edge.relation!r} from {edge.source!r} to {edge.target!r} stands there already"
                    found.add(codes.DUPLICATE_EDGE, where, f"{message}; the first one counts", "remove one of them")
                else:
                    seen.add(key)
                    yield found, where, edge


def _entity_in(data: object, where: Where, found: Found, rules: ContextRules, datum: str | None) -> Entity | None:
    name = f"entity {_named(data, 'id')}"
    opened = _opened(data, where, found, codes.BAD_ENTITY, name)
    if opened is None:
        return None
    data, properties = opened
    _report_unread(data.keys() - _ENTITY_KEYS, name, where, found)
    label = str(data.get("label"))
    named = (("aliases", data.get("aliases")), *((key, properties.get(key)) for key in rules.aliases.get(label, ())))
    aliases = {alias: None for key, value in named for alias in _aliases(f"{key} of {name}", value, where, found)}
    keys = rules.locations.get(label, ())
    places = (("location", data.get("location")), *((key, properties.get(key)) for key in keys))
    place, value = next((one for one in places if one[1] is not None), ("", None))
    point = None if value is None else _point(f"{place} of {name}", value, properties, where, found, datum)
    try:
        return Entity(data.get("id"), data.get("label"), properties, tuple(aliases), point)  # type: ignore[arg-type]
    except InvalidValue as error:
        _refuse(codes.BAD_ENTITY, f"{name} is left out", where, found, error)
        return None


def _edge_in(data: object, where: Where, found: Found) -> Edge | None:
    name = f"edge {_named(data, 'source')} to {_named(data, 'target')}"
    opened = _opened(data, where, found, codes.BAD_EDGE, name)
    if opened is None:
        return None
    data, properties = opened
    word = "relation" if "relation" in data else "type"
    _report_unread(data.keys() - _EDGE_KEYS - {word}, name, where, found)
    try:
        return Edge(data.get("source"), data.get(word), data.get("target"), properties)  # type: ignore[arg-type]
    except InvalidValue as error:
        _refuse(codes.BAD_EDGE, f"{name} is left out", where, found, error)
        return None


def _opened(
    data: object, where: Where, found: Found, code: Code, name: str
) -> tuple[Mapping[str, Any], Mapping[str, Any]] | None:
    properties = data.get("properties") if isinstance(data, Mapping) else None
    if isinstance(data, Mapping) and isinstance(properties, Mapping | None):
        return data, properties or {}
    what = f"the properties of {name} are" if isinstance(data, Mapping) else f"{name.partition(' ')[0]} is"
    wrong = properties if isinstance(data, Mapping) else data
    found.add(code, where, f"{what} {in_words(wrong)}, not a mapping", "write a mapping of names to values")
    return None


def _aliases(name: str, value: object, where: Where, found: Found) -> Iterator[str]:
    for one in value if isinstance(value, list | tuple) else () if value is None else (value,):
        alias = str(one) if isinstance(one, int) and not isinstance(one, bool) else one
        if isinstance(alias, str) and is_alias(alias):
            yield alias
        elif alias != "":
            what = f"{name} is {in_words(alias)}, by which nothing can be found"
            found.add(codes.BAD_ALIAS, where, what, "write a name with a letter or digit in it")


def _point(
    name: str, value: object, properties: Mapping[str, Any], where: Where, found: Found, datum: str | None
) -> Point | None:
    """The place; its datum is the one beside the degrees, else that of the properties, else `datum`."""
    if not isinstance(value, Mapping):
        fix = "write `{latitude, longitude, datum}`, degrees as numbers"
        found.add(codes.BAD_LOCATION, where, f"{name} is {in_words(value)}", fix)
        return None
    measured = next((one["datum"] for one in (value, properties) if "datum" in one), datum)
    if measured is None or measured == "":
        fix = "name the datum, such as NAD83, as `datum` beside the degrees or among the properties"
        found.add(codes.NO_DATUM, where, f"{name} does not say in which datum its degrees are measured", fix)
        return None
    latitude = value.get("latitude", value.get("lat"))
    longitude = value.get("longitude", value.get("lon"))
    try:
        return Point(latitude, longitude, measured)
    except InvalidValue as error:
        _refuse(codes.BAD_LOCATION, name, where, found, error)
        return None


def _report_unread(keys: Collection[str], name: str, where: Where, found: Found) -> None:
    if keys:
        told = ", ".join(f"`{key[:40]}`" for key in sorted(keys)[:5])
        fix = "put what is known of it under `properties`"
        found.add(codes.UNREAD_ENTITY_KEY, where, f"{told} of {name} is not read", fix)


def _refuse(code: Code, what: str, where: Where, found: Found, error: InvalidValue) -> None:
    why, _, right = str(error).rpartition("; give ")
    found.add(code, where, f"{what}: {why}", f"give {right}")


def _named(data: object, key: str) -> str:
    name = data.get(key) if isinstance(data, Mapping) else None
    return repr(name[:100]) if isinstance(name, str) else "without a name"


@dataclass(frozen=True, slots=True)
class GraphRead:
    """A graph that was read from files, what was found on the way, and which of that kept a file from being read."""

    graph: MemoryGraph
    diagnostics: tuple[Diagnostic, ...]
    unread: tuple[Diagnostic, ...] = ()


def read_graph(*paths: str | os.PathLike[str], rules: ContextRules = NO_RULES) -> GraphRead:
    """The graph of the files; edges to unknown entities are reported. Raises InvalidValue for files that don't fit."""
    files = EntityFiles(*paths, rules=rules)
    entities = {entity.id: entity for entity in files.entities()}
    graph = MemoryGraph(entities.values(), files.edges_between(entities.keys()))
    return GraphRead(graph, files.diagnostics, files.unread)


def _require_together(files: list[Path]) -> None:
    kinds = [file.suffix.casefold() for file in files]
    for file, kind in zip(files, kinds, strict=True):
        if kind not in (".json", ".csv"):
            name = shown(file.as_posix())
            raise InvalidValue(f"{name!r} is no file of entities; name one that ends in .json or .csv")
    if kinds not in ([".json"], [".csv"], [".csv", ".csv"]):
        last = shown(files[-1].as_posix()) if files else "nothing"
        raise InvalidValue(f"{last!r} does not go with the others; name one JSON file, or one or two CSV files")


class FileGraph:
    """The entities and edges of a JSON or CSV file, read into memory once, at the first question.

    `rules` say which properties are names and places. Questions raise StoreUnavailable for an unreadable file. Raises
    InvalidValue for a file that is not there.
    """

    def __init__(self, path: str | os.PathLike[str], *, rules: ContextRules = NO_RULES) -> None:
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            Checked("FileGraph").refuse("path", os.fspath(path), "a JSON or CSV file of entities that is there")
        self.rules = rules
        self._other: FileGraph | None = None
        self._lock = Lock()
        self._read: GraphRead | None = None

    def with_rules(self, rules: ContextRules) -> "FileGraph":
        """The same file, with the other names and places that the rules name; the same value for the same rules."""
        if rules == self.rules:
            return self
        # Of an earlier state of the pack nobody asks any more.
        if self._other is None or self._other.rules != rules:
            self._other = FileGraph(self._path, rules=rules)
        return self._other

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found in the file; raises StoreUnavailable where nothing could be looked at."""
        return (await self._whole_or_part()).diagnostics

    async def entity(self, ref: str) -> Entity | None:
        """See `EntityGraph.entity`. Raises AmbiguousEntity and StoreUnavailable."""
        return await (await self._loaded()).graph.entity(ref)

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """See `EntityGraph.neighbours`. Raises InvalidValue and StoreUnavailable."""
        return await (await self._loaded()).graph.neighbours(entity_id, relation, direction, limit)

    async def known(self, keys: Collection[str]) -> Collection[str]:
        """Those of the keys that are the key of an entity's alias; raises StoreUnavailable."""
        return await (await self._loaded()).graph.known(keys)

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """See `EntityGraph.near`. Raises InvalidValue, MissingExtra without `geo`, and StoreUnavailable."""
        return await (await self._loaded()).graph.near(point, radius_ft, label, limit)

    async def _loaded(self) -> GraphRead:
        """The whole file; of a part of it nobody could tell what is missing."""
        read = await self._whole_or_part()
        for found in read.unread:
            raise StoreUnavailable(
                f"the entities in {self._path.as_posix()!r} cannot be read: {found.location}: {found.message}; "
                f"{found.fix}, and open it again"
            )
        return read

    async def _whole_or_part(self) -> GraphRead:
        return await asyncio.to_thread(self._load) if self._read is None else self._read

    def _load(self) -> GraphRead:
        with self._lock:
            read = self._read
            if read is None:
                try:
                    read = self._read = read_graph(self._path, rules=self.rules)
                except (SkillweaveError, OSError) as error:
                    message = f"the entities in {self._path.as_posix()!r} cannot be read: {error}"
                    raise StoreUnavailable(message) from error
            return read
