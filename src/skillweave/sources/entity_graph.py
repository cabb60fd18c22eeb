"""The entity graph of a file: read at its first use, when the packs have said what its properties are."""

import asyncio
import os
from pathlib import Path
from threading import Lock

from skillweave.checking import Checked
from skillweave.diagnostics import Diagnostic
from skillweave.errors import SkillweaveError, StoreUnavailable
from skillweave.knowledge.entity import Direction, Entity, NearbyEntities, Neighbour, Point
from skillweave.knowledge.rules import ContextRules
from skillweave.sources.entity_data import NO_ROLES, PropertyRoles
from skillweave.sources.entity_files import GraphRead, read_graph


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
