"""Entities over HTTP: what is known of them, what lies near, and what a skill is told of one."""

from collections.abc import Sequence

from skillweave.api.entities import EntitiesPut, Neighbours
from skillweave.blocking import M, Verb
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.knowledge.entity import Direction, Edge, Entity, NearbyEntities, Point
from skillweave.knowledge.shown import ContextShown


class Entities(Room[M]):
    """The verbs about entities."""

    @Verb
    async def find_nearby_entities(
        self, point: Point, radius_ft: float = 5280.0, label: str | None = None, limit: int = 20
    ) -> NearbyEntities:
        """The entities about a place, nearest first, with their distance in feet."""
        place = {"latitude": point.latitude, "longitude": point.longitude, "datum": point.datum}
        query = {**place, "radius_ft": radius_ft, "label": label, "limit": limit}
        return await self._wire.answer(Asked("GET", "/entities:near", query), NearbyEntities)

    @Verb
    async def get_entity(self, entity: str) -> Entity:
        """The entity of that id or other name; raises EntityNotFound, and AmbiguousEntity with `problem.choices`."""
        return await self._wire.answer(Asked("GET", at("/entities/{}", entity)), Entity)

    @Verb
    async def list_neighbours(
        self,
        entity: str,
        *,
        relation: str | None = None,
        direction: Direction = Direction.BOTH,
        limit: int = 100,
    ) -> Neighbours:
        """What the entity is connected with, by relation and then by id; `direction` says which of its edges count."""
        query = {"relation": relation, "direction": direction, "limit": limit}
        return await self._wire.answer(Asked("GET", at("/entities/{}/neighbours", entity), query), Neighbours)

    @Verb
    async def assemble_context(self, entity: str, tags: Sequence[str]) -> ContextShown:
        """What a skill with these domain tags is told of the entity, line by line."""
        asked = Asked("GET", at("/context/assemble/{}", entity), {"tags": tags})
        return await self._wire.answer(asked, ContextShown)

    @Verb
    async def put_entities(self, entities: Sequence[Entity] = (), edges: Sequence[Edge] = ()) -> None:
        """Add or replace entities and edges, all or none; one that is replaced keeps its edges."""
        await self._wire.send(Asked("PUT", "/entities", body=EntitiesPut(tuple(entities), tuple(edges))))

    @Verb
    async def remove_entity(self, entity: str) -> None:
        """Take the entity with that id out, with all its edges; raises EntityNotFound."""
        await self._wire.send(Asked("DELETE", at("/entities/{}", entity)))
