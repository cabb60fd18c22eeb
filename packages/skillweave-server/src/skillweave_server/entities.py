"""Entities: what is known of them, what they are connected with, what lies near, and what a skill is told of one."""

from typing import Annotated

from fastapi import Path, Query

from skillweave.api import EntitiesPut, Neighbours
from skillweave.entities import (
    LONGEST_ALIAS,
    LONGEST_NAME,
    MOST_NEAR,
    MOST_NEIGHBOURS,
    MOST_RADIUS_FT,
    ContextShown,
    Direction,
    Entity,
    EntityNotFound,
    NearbyEntities,
    Point,
    WritableGraph,
    context_shown,
)
from skillweave_server.calls import Call
from skillweave_server.endpoints import Endpoints
from skillweave_server.problems import Refused
from skillweave_stores.access import Scope

ENTITIES = Endpoints("entities")

EntityRef = Annotated[
    str, Path(min_length=1, max_length=LONGEST_ALIAS, description="The entity's id, or one of its other names.")
]
EntityId = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME, description="The entity's id.")]
Relation = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only edges of this relation.")]
Label = Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only entities with this label.")]
Tags = Annotated[
    list[str],
    Query(min_length=1, max_length=100, description="Domain tags, as skills have them: repeated, or with commas."),
]


@ENTITIES.at("GET", "/entities:near", scope=Scope.READ, answers=NearbyEntities, problems=(404, 501))
async def find_nearby_entities(
    call: Call,
    latitude: Annotated[float, Query(ge=-90, le=90, description="Degrees north.")],
    longitude: Annotated[float, Query(ge=-180, le=180, description="Degrees east.")],
    datum: Annotated[str, Query(min_length=1, max_length=LONGEST_NAME, description="Such as NAD83 or WGS84.")],
    radius_ft: Annotated[float, Query(ge=0, le=MOST_RADIUS_FT, description="How far, in feet.")] = 5280.0,
    label: Label = None,
    limit: Annotated[int, Query(ge=1, le=MOST_NEAR, description="The most entities.")] = 20,
) -> NearbyEntities:
    """The entities about a place, nearest first, with their distance in feet.

    Degrees of two datums are not compared: the answer counts what was left out for that.
    """
    graph = await call.weaver().entities.graph()
    if graph is None:
        raise _nothing_known()
    return await graph.near(Point(latitude, longitude, datum), radius_ft, label, limit)


@ENTITIES.at("GET", "/entities/{entity}", scope=Scope.READ, answers=Entity, problems=(404, 409))
async def get_entity(call: Call, entity: EntityRef) -> Entity:
    """The entity of that id or other name; a name that several have answers 409, with their ids as `choices`."""
    return await call.weaver().entities.get(entity)


@ENTITIES.at("GET", "/entities/{entity}/neighbours", scope=Scope.READ, answers=Neighbours, problems=(404, 409))
async def list_neighbours(
    call: Call,
    entity: EntityRef,
    relation: Relation = None,
    direction: Direction = Direction.BOTH,
    limit: Annotated[int, Query(ge=1, lt=MOST_NEIGHBOURS, description="The most neighbours.")] = 100,
) -> Neighbours:
    """What the entity is connected with, by relation and then by id; `direction` says which of its edges count."""
    weaver = call.weaver()
    known = await weaver.entities.get(entity)
    graph = await weaver.entities.graph()
    found = () if graph is None else await graph.neighbours(known.id, relation, direction, limit + 1)
    return Neighbours(found[:limit], len(found) > limit)


@ENTITIES.at("GET", "/context/assemble/{entity}", scope=Scope.READ, answers=ContextShown, problems=(404, 409))
async def assemble_context(call: Call, entity: EntityRef, tags: Tags) -> ContextShown:
    """What a skill with these domain tags is told of the entity, line by line, with where each line comes from."""
    weaver = call.weaver()
    wanted = tuple(dict.fromkeys(tag.strip() for one in tags for tag in one.split(",") if tag.strip()))
    return context_shown(await weaver.entities.context(entity, wanted), wanted, weaver.skills.counter.count)


@ENTITIES.at("PUT", "/entities", scope=Scope.WRITE, takes=EntitiesPut, problems=(409,))
async def put_entities(call: Call, asked: EntitiesPut) -> None:
    """Add or replace entities and edges, all or none; one that is replaced keeps its edges.

    An edge to an entity that is neither there nor among these answers 422.
    """
    await (await _writable(call)).put(asked.entities, asked.edges)


@ENTITIES.at("DELETE", "/entities/{entity}", scope=Scope.WRITE, problems=(404, 409))
async def remove_entity(call: Call, entity: EntityId) -> None:
    """Take the entity with that id out, with all its edges."""
    if not await (await _writable(call)).remove([entity]):
        raise EntityNotFound(entity, "name it by its id")


async def _writable(call: Call) -> WritableGraph:
    """The tenant's graph; raises Refused where it is only read."""
    graph = await call.weaver().entities.graph()
    if not isinstance(graph, WritableGraph):
        detail = "this service only reads entities; start it with `--entities` and the URL of a database to store them"
        raise Refused(409, "no-entity-store", detail)
    return graph


def _nothing_known() -> Refused:
    detail = "nothing is known of any entity here; start the service with `--entities`, a file or a database's URL"
    return Refused(404, "no-entities", detail)
