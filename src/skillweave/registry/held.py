"""What one source holds: its last answer, and the last good form of what cannot be read now (spec 1.3)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import SourceUnavailable
from skillweave.events.event import EventType
from skillweave.registry.event_types import last_good_event_types
from skillweave.registry.graphs import last_good_graph
from skillweave.registry.kept import keep_last_good
from skillweave.registry.source import Loaded, Source
from skillweave.registry.task_rules import last_good_task_rules
from skillweave.skill import Skill
from skillweave.task import TaskRule


@dataclass(frozen=True, slots=True)
class Held:
    """What one source holds: its last answer, the skills in use (also last good ones), findings, and how new it is.

    `away` is the finding that it does not answer now.
    """

    loaded: Loaded | None = None
    skills: tuple[Skill, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    away: Diagnostic | None = None
    ticket: int = 0
    events: Mapping[str, EventType] = field(default_factory=dict)
    task_rules: tuple[TaskRule, ...] = ()
    graph: Mapping[str, object] | None = None
    graph_location: Location | None = None


async def load_held(source: Source, shelf: Held) -> Loaded | Diagnostic:
    """What the source holds, or the finding that it does not answer, where it did before."""
    try:
        return await source.load(shelf.loaded)
    except SourceUnavailable as error:
        if shelf.loaded is None:
            raise
        fix = "its skills stay in use as they were; bring the source back and refresh"
        return Diagnostic("source-unavailable", Severity.ERROR, str(error), fix, None, Location(source.name))


def refilled(shelf: Held, answer: Loaded | Diagnostic, ticket: int) -> Held:
    """The shelf after a load; a load that began before the one that filled it comes too late."""
    if shelf.ticket > ticket:
        return shelf
    if isinstance(answer, Diagnostic):
        return replace(shelf, away=answer, ticket=ticket)
    if answer is shelf.loaded:
        return replace(shelf, away=None, ticket=ticket)
    skills, kept = keep_last_good(shelf.skills, answer)
    events = last_good_event_types(shelf.events, answer)
    rules, kept_rules = last_good_task_rules(shelf.task_rules, answer)
    graph, location, kept_graph = last_good_graph((shelf.graph, shelf.graph_location), answer)
    findings = (*answer.diagnostics, *kept, *kept_rules, *kept_graph)
    return Held(
        answer,
        skills,
        findings,
        ticket=ticket,
        events=events,
        task_rules=rules,
        graph=graph,
        graph_location=location,
    )


def unchanged(before: Iterable[Held], now: Iterable[Held]) -> bool:
    """Whether every source was loaded before and holds what it held then."""
    return all(
        shelf.loaded is not None
        and (shelf.skills, shelf.findings, shelf.away) == (other.skills, other.findings, other.away)
        and (shelf.events, shelf.task_rules) == (other.events, other.task_rules)
        and (shelf.graph, shelf.graph_location) == (other.graph, other.graph_location)
        for shelf, other in zip(before, now, strict=True)
    )
