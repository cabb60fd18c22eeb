"""A skill announces something: checked against the skills and the State as they are now, then told."""

from collections.abc import Mapping

from skillweave.events.event import Event, event_id
from skillweave.weaver.engine import Engine


async def emit(
    engine: Engine,
    conversation: str,
    skill_id: str,
    event_type: str,
    payload: Mapping[str, object],
    turn_id: str | None,
    key: str | None,
) -> Event:
    """Tell one of the skill's own events. For the rules see `Weaver.emit`."""
    from skillweave.weaver.own_events import require_announced

    snapshot = await engine.snapshot()
    state, _ = await engine.store.load(conversation)
    announced = require_announced(snapshot, state, conversation, skill_id, event_type, payload)
    # The host's key becomes part of an id and never one itself: so it can neither forge an id nor break a stream.
    made = engine.announcer.new_id() if key is None else event_id(conversation, skill_id, event_type, key)
    event = Event(made, event_type, conversation, turn_id, announced)
    await engine.announcer.tell(event)
    return event
