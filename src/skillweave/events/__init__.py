"""What happened, as typed events, and the port of those who want to know (spec 4.4, 6.4 and 8)."""

from typing import TYPE_CHECKING

from skillweave.doors import door
from skillweave.events.event import (
    KEEP_EVENTS_SECONDS,
    KNOWN_AGAIN,
    MOST_KEPT,
    Announced,
    Callback,
    Cause,
    Event,
    EventRefused,
    EventStream,
    EventType,
    Observer,
    Payload,
    StreamedEvent,
    StreamGap,
    StreamObserver,
    Wanted,
)

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
    "KEEP_EVENTS_SECONDS",
    "KNOWN_AGAIN",
    "MOST_KEPT",
    "Announced",
    "Callback",
    "Cause",
    "CheckpointDecided",
    "CheckpointPending",
    "CursorMoved",
    "Event",
    "EventRefused",
    "EventStream",
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
    "StreamGap",
    "StreamObserver",
    "StreamedEvent",
    "ToolBlocked",
    "TurnDecided",
    "Wanted",
]

__getattr__ = door(
    __name__,
    """
event: RESERVED event_id name_problem
payloads: BuiltIn CheckpointDecided CheckpointPending CursorMoved Given SkillEvicted SkillInjected SkillRefreshed
    SpawnRejected SpawnRequested SpawnStarted SpawnValidated ToolBlocked TurnDecided
""",
)


def __dir__() -> list[str]:
    """The exports, also those not loaded yet."""
    return sorted(__all__)
