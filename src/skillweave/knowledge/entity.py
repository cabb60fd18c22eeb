"""The entity graph: things, how they are connected, where they lie, and the port that answers questions about them."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Protocol, TypeAlias, runtime_checkable

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.errors import SkillweaveError
from skillweave.frozen import as_json
from skillweave.skill import EMPTY, FrozenJson, Json, freeze_mapping

MOST_NEIGHBOURS = 1000
"""The most neighbours that one question is answered with."""
MOST_NEAR = 1000
"""The most entities near a point that one question is answered with."""
MOST_RADIUS_FT = 1_000_000.0
"""The largest circle that is searched, in feet: 189 miles."""
FOOT = 0.3048
"""Metres in a foot; a US survey foot is two millionths longer."""


class Direction(StrEnum):
    """Which edges of an entity count: those that leave it, those that come to it, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Point(Portable):
    """A place on the earth, in degrees, with the datum that the degrees are measured in, such as `NAD83`.

    Two points of different datums cannot be compared: the same degrees lie more than a hundred feet apart. Raises
    InvalidValue for degrees that no place has, and for a datum that is not named.
    """

    latitude: float
    longitude: float
    datum: str

    def __post_init__(self) -> None:
        checked = Checked("Point")
        for name, most in (("latitude", 90), ("longitude", 180)):
            value = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float)
                or not isfinite(value)
                or abs(value) > most
            ):
                checked.refuse(name, value, f"degrees from -{most} to {most}")
        if not checked.text("datum", self.datum).strip():
            checked.refuse("datum", self.datum, "the name of the datum, such as 'NAD83'")


@dataclass(frozen=True, slots=True)
class Entity(Portable):
    """A thing that a knowledge graph knows: its label says what it is, `properties` what is known of it.

    It is found by its id and by each of its `aliases`, in any spelling of them (`alias_key`).
    """

    id: str
    label: str
    properties: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)
    aliases: tuple[str, ...] = ()
    location: Point | None = None

    def __post_init__(self) -> None:
        checked = Checked("Entity")
        for name in ("id", "label"):
            if not checked.text(name, getattr(self, name)).strip():
                checked.refuse(name, getattr(self, name), "a text that is not empty")
        object.__setattr__(self, "properties", freeze_mapping(_json(self.properties)))
        object.__setattr__(self, "aliases", checked.texts("aliases", self.aliases, "42-329-12345"))


@dataclass(frozen=True, slots=True)
class Edge(Portable):
    """How one entity is connected with another: `relation` says it in the direction from `source` to `target`."""

    source: str
    relation: str
    target: str
    properties: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        checked = Checked("Edge")
        for name in ("source", "relation", "target"):
            if not checked.text(name, getattr(self, name)).strip():
                checked.refuse(name, getattr(self, name), "a text that is not empty")
        object.__setattr__(self, "properties", freeze_mapping(_json(self.properties)))


@dataclass(frozen=True, slots=True)
class Neighbour(Portable):
    """An entity at the other end of an edge, and that edge."""

    edge: Edge
    entity: Entity


@dataclass(frozen=True, slots=True)
class Nearby(Portable):
    """An entity and how far it is from the point that was asked about, in feet along the ground of the datum."""

    entity: Entity
    distance_ft: float


@dataclass(frozen=True, slots=True)
class NearbyEntities(Portable):
    """What lies in a circle, nearest first; `more` are those that the limit left out.

    `other_datums` counts, by datum, what lies about there in degrees of another datum and was not compared.
    """

    found: tuple[Nearby, ...] = ()
    more: int = 0
    other_datums: Mapping[str, int] = field(default=EMPTY, hash=False)


class AmbiguousEntity(SkillweaveError, ValueError):
    """A name that several entities have; `ids` are theirs."""

    def __init__(self, ref: str, ids: Sequence[str]) -> None:
        self.ref, self.ids = ref, tuple(ids)
        super().__init__(
            f"{len(self.ids)} entities are called {ref[:100]!r}; name one by its id: {', '.join(self.ids)}"
        )


class UnknownEnd(SkillweaveError, ValueError):
    """Edges that lead from or to an entity which is not there; `missing` are the ids."""

    def __init__(self, missing: Sequence[str], place: str) -> None:
        self.missing = tuple(missing)
        shown = ", ".join(repr(one[:100]) for one in self.missing[:5])
        more = f" and {len(self.missing) - 5} more" if len(self.missing) > 5 else ""
        super().__init__(
            f"edges name entities that {place} does not have: {shown}{more}; put the entities first, or correct the ids"
        )


class EntityGraph(Protocol):
    """Answers questions about entities; `skillweave.testing.entities.EntityGraphContract` is the contract as tests.

    All methods raise StoreUnavailable when what is asked does not answer.
    """

    async def entity(self, ref: str) -> Entity | None:
        """The entity with that id, else the one with that alias in any spelling; None where there is none.

        Raises AmbiguousEntity where several have the alias.
        """
        ...

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """What edges lead to, ordered by relation and then by the id of the neighbour; nothing for an unknown entity.

        An edge from an entity to itself counts once. `limit` is from 1 to 1,000. Raises InvalidValue.
        """
        ...

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """The entities with a location within the circle, nearest first, then by id.

        Distances are geodesic on the datum's ellipsoid. `radius_ft` is from 0 to 1,000,000, `limit` from 1 to 1,000.
        Raises InvalidValue.
        """
        ...


Piece: TypeAlias = Entity | Edge
"""What a graph consists of."""


@runtime_checkable
class WritableGraph(EntityGraph, Protocol):
    """An entity graph that can be filled, and read whole."""

    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Add or replace, all or nothing: an entity by its id, an edge by its two ends and its relation.

        Raises UnknownEnd for an edge whose end is neither there nor among `entities`.
        """
        ...

    async def remove(self, entity_ids: Iterable[str]) -> int:
        """Take entities out, with all their edges; how many there were."""
        ...

    def export(self) -> AsyncIterator[Piece]:
        """All entities by id, then all edges by source, relation and target."""
        ...


def alias_key(text: str) -> str:
    """What spellings of one name have in common: letters and digits, without case; empty where there is none.

    `42-329-12345`, `42 329 12345` and `4232912345` are one API number.
    """
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _json(properties: Mapping[str, FrozenJson]) -> dict[str, Json]:
    checked = Checked("properties")
    try:
        found = as_json(properties)
    except ValueError as error:
        checked.refuse("properties", properties, f"JSON; it holds {error}")
    if not isinstance(found, dict):
        checked.refuse("properties", properties, "a mapping")
    return found
