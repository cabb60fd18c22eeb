"""Entities and edges out of plain data, whatever file it stood in; what is wrong with it is told with its place."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from skillweave.checking import Checked, shown
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import InvalidValue
from skillweave.frontmatter.codes import Code
from skillweave.frozen import EMPTY, FrozenDict
from skillweave.knowledge.entity import Edge, Entity, Point, is_alias
from skillweave.sources import codes
from skillweave.sources.files import Refused

MOST_FINDINGS = 1_000
"""So many findings of one severity are listed about one file."""
LineOf: TypeAlias = Callable[[], int | None]
"""Looks up the line of what is being read, which is only done where something is wrong with it."""

_ENTITY_KEYS = frozenset(("id", "label", "properties", "aliases", "location"))
_EDGE_KEYS = frozenset(("source", "relation", "type", "target", "properties"))


@dataclass(frozen=True, slots=True)
class PropertyRoles(Portable):
    """Which properties of an entity are names of it, and which say where it lies, each by the entity's label.

    A property that is an alias holds a text, a whole number or a list of them. One that is a location holds `{lat,
    lon}` or `{latitude, longitude}`; the first of those named that is there counts.
    """

    aliases: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)
    locations: Mapping[str, tuple[str, ...]] = field(default=EMPTY, hash=False)

    def __post_init__(self) -> None:
        checked = Checked("PropertyRoles")
        for name in ("aliases", "locations"):
            given = checked.mapping(name, getattr(self, name))
            roles = FrozenDict((label, checked.texts(f"{name}[{label!r}]", given[label])) for label in given)
            object.__setattr__(self, name, roles)


NO_ROLES = PropertyRoles()


class Unread(Refused):
    """A file that is not read from a line on."""

    def __init__(self, code: Code, line: int, why: str, fix: str) -> None:
        self.line = line
        super().__init__(code, why, fix)


class Reported:
    """What is found in one file; of very many findings the first are kept, and how many more there were."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[Diagnostic] = []
        self._unread: list[Diagnostic] = []
        self._number: Counter[Severity] = Counter()

    def add(self, code: Code, line: int | None, message: str, fix: str) -> None:
        """One more finding."""
        self._number[code.severity] += 1
        if self._number[code.severity] <= MOST_FINDINGS:
            self._found.append(code.found(Location(self.path, line), message, fix))

    def take(self, diagnostics: Iterable[Diagnostic]) -> None:
        """What another reader found in the file, of which nothing is read where that is an error."""
        for found in diagnostics:
            (self._unread if found.severity is Severity.ERROR else self._found).append(found)

    def not_read(self, refused: Refused) -> None:
        """The file, or the rest of it, is not read, for what was raised."""
        self.refused(refused.code, refused.line if isinstance(refused, Unread) else None, refused.why, refused.fix)

    def refused(self, code: Code, line: int | None, message: str, fix: str) -> None:
        """The file, or the rest of it, is not read, which is an error whatever else the code is used for."""
        found = code.found(Location(self.path, line), message, fix)
        self._unread.append(replace(found, severity=Severity.ERROR))

    @property
    def has_errors(self) -> bool:
        """Whether anything was lost."""
        return bool(self._unread) or self._number[Severity.ERROR] > 0

    @property
    def unread(self) -> tuple[Diagnostic, ...]:
        """Why the file, or the rest of it, was not read."""
        return tuple(self._unread)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All that was found until now."""
        more = (
            Diagnostic(
                code=codes.MORE_FINDINGS.name,
                severity=severity,
                message=f"{number - MOST_FINDINGS:,} more findings of this severity are not listed",
                fix="correct those that are listed, and read the file again",
                location=Location(self.path),
            )
            for severity, number in self._number.items()
            if number > MOST_FINDINGS
        )
        return (*self._unread, *self._found, *more)


class PieceReader:
    """Makes entities and edges of data in the JSON form, for one file.

    `datum` is what degrees are measured in where neither they nor their entity say it; None where the file does not.
    """

    def __init__(self, found: Reported, roles: PropertyRoles, datum: str | None = None) -> None:
        self._found = found
        self._roles = roles
        self._datum = datum

    def entity(self, data: object, line: LineOf) -> Entity | None:
        """The entity in the data; None where it cannot be read, which is reported."""
        opened = self._opened(data, line, codes.BAD_ENTITY, "an entity", "{id, label, properties}")
        if opened is None:
            return None
        data, properties, name = opened
        self._unread(data, _ENTITY_KEYS, name, line)
        try:
            return Entity(
                data.get("id"),  # type: ignore[arg-type] # checked there
                data.get("label"),  # type: ignore[arg-type]
                properties,
                tuple(self._aliases(name, data, properties, line)),
                self._location(name, data, properties, line),
            )
        except InvalidValue as error:
            self._found.add(codes.BAD_ENTITY, line(), f"{name} is left out: {_why(error)}", _fix(error))
            return None

    def edge(self, data: object, line: LineOf) -> Edge | None:
        """The edge in the data; None where it cannot be read, which is reported."""
        opened = self._opened(data, line, codes.BAD_EDGE, "an edge", "{source, type, target}")
        if opened is None:
            return None
        data, properties, name = opened
        # Of two spellings of one key the other would be lost without a word.
        self._unread(data, _EDGE_KEYS - {"type"} if "relation" in data else _EDGE_KEYS, name, line)
        relation = data.get("relation", data.get("type"))
        try:
            return Edge(data.get("source"), relation, data.get("target"), properties)  # type: ignore[arg-type]
        except InvalidValue as error:
            self._found.add(codes.BAD_EDGE, line(), f"{name} is left out: {_why(error)}", _fix(error))
            return None

    def _opened(
        self, data: object, line: LineOf, code: Code, what: str, form: str
    ) -> tuple[Mapping[str, object], Mapping[str, Any], str] | None:
        """The data with its properties and what messages call it; None where one of both is no mapping."""
        if not isinstance(data, Mapping):
            self._found.add(code, line(), f"{what} is {shown(data)}, not a mapping", f"write `{form}`")
            return None
        ends = f"{_named(data.get('source'))} to {_named(data.get('target'))}"
        name = f"entity {_named(data.get('id'))}" if code is codes.BAD_ENTITY else f"edge {ends}"
        properties = {} if data.get("properties") is None else data["properties"]
        if not isinstance(properties, Mapping):
            fix = "write a mapping of names to values"
            self._found.add(code, line(), f"the properties of {name} are {shown(properties)}", fix)
            return None
        return data, properties, name

    def _aliases(
        self, name: str, data: Mapping[str, object], properties: Mapping[str, object], line: LineOf
    ) -> Iterator[str]:
        """Those that are listed, then those of the properties that are aliases, once each."""
        label = data.get("label")
        roles = self._roles.aliases.get(label, ()) if isinstance(label, str) else ()
        seen: set[str] = set()
        for place, values in (("aliases", data.get("aliases")), *((role, properties.get(role)) for role in roles)):
            for value in values if isinstance(values, list | tuple) else () if values is None else (values,):
                alias = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
                if not isinstance(alias, str) or not is_alias(alias):
                    if alias != "":
                        what = f"{place} of {name} is {shown(alias)}, by which nothing can be found"
                        self._found.add(codes.BAD_ALIAS, line(), what, "write a name with a letter or digit in it")
                elif alias not in seen:
                    seen.add(alias)
                    yield alias

    def _location(
        self, name: str, data: Mapping[str, object], properties: Mapping[str, object], line: LineOf
    ) -> Point | None:
        """The one that the entity states, else that of the first property with such a role that is there."""
        label, stated = data.get("label"), data.get("location")
        roles = self._roles.locations.get(label, ()) if isinstance(label, str) else ()
        named = (("location", stated), *((role, properties.get(role)) for role in roles))
        place, value = next(((key, one) for key, one in named if one is not None), ("", None))
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self._misplaced(f"{place} of {name} is {shown(value)}", line)
            return None
        datum = next((one["datum"] for one in (value, properties) if "datum" in one), self._datum)
        if datum is None or datum == "":
            what = f"{place} of {name} does not say in which datum its degrees are measured"
            fix = "name the datum, such as NAD83, as `datum` beside the degrees or among the properties"
            self._found.add(codes.NO_DATUM, line(), what, fix)
            return None
        latitude = value.get("latitude", value.get("lat"))
        longitude = value.get("longitude", value.get("lon"))
        try:
            return Point(latitude, longitude, datum)  # type: ignore[arg-type] # checked there
        except InvalidValue as error:
            self._misplaced(f"{place} of {name}: {_why(error)}", line)
            return None

    def _misplaced(self, what: str, line: LineOf) -> None:
        fix = "write `{latitude, longitude, datum}`, degrees as numbers"
        self._found.add(codes.BAD_LOCATION, line(), what, fix)

    def _unread(self, data: Mapping[str, object], known: frozenset[str], name: str, line: LineOf) -> None:
        if data.keys() <= known:
            return
        keys = ", ".join(f"`{key[:40]}`" for key in sorted(data.keys() - known)[:5])
        fix = "put what is known of it under `properties`"
        self._found.add(codes.UNREAD_ENTITY_KEY, line(), f"{keys} of {name} is not read", fix)


def _named(name: object) -> str:
    return repr(name[:100]) if isinstance(name, str) else "without a name"


def _why(error: InvalidValue) -> str:
    return str(error).rpartition("; give ")[0]


def _fix(error: InvalidValue) -> str:
    return f"give {str(error).rpartition('; give ')[2]}"
