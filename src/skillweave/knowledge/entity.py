"""The entity graph: things, how they are connected, where they lie, and the port that answers questions about them."""

import re
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Protocol, TypeAlias, runtime_checkable
from unicodedata import category, normalize

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.errors import SkillweaveError, first_of
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
LONGEST_NAME = 200
"""The most characters of an id, a label, a relation or a datum: databases index them."""
LONGEST_ALIAS = 400
"""The most characters of an alias."""

_UNHELD = re.compile("[\0\ud800-\udfff]")
_NO_NAME = re.compile("[^0-9a-z]+")
_BETWEEN = re.compile(r"[\s_-]+")


class Direction(StrEnum):
    """Which edges of an entity count: those that leave it, those that come to it, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Point(Portable):
    """A place on the earth in degrees of a datum, such as `NAD83`; those of different datums cannot be compared."""

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
                or abs(value) > most
                or not isfinite(value)
            ):
                checked.refuse(name, value, f"degrees from -{most} to {most}")
            object.__setattr__(self, name, float(value))
        datum = datum_name(checked.text("datum", self.datum))
        if not datum:
            checked.refuse("datum", self.datum, "the name of the datum, such as 'NAD83'")
        object.__setattr__(self, "datum", _name(checked, "datum", datum))


@dataclass(frozen=True, slots=True)
class Entity(Portable):
    """A thing that a graph knows: its label says what it is; found by its id and `aliases` in any spelling.

    Ids and labels have 1 to 200 characters, aliases up to 400. Raises InvalidValue, also for NUL and half surrogates.
    """

    id: str
    label: str
    properties: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)
    aliases: tuple[str, ...] = ()
    location: Point | None = None

    def __post_init__(self) -> None:
        checked = Checked("Entity")
        for name in ("id", "label"):
            _name(checked, name, getattr(self, name))
        object.__setattr__(self, "properties", freeze_mapping(_json(self.properties)))
        object.__setattr__(self, "aliases", checked.texts("aliases", self.aliases, "IMO 9074729"))
        for position, alias in enumerate(self.aliases):
            _name(checked, f"aliases[{position}]", alias, LONGEST_ALIAS)
            if not alias_key(alias):
                checked.refuse(f"aliases[{position}]", alias, "a name with a letter or digit in it")
        if self.location is not None:
            checked.kind("location", self.location, Point, "a Point, or None")


@dataclass(frozen=True, slots=True)
class Edge(Portable):
    """How `source` is connected with `target`, once by a `relation`; each 1 to 200 characters. Raises InvalidValue."""

    source: str
    relation: str
    target: str
    properties: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        checked = Checked("Edge")
        for name in ("source", "relation", "target"):
            _name(checked, name, getattr(self, name))
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
    """What lies in a circle, nearest first, and how many `more`; `other_datums` counts what was not compared."""

    found: tuple[Nearby, ...] = ()
    more: int = 0
    other_datums: Mapping[str, int] = field(default=EMPTY, hash=False)


class AmbiguousEntity(SkillweaveError, ValueError):
    """A name that several entities have; `ids` are theirs."""

    def __init__(self, ref: str, ids: Sequence[str]) -> None:
        self.ref, self.ids = ref, tuple(ids)
        super().__init__(
            f"{len(self.ids):,} entities are called {ref[:100]!r}; name one by its id: {_first_of(self.ids)}"
        )


class EntityNotFound(SkillweaveError, LookupError):
    """A name that no entity has; `fix` says what to do instead."""

    def __init__(self, ref: str, fix: str = "name it by its id, or by one of its other names") -> None:
        self.ref = ref
        super().__init__(f"no entity is called {ref[:100]!r}; {fix}")


class UnknownEnd(SkillweaveError, ValueError):
    """Edges that lead from or to an entity which is not there; `missing` are the ids."""

    def __init__(self, missing: Sequence[str], place: str) -> None:
        self.missing = tuple(missing)
        super().__init__(
            f"edges name entities that {place} does not have: {_first_of(self.missing)}; put the entities first, or "
            "correct the ids"
        )


class EntityGraph(Protocol):
    """Answers questions about entities, or raises StoreUnavailable; `EntityGraphContract` is the contract as tests."""

    async def entity(self, ref: str) -> Entity | None:
        """The entity with that id, else with that alias in any spelling, or None. Raises AmbiguousEntity."""
        ...

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        """What edges lead to, by relation, then id; an edge that leads out comes before one that comes in."""
        ...

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """The entities within `radius_ft`, nearest first, then by id, at most 1,000. Raises InvalidValue."""
        ...


Hops: TypeAlias = tuple[str, str, Direction]
"""Whose neighbours are meant: the id of the entity, the relation, and the direction."""


@runtime_checkable
class AsksSeveral(EntityGraph, Protocol):
    """What a graph behind a network has besides: an answer to many questions in one trip."""

    async def several(self, asked: Sequence[Hops], limit: int) -> Sequence[tuple[Neighbour, ...] | Exception]:
        """What `neighbours` gives for each, in their order, or raises where that concerns only this one."""
        ...


@runtime_checkable
class KnowsNames(EntityGraph, Protocol):
    """What a graph has besides that tells which names it knows, so that they are found in what a user writes."""

    async def known(self, keys: Collection[str]) -> Collection[str]:
        """Those of the keys (`alias_key`) that are the key of an entity's alias."""
        ...


