"""Graphs with one mistake each, which the contract must find; not collected by itself, as its name says no test."""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace

import pytest

from skillweave.entities import Direction, Edge, Entity, MemoryGraph, Neighbour, Point
from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import NearbyEntities, Piece
from tests.contracts_of_ports.writable_entities import WritableGraphContract


class AliasBeforeId(MemoryGraph):
    async def entity(self, ref: str) -> Entity | None:
        if ref == "owner-1" and (found := await super().entity("Owner 1")):
            return found
        return await super().entity(ref)


class FirstOfSeveral(MemoryGraph):
    async def entity(self, ref: str) -> Entity | None:
        try:
            return await super().entity(ref)
        except ValueError as error:
            if isinstance(error, InvalidValue):
                raise
            return await super().entity(error.ids[0])  # type: ignore[attr-defined]


class ExactAliases(MemoryGraph):
    async def entity(self, ref: str) -> Entity | None:
        found = await super().entity(ref)
        return found if found and ref in (found.id, *found.aliases) else None


class OrderedByLanguage(MemoryGraph):
    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        found = await super().neighbours(entity_id, relation, direction, limit)
        return tuple(sorted(found, key=lambda one: (one.edge.relation.casefold(), one.entity.id.casefold())))


class LoopsTwice(MemoryGraph):
    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        found = await super().neighbours(entity_id, relation, direction, limit)
        loops = [one for one in found if one.entity.id == entity_id and direction == Direction.BOTH]
        return tuple(sorted((*found, *loops), key=lambda one: (one.edge.relation, one.entity.id)))


class BoxesForCircles(MemoryGraph):
    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        await super().near(point, radius_ft, label, limit)
        return await super().near(point, radius_ft * 1.4, label, limit)


class NoMore(MemoryGraph):
    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        return replace(await super().near(point, radius_ft, label, limit), more=0)


class SilentDatums(MemoryGraph):
    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        return replace(await super().near(point, radius_ft, label, limit), other_datums={})


class EndsAtTheMeridian(MemoryGraph):
    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        near = await super().near(point, radius_ft, label, limit)
        here = tuple(
            one
            for one in near.found
            if one.entity.location and abs(one.entity.location.longitude - point.longitude) < 180
        )
        return replace(near, found=here)


class LabelAfterLimit(MemoryGraph):
    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        near = await super().near(point, radius_ft, None, limit)
        await super().near(point, radius_ft, label, limit)
        return replace(near, found=tuple(one for one in near.found if label in (None, one.entity.label)))


class HalfAPut(MemoryGraph):
    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        things = tuple(entities)
        await super().put(things)
        await super().put((), edges)


class DanglingEdges(MemoryGraph):
    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        things, ties = tuple(entities), tuple(edges)
        missing = [end for tie in ties for end in (tie.source, tie.target) if await self.entity(end) is None]
        ends = {one.id for one in things}
        await super().put([*things, *(Entity(end, "Unknown") for end in missing if end not in ends)], ties)


class LosesEdges(MemoryGraph):
    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        things, ties = tuple(entities), tuple(edges)
        await super().put(things, ties)
        again = [one.id for one in things if not ties]
        await self.remove(again)
        await super().put(things, ties)


class KeysSorted(MemoryGraph):
    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        things = [
            replace(one, properties=dict(sorted(one.properties.items()))) if isinstance(one, Entity) else one
            for one in entities
        ]
        await super().put(things, edges)


class WholeNumbers(MemoryGraph):
    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        things = [
            replace(one, properties={key: _whole(value) for key, value in one.properties.items()})
            if isinstance(one, Entity)
            else one
            for one in entities
        ]
        await super().put(things, edges)


class EdgesFirst(MemoryGraph):
    async def export(self) -> AsyncIterator[Piece]:
        pieces = [piece async for piece in super().export()]
        for piece in sorted(pieces, key=lambda piece: isinstance(piece, Entity)):
            yield piece


class CountsStrangers(MemoryGraph):
    async def remove(self, entity_ids: Iterable[str]) -> int:
        ids = entity_ids if isinstance(entity_ids, str) else tuple(entity_ids)
        await super().remove(ids)
        return len(ids)


def _whole(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


MISTAKES: Sequence[type[MemoryGraph]] = (
    AliasBeforeId,
    FirstOfSeveral,
    ExactAliases,
    OrderedByLanguage,
    LoopsTwice,
    BoxesForCircles,
    NoMore,
    SilentDatums,
    EndsAtTheMeridian,
    LabelAfterLimit,
    HalfAPut,
    DanglingEdges,
    LosesEdges,
    KeysSorted,
    WholeNumbers,
    EdgesFirst,
    CountsStrangers,
)


def _contract_of(mistake: type[MemoryGraph]) -> type[WritableGraphContract]:
    def empty(self: object) -> MemoryGraph:
        return mistake()

    return type(f"Test{mistake.__name__}", (WritableGraphContract,), {"empty": pytest.fixture(empty)})


globals().update({f"Test{mistake.__name__}": _contract_of(mistake) for mistake in MISTAKES})
