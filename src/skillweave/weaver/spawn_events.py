"""The events of a sub-agent on its way, made from what was asked for and what came of it (spec 4.4)."""

from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.events import spawns
from skillweave.events.event import BuiltIn, Event, event_id, event_of

LONGEST_LABEL = 200
"""Characters of a label in an event; models write labels, and they can be anything."""


def prepared_events(prepared: SpawnPlan | SpawnRejected, conversation: str) -> tuple[Event, ...]:
    """That a sub-agent was asked for, and whether it is in order; `conversation` would be, or is, its own."""
    request = prepared.request
    label = _label(request)
    outcome: BuiltIn
    if isinstance(prepared, SpawnPlan):
        outcome = spawns.SpawnValidated(
            label, conversation, request.skills, prepared.tools, prepared.policy.forbidden_tools
        )
    else:
        outcome = spawns.SpawnRejected(label, request.skills, tuple(error.code for error in prepared.errors))
    return (
        _event(spawns.SpawnRequested(label, request.skills), conversation, request),
        _event(outcome, conversation, request),
    )


def started_event(plan: SpawnPlan) -> Event:
    """That the sub-agent runs."""
    return _event(spawns.SpawnStarted(_label(plan.request), plan.conversation), plan.conversation, plan.request)


def _event(payload: BuiltIn, spawned: str, request: SpawnRequest) -> Event:
    # Asked for again with other skills under the same id, it is another happening.
    skills = ("None",) if request.skills is None else ("", *request.skills)
    identity = event_id(spawned, payload.event_type, *skills)
    return event_of(payload, id=identity, conversation=spawned.rpartition("/")[0] or spawned, turn_id=None)


def _label(request: SpawnRequest) -> str | None:
    return None if request.label is None else request.label[:LONGEST_LABEL]