Piece: TypeAlias = Entity | Edge
"""What a graph consists of."""


@runtime_checkable
class WritableGraph(EntityGraph, Protocol):
    """An entity graph to be filled and read whole; `tests/contracts_of_ports/writable_entities.py` is the contract."""

    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Adds or replaces entities by id and edges by ends and relation, all or nothing. Raises UnknownEnd."""
        ...

    async def remove(self, entity_ids: Iterable[str]) -> int:
        """Take entities out, with all their edges; how many there were."""
        ...

    def export(self) -> AsyncIterator[Piece]:
        """Yields all entities by id, then all edges by their ends and relation; later writes may be among them."""
        ...


def is_graph(value: object) -> bool:
    """Whether the value answers what an entity graph is asked."""
    return all(callable(getattr(value, verb, None)) for verb in ("entity", "neighbours", "near"))


def alias_key(text: str) -> str:
    """The letters, marks and digits of a name without case, by which its spellings are one; empty without any."""
    if text.isascii():
        return _NO_NAME.sub("", text.lower())
    folded = normalize("NFKC", normalize("NFD", text).casefold()).casefold()
    return normalize("NFKC", "".join(letter for letter in normalize("NFKC", folded) if category(letter)[0] in "LMN"))


def is_alias(text: str) -> bool:
    """Whether an entity can have the alias: something that can be found by it, and that every database keeps."""
    return len(text) <= LONGEST_ALIAS and not _UNHELD.search(text) and bool(alias_key(text))


def datum_name(text: str) -> str:
    """A datum in the kept spelling: `WGS 84` and `wgs84` are `WGS84`; `NAD83(2011)` stays another one."""
    return _BETWEEN.sub("", text).upper()


def _first_of(ids: Sequence[str]) -> str:
    return first_of([repr(one[:100]) for one in ids], 5)


def _name(checked: Checked, field_name: str, value: object, longest: int = LONGEST_NAME) -> str:
    """A text that every database keeps and indexes."""
    text = checked.text(field_name, value)
    if not text.strip():
        checked.refuse(field_name, text, "a text that is not empty")
    if len(text) > longest:
        checked.refuse(field_name, text, f"at most {longest} characters; it has {len(text)}")
    if _UNHELD.search(text):
        checked.refuse(field_name, text, "a text without NUL and without half of a surrogate pair")
    return text


def _json(properties: Mapping[str, FrozenJson]) -> dict[str, Json]:
    checked = Checked("properties")
    try:
        found = as_json(properties)
    except ValueError as error:
        checked.refuse("properties", properties, f"JSON; it holds {error}")
    if not isinstance(found, dict):
        checked.refuse("properties", properties, "a mapping")
    if (text := _unheld(found)) is not None:
        checked.refuse("properties", text, "texts without NUL and without half of a surrogate pair")
    return found


def _unheld(data: Json) -> str | None:
    """The first text in the data that not every database keeps."""
    if isinstance(data, str):
        return data if _UNHELD.search(data) else None
    inner = [*data, *data.values()] if isinstance(data, dict) else data if isinstance(data, list) else ()
    return next((text for one in inner if (text := _unheld(one)) is not None), None)
