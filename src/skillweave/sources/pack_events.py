"""The `events:` of a pack: what the payload of each event has to look like (spec 1.2 and 6.4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location
from skillweave.events.event import EventType, name_problem
from skillweave.formats.fields import as_json
from skillweave.frontmatter import Keys, resolved
from skillweave.skill import EMPTY, FrozenJson, freeze_mapping
from skillweave.sources import codes

KEY = "events"

_NONE: Mapping[str, EventType] = MappingProxyType({})
_FIX = "write the JSON Schema of an object, or nothing where any object will do"


def read_event_types(
    value: object, *, path: str, lines: Mapping[Keys, int]
) -> tuple[Mapping[str, EventType], tuple[Diagnostic, ...]]:
    """The event types by name, and a finding for each that cannot be read; of those with a good name nothing passes.

    A name without a schema allows any object. Whether a schema keeps the rules of JSON Schema is not looked at here.
    """
    reading = _Reading(path, lines)
    if value is None or value == "":
        return _NONE, ()
    if not isinstance(value, Mapping):
        reading.report(
            (KEY,), "`events` is no mapping", "write each event as its name and the JSON Schema of its payload"
        )
        return _NONE, tuple(reading.findings)
    types = {str(name): reading.event_type(str(name), declaration) for name, declaration in value.items()}
    known = {name: event_type for name, event_type in types.items() if event_type is not None}
    return MappingProxyType(known), tuple(reading.findings)


@dataclass(slots=True)
class _Reading:
    path: str
    lines: Mapping[Keys, int]
    findings: list[Diagnostic] = field(default_factory=list)

    def report(self, at: Keys, message: str, fix: str) -> None:
        self.findings.append(codes.BAD_EVENT.found(self.location(at), message, fix))

    def location(self, at: Keys) -> Location:
        return Location(self.path, self.lines.get(at))

    def event_type(self, name: str, declaration: object) -> EventType | None:
        at = (KEY, name)
        problem = name_problem(name)
        if problem is not None:
            self.report(at, f"{name[:60]!r} {problem}", "give the event another name")
            return None
        schema = self.schema(name, declaration)
        description = None if schema is None else schema.get("description")
        return EventType(
            name,
            description if isinstance(description, str) else "",
            False if schema is None else schema,
            self.location(at),
        )

    def schema(self, name: str, declaration: object) -> Mapping[str, FrozenJson] | None:
        typed = resolved(declaration)
        if typed is None:
            return EMPTY
        try:
            schema = as_json(typed)
        except ValueError as error:
            self.report((KEY, name), f"the schema of event {name!r} holds {error}; no payload passes it", _FIX)
            return None
        if not isinstance(schema, dict):
            self.report((KEY, name), f"the schema of event {name!r} is no mapping; no payload passes it", _FIX)
            return None
        return freeze_mapping(schema)
