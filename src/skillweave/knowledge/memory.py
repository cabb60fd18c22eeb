"""An entity graph in this process's memory: nothing to start, nothing kept afterwards."""

from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from threading import Lock
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from skillweave.frozen import FrozenDict
from skillweave.knowledge.asked import asked_direction, asked_radius, asked_ref, given, taken_out
from skillweave.knowledge.entity import (
    AmbiguousEntity,
    Direction,
    Edge,
    Entity,
    Nearby,
    NearbyEntities,
    Neighbour,
    Piece,
    Point,
    UnknownEnd,
    alias_key,
)
from skillweave.knowledge.geodesy import SHIFT_FT, Box, box_around, distances_ft

_End: TypeAlias = tuple[str, str]
"""A relation, and the id of the entity at the other end."""


@dataclass(slots=True)
class _Node:
    """An entity with the edges that leave it and those that come to it."""

    entity: Entity
    leaving: dict[_End, Edge] = field(default_factory=dict)
    coming: dict[_End, Edge] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Places:
    """The entities with a location in one datum, ordered by latitude, so that those between two are a slice."""

    entities: Sequence[Entity]
    latitudes: NDArray[np.float64]
    longitudes: NDArray[np.float64]

    def inside(self, box: Box, label: str | None) -> list[int]:
        """The positions of those in the box, with that label if one is named."""
        first = int(np.searchsorted(self.latitudes, box.south))
        last = int(np.searchsorted(self.latitudes, box.north, "right"))
        band = self.longitudes[first:last]
        within = np.zeros(len(band), bool)
        for west, east in box.longitudes:
            within |= (west <= band) & (band <= east)
        found: list[int] = (np.flatnonzero(within) + first).tolist()
        return [one for one in found if label is None or self.entities[one].label == label]


