"""Entities and edges in files: one of JSON, or one or two of CSV (spec 6.1)."""

import asyncio
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from skillweave.checking import Checked
from skillweave.diagnostics import Diagnostic
from skillweave.errors import InvalidValue, SkillweaveError, StoreUnavailable
from skillweave.knowledge.entity import Direction, Edge, Entity, NearbyEntities, Neighbour, Point
from skillweave.knowledge.memory import MemoryGraph
from skillweave.knowledge.rules import ContextRules
from skillweave.sources import codes
from skillweave.sources.entity_csv import CsvFile
from skillweave.sources.entity_data import NO_ROLES, LineOf, PieceReader, PropertyRoles, Reported
from skillweave.sources.entity_json import JsonFile
from skillweave.sources.names import expanded, shown


class EntityFiles:
    """The entities and edges of a JSON file, or of CSV files of entities, of edges, or one of each, in any order.

    The first line of a CSV file, or the whole of a JSON file, is read when this is made, the rest when it is asked for,
    which is done once: a second reading would report all of it again. What cannot be read is left out and stands in
    `diagnostics`, with its place; nothing is raised for what a file holds. `roles` says which properties are aliases
    and locations. Raises InvalidValue for files that do not go together.
    """

    def __init__(self, *paths: str | os.PathLike[str], roles: PropertyRoles = NO_ROLES) -> None:
        files = [expanded(Path(path)) for path in Checked("EntityFiles").listed("paths", paths, "paths")]
        _require_together(files)
        self._found = [Reported(shown(file.as_posix())) for file in files]
        self._files = [
            (JsonFile if file.suffix.casefold() == ".json" else CsvFile)(os.fspath(file), found)
            for file, found in zip(files, self._found, strict=True)
        ]
        self._roles = roles
        self._require_different()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found until now: all of it when entities and edges were read to their ends."""
        return tuple(one for found in self._found for one in found.diagnostics)

    @property
    def unread(self) -> tuple[Diagnostic, ...]:
        """Those of the diagnostics by which a file, or the rest of it, was not read: what came before is a part of it.

        The other errors are about single entities and edges, which are left out.
        """
        return tuple(one for found in self._found for one in found.unread)

    def entities(self) -> Iterator[Entity]:
        """The entities in the order of the file; of two with one id the first."""
        seen: set[str] = set()
        for file, found in zip(self._files, self._found, strict=True):
            reader = PieceReader(found, self._roles, file.datum)
            for line, data in file.nodes():
                entity = reader.entity(data, line)
                if entity is None:
                    continue
                if entity.id in seen:
                    message = f"entity {entity.id!r} stands in the file already; the first one counts"
                    found.add(codes.DUPLICATE_ENTITY, line(), message, "remove one of them, or give it another id")
                else:
                    seen.add(entity.id)
                    yield entity

    def edges(self) -> Iterator[Edge]:
        """The edges in the order of the file; of two with one relation and the same ends the first."""
        return (edge for _, _, edge in self._edges())

    def edges_between(self, ids: Collection[str]) -> Iterator[Edge]:
        """The edges both ends of which are among the ids; the others are reported."""
        for found, line, edge in self._edges():
            missing = [end for end in dict.fromkeys((edge.source, edge.target)) if end not in ids]
            if missing:
                named = " and ".join(repr(end[:100]) for end in missing)
                message = f"the edge {edge.relation!r} names {named}, which is no entity's id; it is left out"
                found.add(codes.UNKNOWN_END, line(), message, "add the entity, or correct the id")
            else:
                yield edge

    def _edges(self) -> Iterator[tuple[Reported, LineOf, Edge]]:
        seen: set[tuple[str, str, str]] = set()
        # Each id is one text in memory, however many edges name it.
        one: dict[str, str] = {}
        for file, found in zip(self._files, self._found, strict=True):
            reader = PieceReader(found, self._roles)
            for line, data in file.edges():
                edge = reader.edge(data, line)
                if edge is None:
                    continue
                source, relation, target = (
                    one.setdefault(name, name) for name in (edge.source, edge.relation, edge.target)
                )
                key = (source, relation, target)
                if key in seen:
                    message = f"the edge {edge.relation!r} from {edge.source!r} to {edge.target!r} stands there already"
                    found.add(codes.DUPLICATE_EDGE, line(), f"{message}; the first one counts", "remove one of them")
                else:
                    seen.add(key)
                    yield found, line, edge

    def _require_different(self) -> None:
        kinds = [file.of_entities for file in self._files]
        if len(kinds) == 2 and kinds[0] is kinds[1] is not None:
            what = "entities" if kinds[0] else "edges"
            raise InvalidValue(
                f"both {self._found[0].path!r} and {self._found[1].path!r} hold {what}; name one file of entities and "
                "one of edges"
            )


@dataclass(frozen=True, slots=True)
class GraphRead:
    """A graph that was read from files, what was found on the way, and which of that kept a file from being read."""

    graph: MemoryGraph
    diagnostics: tuple[Diagnostic, ...]
    unread: tuple[Diagnostic, ...] = ()


def read_graph(*paths: str | os.PathLike[str], roles: PropertyRoles = NO_ROLES) -> GraphRead:
    """The graph of the files, in memory; an edge to an entity that they do not hold is left out, and reported.

    Raises InvalidValue for files that do not go together.
    """
    files = EntityFiles(*paths, roles=roles)
    entities = {entity.id: entity for entity in files.entities()}
    graph = MemoryGraph(entities.values(), files.edges_between(entities.keys()))
    return GraphRead(graph, files.diagnostics, files.unread)


def _require_together(files: list[Path]) -> None:
    kinds = [file.suffix.casefold() for file in files]
    for file, kind in zip(files, kinds, strict=True):
        if kind not in (".json", ".csv"):
            raise InvalidValue(
                f"{shown(file.as_posix())!r} is no file of entities; name one that ends in .json or .csv"
            )
    if kinds not in ([".json"], [".csv"], [".csv", ".csv"]):
        last = shown(files[-1].as_posix()) if files else "nothing"
        raise InvalidValue(f"{last!r} does not go with the others; name one JSON file, or one or two CSV files")


class FileGraph:
    """The entities and edges of a JSON or CSV file, in memory; nothing is read before the first question.

    The file is read once: a change of it counts when it is opened again. `roles` says which properties are other names
    and places; `with_rules` takes those of a pack. All questions raise StoreUnavailable for a file that cannot be read.
    Raises InvalidValue for a file that is not there.
    """

    def __init__(self, path: str | os.PathLike[str], *, roles: PropertyRoles = NO_ROLES) -> None:
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            Checked("FileGraph").refuse("path", os.fspath(path), "a JSON or CSV file of entities that is there")
        self.roles = roles
        self._other: FileGraph | None = None
        self._lock = Lock()
        self._read: GraphRead | None = None

    def with_rules(self, rules: ContextRules) -> "FileGraph":
        """The same file, with the other names and places that the rules name; the same value for the same rules."""
        roles = PropertyRoles(rules.aliases, rules.locations)
        if roles == self.roles:
            return self
        # Of an earlier state of the pack nobody asks any more.
        if self._other is None or self._other.roles != roles:
            self._other = FileGraph(self._path, roles=roles)
        return self._other

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was found in the file; raises StoreUnavailable where nothing could be looked at."""
        return (await self._whole_or_part()).diagnostics

    async def entity(self, ref: str) -> Entity | None:
        """The entity with that id, else the one with that alias in any spelling.

        Raises AmbiguousEntity where several have the alias, and StoreUnavailable.
        """
        return await (await self._loaded()).graph.entity(ref)

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """What edges lead to, ordered by relation and then by the id of the neighbour.

        Raises InvalidValue, and StoreUnavailable.
        """
        return await (await self._loaded()).graph.neighbours(entity_id, relation, direction, limit)

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """The entities with a location within the circle, nearest first, then by id.

        Raises InvalidValue, MissingExtra without the extra `geo`, and StoreUnavailable.
        """
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
                    read = self._read = read_graph(self._path, roles=self.roles)
                except (SkillweaveError, OSError) as error:
                    message = f"the entities in {self._path.as_posix()!r} cannot be read: {error}"
                    raise StoreUnavailable(message) from error
            return read
