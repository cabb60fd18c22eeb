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
    """A place on the earth, in degrees, with the datum that the degrees are measured in, such as `NAD83`.

    Two points of different datums cannot be compared: the same degrees lie more than a hundred feet apart. A datum is
    kept in one spelling, so that it can be compared: `nad 83` becomes `NAD83` (`datum_name`). Raises InvalidValue for
    degrees that no place has, and for a datum that is not named.
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
    """A thing that a knowledge graph knows: its label says what it is, `properties` what is known of it.

    It is found by its id and by each of its `aliases`, in any spelling of them (`alias_key`). An id and a label have 1
    to 200 characters, an alias up to 400 and a letter or digit among them; no text may hold a NUL or half of a
    surrogate pair, which not every database keeps. Raises InvalidValue.
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
    """How one entity is connected with another: `relation` says it in the direction from `source` to `target`.

    The three have 1 to 200 characters, and between two entities there is one edge of a relation in one direction.
    Raises InvalidValue.
    """

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
    """What lies in a circle, nearest first; `more` are those that the limit left out.

    `other_datums` counts, by datum, what lies about there in degrees of another datum and was not compared: a mile is
    allowed for the difference between two datums.
    """

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
    """Answers questions about entities; `skillweave_testing.EntityGraphContract` is the contract as tests.

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

        Texts are ordered by their code points, whatever the language; of two edges with one neighbour the one that
        leads out comes first. An edge from an entity to itself counts once. `limit` is from 1 to 1,000. Raises
        InvalidValue.
        """
        ...

    async def near(self, point: Point, radius_ft: float, label: str | None = None, limit: int = 20) -> NearbyEntities:
        """The entities with a location within the circle, nearest first, then by id.

        Distances are geodesic on the datum's ellipsoid, to a millionth of a foot. `radius_ft` is from 0 to 1,000,000,
        `limit` from 1 to 1,000. Raises InvalidValue, also for a datum that is not known.
        """
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
    """An entity graph that can be filled and read whole.

    `tests/contracts_of_ports/writable_entities.py` is the contract as tests.
    """

    async def put(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Add or replace, all or nothing: an entity by its id, an edge by its two ends and its relation.

        An entity that is replaced keeps its edges, and nothing else; of two with one id the last one counts. Raises
        UnknownEnd for an edge whose end is neither there nor among `entities`.
        """
        ...

    async def remove(self, entity_ids: Iterable[str]) -> int:
        """Take entities out, with all their edges; how many there were."""
        ...

    def export(self) -> AsyncIterator[Piece]:
        """All entities by id, then all edges by source, relation and target.

        What is written meanwhile may be among them or not; the reader can stop at any piece.
        """
        ...


def is_graph(value: object) -> bool:
    """Whether the value answers what an entity graph is asked."""
    return all(callable(getattr(value, verb, None)) for verb in ("entity", "neighbours", "near"))


def alias_key(text: str) -> str:
    """What spellings of one name have in common: letters and digits, without case; empty where there is none.

    `IMO 9074729`, `imo-9074729` and `IMO9074729` are one number, `ＺＯË` and `zoë` one name in whichever form of
    Unicode. Marks count, as many scripts write their vowels with them.
    """
    if text.isascii():
        return _NO_NAME.sub("", text.lower())
    folded = normalize("NFKC", normalize("NFD", text).casefold()).casefold()
    return normalize("NFKC", "".join(letter for letter in normalize("NFKC", folded) if category(letter)[0] in "LMN"))


def is_alias(text: str) -> bool:
    """Whether an entity can have the alias: something that can be found by it, and that every database keeps."""
    return len(text) <= LONGEST_ALIAS and not _UNHELD.search(text) and bool(alias_key(text))


def datum_name(text: str) -> str:
    """A datum in the one spelling that is kept: capitals without spaces, hyphens or underscores; empty where none is.

    `WGS 84` and `wgs84` are one datum, `NAD83` and `NAD83(2011)` are two.
    """
    return _BETWEEN.sub("", text).upper()


def _first_of(ids: Sequence[str]) -> str:
    """Five of the ids, and how many more there are."""
    more = f" and {len(ids) - 5:,} more" if len(ids) > 5 else ""
    return f"{', '.join(repr(one[:100]) for one in ids[:5])}{more}"


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
