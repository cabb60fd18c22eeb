"""What happened, as typed events, and the port of those who want to know (spec 4.4, 6.4 and 8)."""

from importlib import import_module
from typing import TYPE_CHECKING

from skillweave.events.event import Announced, Callback, Cause, Event, EventRefused, EventType, Observer, Payload

if TYPE_CHECKING:
    from skillweave.events.payloads import (
        CheckpointDecided,
        CheckpointPending,
        CursorMoved,
        SkillEvicted,
        SkillInjected,
        SkillRefreshed,
        SpawnRejected,
        SpawnRequested,
        SpawnStarted,
        SpawnValidated,
        ToolBlocked,
        TurnDecided,
    )

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
    """Load a payload at its first use: whoever observes nothing pays for no event."""
    if name not in __all__:
        raise AttributeError(f"module 'skillweave.events' has no attribute {name!r}; it exports {', '.join(__all__)}")
    value: object = getattr(import_module("skillweave.events.payloads"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
