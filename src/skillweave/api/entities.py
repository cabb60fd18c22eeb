"""Entities as the service lists and takes them."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import Edge, Entity, Neighbour

MOST_PUT = 5_000
"""Entities and edges that one request stores."""


@dataclass(frozen=True, slots=True)
class Neighbours(Portable):
    """What an entity is connected with, by relation and then by id; `more` says that the limit left some out."""

    items: tuple[Neighbour, ...]
    more: bool


@dataclass(frozen=True, slots=True)
class EntitiesPut(Portable):
    """Entities and edges to be stored, all or none, at most 5,000 together. Raises InvalidValue for more."""

    json_keys: ClassVar[tuple[str, ...]] = ("entities?", "edges?")
    json_exact: ClassVar[bool] = True

    entities: tuple[Entity, ...] = ()
    edges: tuple[Edge, ...] = ()

    def __post_init__(self) -> None:
        count = len(self.entities) + len(self.edges)
        if count > MOST_PUT:
            raise InvalidValue(f"{count:,} entities and edges are too many for one request; put at most {MOST_PUT:,}")
