"""What happened, as typed events, and the port of those who want to know (spec 4.4, 6.4 and 8)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.events.cause import Cause
    from skillweave.events.checkpoints import CheckpointDecided, CheckpointPending
    from skillweave.events.cursor import CursorMoved
    from skillweave.events.declared import Announced, EventType
    from skillweave.events.event import Event, Payload
    from skillweave.events.observer import Callback, Observer
    from skillweave.events.refused import EventRefused
    from skillweave.events.skills import SkillEvicted, SkillInjected, SkillRefreshed
    from skillweave.events.spawns import SpawnRejected, SpawnRequested, SpawnStarted, SpawnValidated
    from skillweave.events.tools import ToolBlocked
    from skillweave.events.turns import TurnDecided

_HOMES = {
    "Announced": "declared",
    "Callback": "observer",
    "Cause": "cause",
    "CheckpointDecided": "checkpoints",
    "CheckpointPending": "checkpoints",
    "CursorMoved": "cursor",
    "Event": "event",
    "EventRefused": "refused",
    "EventType": "declared",
    "Observer": "observer",
    "Payload": "event",
    "SkillEvicted": "skills",
    "SkillInjected": "skills",
    "SkillRefreshed": "skills",
    "SpawnRejected": "spawns",
    "SpawnRequested": "spawns",
    "SpawnStarted": "spawns",
    "SpawnValidated": "spawns",
    "ToolBlocked": "tools",
    "TurnDecided": "turns",
}

__all__ = [
    "Announced",
    "Callback",
    "Cause",
    "CheckpointDecided",
    "CheckpointPending",
    "CursorMoved",
    "Event",
    "EventRefused",
    "EventType",
    "Observer",
    "Payload",
    "SkillEvicted",
    "SkillInjected",
    "SkillRefreshed",
    "SpawnRejected",
    "SpawnRequested",
    "SpawnStarted",
    "SpawnValidated",
    "ToolBlocked",
    "TurnDecided",
]


def __getattr__(name: str) -> object:
    """Load a name at its first use: whoever observes nothing pays for no event."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillweave.events' has no attribute {name!r}; it exports {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.events.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
