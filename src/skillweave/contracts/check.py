"""Checking values and schemas of others: bounded, never raising, nothing fetched."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from skillweave.contracts import codes
from skillweave.contracts.codes import Problem, broken_rule
from skillweave.contracts.keywords import Exhausted, Json, TooDeep, working
from skillweave.contracts.plain import VALUE_LIMITS, NotPlain, plain
from skillweave.contracts.prepare import JsonSchema, PreparedSchema, prepare_schema
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import MissingExtra
from skillweave.events.event import EventType, name_problem
from skillweave.registry import Snapshot

MOST = 20
"""Violations that are listed one by one; the others are counted."""


def check_against(
    schema: PreparedSchema | JsonSchema,
    value: object,
    *,
    place: str = "value",
    skill: str | None = None,
    most: int = MOST,
) -> tuple[Diagnostic, ...]:
    """Checks a value against a schema; it is valid without a finding of level error.

    Findings stand at `place` and their JSON pointer; `most` are listed. The draft is 2020-12 unless `$schema` says
    another; patterns are RE2's, nothing is fetched. Raises MissingExtra without `jsonschema`.
    """
    prepared = schema if isinstance(schema, PreparedSchema) else prepare_schema(schema)
    if prepared.problems:
        return tuple(problem.found(f"schema of {place}", skill) for problem in prepared.problems)
    try:
        copied = plain(value, VALUE_LIMITS)
    except NotPlain as refused:
        return (Problem(refused.code, refused.keys, refused.why, refused.fix).found(place, skill),)
    except RecursionError:
        return (_TOO_DEEP.found(place, skill),)
    return tuple(problem.found(place, skill) for problem in _violations(prepared, copied, most))


def check_schema(schema: JsonSchema, *, place: str = "schema", skill: str | None = None) -> tuple[Diagnostic, ...]:
    """Checks a schema itself: rules of its draft, references, patterns. Raises MissingExtra, and nothing else."""
    return tuple(problem.found(place, skill) for problem in prepare_schema(schema).problems)


def _violations(prepared: PreparedSchema, value: Json, most: int) -> list[Problem]:
    listed: list[Problem] = []
    try:
        with working(prepared.targets):
            errors = prepared.validator.iter_errors(value)
            first = islice(errors, max(0, most))
            listed.extend(Problem(codes.MISMATCH, tuple(one.absolute_path), *broken_rule(one)) for one in first)
            more = sum(1 for _ in errors)
    except Exhausted:
        listed.append(_TOO_MUCH)
    except (TooDeep, RecursionError):
        listed.append(_TOO_DEEP)
    else:
        if more:
            what = "1 more rule is broken" if more == 1 else f"{more:,} more rules are broken"
            fix = "correct those that are listed, then check again"
            listed.append(Problem(codes.MORE_MISMATCHES, (), what, fix))
    return listed


_TOO_MUCH = Problem(
    codes.UNFINISHED,
    (),
    "the check was given up: value and schema together are too much work",
    "simplify the schema (alternatives inside alternatives cost most), or check the value in parts",
)
_TOO_DEEP = Problem(
    codes.UNFINISHED,
    (),
    "the check was given up: value or schema are nested too deeply, or a reference leads back to itself",
    "flatten the value; let no `$ref` lead to itself without a `properties` or `items` in between",
)


BAD_EVENT = "bad-event"
UNCHECKED = "event-schema-unchecked"


def check_event_types(snapshot: Snapshot) -> tuple[Diagnostic, ...]:
    """A finding for each mistake in an event's schema, and each bad name in `emits`; one if `jsonschema` is missing."""
    declared = [event_type for event_type in snapshot.events.values() if event_type.readable and event_type.schema]
    try:
        about_schemas = tuple(finding for event_type in declared for finding in _schema(event_type))
    except MissingExtra as missing:
        whose = f"the schemas of {len(declared)} events were" if len(declared) > 1 else "an event's schema was"
        about_schemas = (Diagnostic(UNCHECKED, Severity.INFO, f"{whose} not looked at", str(missing)),)
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
