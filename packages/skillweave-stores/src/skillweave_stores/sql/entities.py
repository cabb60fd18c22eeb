"""The entity graph in a SQLite file or a PostgreSQL database, in the same store as the skills (spec 6.1)."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from heapq import nsmallest
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from skillweave import StoreUnavailable
from skillweave.entities import (
    SHIFT_FT,
    AmbiguousEntity,
    Direction,
    Edge,
    Entity,
    Hops,
    Nearby,
    NearbyEntities,
    Neighbour,
    Piece,
    Point,
    UnknownEnd,
    alias_key,
    asked_direction,
    asked_radius,
    asked_ref,
    box_around,
    distances_ft,
    taken_out,
)
from skillweave.errors import InvalidValue
from skillweave.values import Checked, FrozenDict, tenant_of
from skillweave_stores.facts import SOON
from skillweave_stores.sql.database import CONNECTIONS, SECONDS, Database, InDatabase, owner_of
from skillweave_stores.sql.documents import is_storable_text
from skillweave_stores.sql.entity_places import InBox, Place, read_entities, read_places, read_whole
from skillweave_stores.sql.entity_reading import (
    PAGE,
    EdgeColumns,
    find,
    page_of_edges,
    page_of_entities,
    read_known,
    read_neighbours,
    read_several,
)
from skillweave_stores.sql.entity_rows import EntityColumns, edge_of, entity_of
from skillweave_stores.sql.entity_writing import (
    BATCH,
    lock_graph,
    missing_ends,
    put_edges,
    put_entities,
    remove_entities,
)

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

T = TypeVar("T")

MOST_COMPARED = 100_000
"""Entities in the box about a circle whose distances are reckoned; a circle with more about it is refused."""
_FEW = 100
"""So many about a circle are read at once with all that is known of them; of more, only where they lie at first."""


class SqlGraph(InDatabase):
    """The entity graph of a tenant in a database: `sqlite:///path` or `postgresql://user:password@host/name`.

    Several processes may write to one database at once. The first call makes the tables, or brings them up to date; a
    file that is not there holds nothing, and only writing makes it. A call takes at most `timeout` seconds, with all
    that it waits for, and `put` and `remove` so long for each thousand; one event loop has at most `connections`. Both
    may stand in the URL's query. In the place of the URL may be a Database that several stores share, which stays open
    when this is closed.

    Raises InvalidValue for a URL that cannot be read and a tenant that cannot be one. All methods raise
    StoreUnavailable, which names the server but no password.
    """

    def __init__(
        self,
        url: "Database | str",
        *,
        tenant: str = "",
        timeout: float = SECONDS,
        connections: int = CONNECTIONS,
    ) -> None:
        super().__init__(url, timeout=timeout, connections=connections)
        self.tenant, self._owner = tenant_of(tenant), owner_of(tenant)

    def __repr__(self) -> str:
        return f"SqlGraph({self.place!r}, tenant={self.tenant!r})"

    def for_tenant(self, tenant: str) -> "SqlGraph":
        """The graph of another tenant in the same database, over the same connections."""
        other = copy(self)
        other.tenant, other._owner = tenant_of(tenant), owner_of(tenant)  # noqa: SLF001 - of its own class
        return other

    async def entity(self, ref: str) -> Entity | None:
        """The entity with that id, else the one with that alias in any spelling; one round trip.

        Raises AmbiguousEntity where several have the alias, of whose ids it has 100 at most.
        """
        key = alias_key(asked_ref(ref))
        if self._database.is_missing or not is_storable_text(ref):
            return None
        found, by_id = await self._database.read(lambda one: find(one, self._owner, ref, key))
        if not by_id and len(found) > 1:
            raise AmbiguousEntity(ref, [columns.id for columns in found])
        return entity_of(found[0], self.place) if found else None

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """What edges lead to, ordered by relation and then by the id of the neighbour; one round trip."""
        way = asked_direction(entity_id, relation, direction, limit)
        if self._database.is_missing or not all(map(is_storable_text, (entity_id, relation or ""))):
            return ()
        found = await self._database.read(
            lambda one: read_neighbours(one, self._owner, entity_id, relation, way, limit)
        )
        return tuple(self._neighbour(*row) for row in found)

    async def several(self, asked: Sequence[Hops], limit: int) -> Sequence[tuple[Neighbour, ...] | Exception]:
        """What `neighbours` gives for each, in their order; one round trip to a server for all together.

        In the place of an answer with a row that is damaged stands the error.
        """
        ways = [(ref, relation, asked_direction(ref, relation, way, limit)) for ref, relation, way in asked]
        good = [one for one in ways if is_storable_text(one[0]) and is_storable_text(one[1])]
        if self._database.is_missing or not good:
            return [()] * len(ways)
        found = await self._database.read(lambda one: read_several(one, self._owner, good, limit))
        return [self._neighbours(found.get(one, ())) for one in ways]

    async def known(self, keys: Collection[str]) -> Collection[str]:
        """Those of the keys that are the key of an entity's alias; one round trip."""
        if self._database.is_missing or not keys:
            return ()
        return await self._database.read(lambda one: read_known(one, self._owner, keys))

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """The entities with a location within the circle, nearest first, then by id.

        One round trip where few lie about the circle, else three. Raises InvalidValue where more than 100,000 do.
        """
        radius_ft = asked_radius(point, radius_ft, label, limit)
        if self._database.is_missing or not is_storable_text(label or ""):
            return NearbyEntities()
        asked = InBox(self._owner, point.datum, label, box_around(point, radius_ft))
        around = replace(asked, box=box_around(point, radius_ft + SHIFT_FT))

        async def work(connection: "AsyncConnection") -> NearbyEntities:
            whole, others = await read_whole(connection, asked, around, _FEW + 1)
            if len(whole) <= _FEW:
                nearest, inside = _nearest(point, radius_ft, limit, whole)
            else:
                places = await read_places(connection, asked, MOST_COMPARED + 1)
                if len(places) > MOST_COMPARED:
                    raise InvalidValue(
                        f"near(radius_ft={radius_ft:g}) has more than {MOST_COMPARED:,} entities about it in "
                        f"{self.place}; give a smaller radius, or a label"
                    )
                nearest, inside = await asyncio.to_thread(_nearest, point, radius_ft, limit, places)
                whole = await read_entities(connection, self._owner, [one for _, one in nearest])
            rows = {row.id: row for row in whole}
            found = (Nearby(entity_of(rows[one], self.place), feet) for feet, one in nearest if one in rows)
            return NearbyEntities(tuple(found), inside - len(nearest), FrozenDict(others))

        return await self._database.read(work)

    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Add or replace, all or nothing, a thousand at a time: nothing is held whole.

        What can be read once only, such as a generator, is not put again by itself when the connection is lost.
        """
        given, tries = (entities, edges), 0

        async def work(connection: "AsyncConnection", step: Callable[[], None]) -> None:
            nonlocal tries
            tries += 1
            if tries > 1 and any(iter(one) is one for one in given):
                raise StoreUnavailable(
                    f"{self.place} lost the connection while entities were put; put them again", retry_after=SOON
                )
            await lock_graph(connection, self._owner)
            for some in _batches("entities", entities, Entity):
                step()
                await put_entities(connection, self._owner, some)
            missing: dict[str, None] = {}
            for some_edges in _batches("edges", edges, Edge):
                step()
                missing |= dict.fromkeys(await missing_ends(connection, self._owner, some_edges))
                if not missing:
                    await put_edges(connection, self._owner, some_edges)
            if missing:
                raise UnknownEnd(list(missing), self.place)

        await self._database.write_in_steps(work)

    async def remove(self, entity_ids: Iterable[str]) -> int:
        """Take entities out, with all their edges; how many there were."""
        ids = [one for one in taken_out(entity_ids) if is_storable_text(one)]
        most = 0

        async def work(connection: "AsyncConnection", step: Callable[[], None]) -> int:
            nonlocal most
            await lock_graph(connection, self._owner)
            gone = 0
            for first in range(0, len(ids), BATCH):
                step()
                gone += await remove_entities(connection, self._owner, ids[first : first + BATCH])
            most = max(most, gone)  # after a try whose answer was lost there is nothing left
            return most

        return await self._database.write_in_steps(work) if ids else 0

    async def export(self) -> AsyncIterator[Piece]:
        """All entities by id, then all edges by source, relation and target, a thousand at a time."""
        if self._database.is_missing:
            return
        last: str | None = None
        while True:
            page: list[EntityColumns] = await self._page(page_of_entities, last)
            for columns in page:
                yield entity_of(columns, self.place)
            if len(page) < PAGE:
                break
            last = page[-1].id
        edge: EdgeColumns | None = None
        while True:
            edges: list[EdgeColumns] = await self._page(page_of_edges, edge)
            for row in edges:
                yield edge_of(*row, self.place)
            if len(edges) < PAGE:
                break
            edge = edges[-1]

    def _neighbours(
        self, rows: Iterable[tuple[EdgeColumns, EntityColumns]]
    ) -> tuple[Neighbour, ...] | StoreUnavailable:
        try:
            return tuple(self._neighbour(*row) for row in rows)
        except StoreUnavailable as error:
            return error

    def _neighbour(self, edge: EdgeColumns, entity: EntityColumns) -> Neighbour:
        return Neighbour(edge_of(*edge, self.place), entity_of(entity, self.place))

    async def _page(self, read: Callable[..., Any], last: object) -> Any:  # noqa: ANN401 - rows of either table
        return await self._database.read(lambda one: read(one, self._owner, last))


def _nearest(
    point: Point, radius_ft: float, limit: int, places: Sequence[EntityColumns | Place]
) -> tuple[list[tuple[float, str]], int]:
    """The nearest in the circle with their distances, and how many are in it at all."""
    if not places:
        return [], 0
    latitudes, longitudes = np.array([(one.latitude, one.longitude) for one in places], np.float64).T
    far = zip(distances_ft(point, latitudes, longitudes).tolist(), places, strict=True)
    inside = [(feet, one.id) for feet, one in far if feet <= radius_ft]
    return nsmallest(limit, inside), len(inside)


def _batches(name: str, pieces: Iterable[T], kind: type[T]) -> Iterator[list[T]]:
    checked = Checked("put")
    if not isinstance(pieces, Iterable):
        checked.refuse(name, pieces, f"an iterable of {kind.__name__}")
    left = iter(pieces)
    while some := list(islice(left, BATCH)):
        for one in some:
            checked.kind(name, one, kind, f"an {kind.__name__} for each")
        yield some