class MemoryGraph:
    """A graph in dictionaries, safe between threads. Raises UnknownEnd and InvalidValue for what it begins with."""

    def __init__(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        self._nodes: dict[str, _Node] = {}
        self._called: dict[str, set[str]] = {}
        self._places: Mapping[str, _Places] | None = None
        self._lock = Lock()
        self._put(*given(entities, edges))

    async def entity(self, ref: str) -> Entity | None:
        """See `EntityGraph.entity`. Raises AmbiguousEntity and InvalidValue."""
        key = alias_key(asked_ref(ref))
        with self._lock:
            if ref in self._nodes:
                return self._nodes[ref].entity
            ids = sorted(self._called.get(key, ()))
            if len(ids) > 1:
                raise AmbiguousEntity(ref, ids)
            return self._nodes[ids[0]].entity if ids else None

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """What edges lead to, ordered by relation and then by the id of the neighbour; raises InvalidValue."""
        direction = asked_direction(entity_id, relation, direction, limit)
        with self._lock:
            node = self._nodes.get(entity_id)
            if node is None:
                return ()
            ends = ((end, comes, edge) for end, comes, edge in _edges_of(node, direction) if relation in (None, end[0]))
            return tuple(
                Neighbour(edge, self._nodes[end[1]].entity)
                for end, _, edge in nsmallest(limit, ends, key=lambda found: found[:2])
            )

    async def known(self, keys: Collection[str]) -> Collection[str]:
        """Those of the keys that are the key of an entity's alias."""
        with self._lock:
            return {key for key in keys if key in self._called}

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """See `EntityGraph.near`. Raises InvalidValue, and MissingExtra without the extra `geo`."""
        radius_ft = asked_radius(point, radius_ft, label, limit)
        places = self._located()
        around = box_around(point, radius_ft + SHIFT_FT)
        others = {name: len(those.inside(around, label)) for name, those in places.items() if name != point.datum}
        within: list[tuple[float, str, Entity]] = []
        if there := places.get(point.datum):
            inside = there.inside(box_around(point, radius_ft), label)
            far = distances_ft(point, there.latitudes[inside], there.longitudes[inside]).tolist()
            entities = (there.entities[one] for one in inside)
            within = [(feet, one.id, one) for feet, one in zip(far, entities, strict=True) if feet <= radius_ft]
        found = tuple(Nearby(entity, feet) for feet, _, entity in nsmallest(limit, within, key=lambda one: one[:2]))
        counted = FrozenDict((name, number) for name, number in sorted(others.items()) if number)
        return NearbyEntities(found, len(within) - len(found), counted)

    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Add or replace, all or nothing; raises UnknownEnd, and InvalidValue."""
        pieces = given(entities, edges)
        with self._lock:
            self._put(*pieces)

    async def remove(self, entity_ids: Iterable[str]) -> int:
        """Take entities out, with all their edges; how many there were. Raises InvalidValue."""
        ids = taken_out(entity_ids)
        with self._lock:
            return sum(map(self._remove, ids))

    async def export(self) -> AsyncIterator[Piece]:
        """All entities by id, then all edges by source, relation and target, as they are at the first."""
        with self._lock:
            entities = [self._nodes[one].entity for one in sorted(self._nodes)]
            leaving = [self._nodes[one.id].leaving for one in entities]
            edges = [edges[end] for edges in leaving for end in sorted(edges)]
        for entity in entities:
            yield entity
        for edge in edges:
            yield edge

    def _put(self, entities: Sequence[Entity], edges: Sequence[Edge]) -> None:
        new = {one.id for one in entities}
        ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
        if missing := [end for end in ends if end not in new and end not in self._nodes]:
            raise UnknownEnd(missing, "the graph")
        for entity in entities:
            if node := self._nodes.get(entity.id):
                self._uncall(node.entity)
                node.entity = entity
            else:
                self._nodes[entity.id] = _Node(entity)
            for alias in entity.aliases:
                self._called.setdefault(alias_key(alias), set()).add(entity.id)
        for edge in edges:
            self._nodes[edge.source].leaving[edge.relation, edge.target] = edge
            self._nodes[edge.target].coming[edge.relation, edge.source] = edge
        if entities:
            self._places = None

    def _remove(self, entity_id: str) -> bool:
        node = self._nodes.pop(entity_id, None)
        if node is None:
            return False
        self._uncall(node.entity)
        for relation, target in node.leaving:
            if target != entity_id:
                del self._nodes[target].coming[relation, entity_id]
        for relation, source in node.coming:
            if source != entity_id:
                del self._nodes[source].leaving[relation, entity_id]
        self._places = None
        return True

    def _uncall(self, entity: Entity) -> None:
        for key in {alias_key(alias) for alias in entity.aliases}:
            self._called[key].discard(entity.id)
            if not self._called[key]:
                del self._called[key]

    def _located(self) -> Mapping[str, _Places]:
        with self._lock:
            if self._places is None:
                self._places = _ordered(node.entity for node in self._nodes.values())
            return self._places


def _edges_of(node: _Node, direction: Direction) -> Iterator[tuple[_End, bool, Edge]]:
    """The edges in that direction by their other ends, and whether they come from there; a loop once."""
    if direction is not Direction.IN:
        yield from ((end, False, edge) for end, edge in node.leaving.items())
    if direction is not Direction.OUT:
        known = node.entity.id if direction is Direction.BOTH else None
        yield from ((end, True, edge) for end, edge in node.coming.items() if end[1] != known)


def _ordered(entities: Iterable[Entity]) -> Mapping[str, _Places]:
    by_datum: dict[str, list[tuple[float, float, Entity]]] = {}
    for entity in entities:
        if (place := entity.location) is not None:
            by_datum.setdefault(place.datum, []).append((place.latitude, place.longitude, entity))
    ordered = {}
    for datum, places in by_datum.items():
        places.sort(key=lambda place: place[0])
        latitudes, longitudes, there = zip(*places, strict=True)
        ordered[datum] = _Places(there, np.array(latitudes), np.array(longitudes))
    return ordered
