"""What is wrong with the events of a library: schemas that are none, and names that nobody can announce (spec 1.2)."""

from collections.abc import Iterator
from dataclasses import replace

from skillweave.contracts.against import check_schema
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import MissingExtra
from skillweave.events.event import EventType, name_problem
from skillweave.registry import Snapshot

BAD_EVENT = "bad-event"
UNCHECKED = "event-schema-unchecked"


def check_event_types(snapshot: Snapshot) -> tuple[Diagnostic, ...]:
    """A finding for each mistake in a declared schema, at its declaration, and for each name in an `emits` that fails.

    Without the package `jsonschema` one finding says that the schemas were not looked at.
    """
    declared = [event_type for event_type in snapshot.events.values() if event_type.readable and event_type.schema]
    try:
        about_schemas = tuple(finding for event_type in declared for finding in _schema(event_type))
    except MissingExtra as missing:
        about_schemas = (_unchecked(len(declared), missing),)
    return (*about_schemas, *_names(snapshot))


def _schema(event_type: EventType) -> Iterator[Diagnostic]:
    for finding in check_schema(event_type.schema, place=""):
        where = f" at {finding.location}" if finding.location and finding.location.path not in ("", "#") else ""
        message = f"the schema of event {event_type.name!r} is wrong{where}, no payload passes it: {finding.message}"
        yield replace(finding, message=message, location=event_type.location)


def _names(snapshot: Snapshot) -> Iterator[Diagnostic]:
    for skill in snapshot.skills.values():
        for name in skill.emits:
            problem = name_problem(name)
            if problem is not None:
                message = f"skill {skill.id!r} can never announce {name[:60]!r}: it {problem}"
                place = Location(skill.origin.location) if skill.origin else None
                fix = "give the event another name under `emits`"
                yield Diagnostic(BAD_EVENT, Severity.WARNING, message, fix, skill.id, place)


def _unchecked(count: int, missing: MissingExtra) -> Diagnostic:
    message = (
        f"the schemas of {count} events were not looked at" if count > 1 else "an event's schema was not looked at"
    )
    return Diagnostic(UNCHECKED, Severity.INFO, message, str(missing))
