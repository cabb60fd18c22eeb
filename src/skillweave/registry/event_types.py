"""Which declaration an event's name means when several sources bring one (spec 1.2)."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.events.event import EventType
from skillweave.registry.source import Loaded


def merge_event_types(
    declared: Iterable[tuple[str, Mapping[str, EventType]]],
) -> tuple[Mapping[str, EventType], tuple[Diagnostic, ...]]:
    """The first declaration of each name, and a finding for every other one that differs.

    `declared` are the sources' names with what they declare, in the order of the sources.
    """
    merged: dict[str, EventType] = {}
    owners: dict[str, str] = {}
    findings: list[Diagnostic] = []
    for source, types in declared:
        for name, event_type in types.items():
            if merged.setdefault(name, event_type) != event_type:
                findings.append(_differs(name, owners[name], source))
            owners.setdefault(name, source)
    return MappingProxyType(merged), tuple(findings)


def last_good_event_types(before: Mapping[str, EventType], loaded: Loaded) -> Mapping[str, EventType]:
    """What the source declares now; after an error also what it declared before and cannot be read any more."""
    if not has_errors(loaded.diagnostics):
        return loaded.events
    known = {name: event_type for name, event_type in before.items() if event_type.readable}
    lost = {name for name, event_type in loaded.events.items() if not event_type.readable and name in known}
    now = {name: event_type for name, event_type in loaded.events.items() if name not in lost}
    return MappingProxyType({**known, **now})


def _differs(name: str, first: str, other: str) -> Diagnostic:
    return Diagnostic(
        "event-declared-twice",
        Severity.WARNING,
        f"event {name!r} of source {other!r} is declared differently by source {first!r}, whose declaration counts",
        "give one of the two another name, or declare it the same",
        location=Location(other),
    )
