"""The events of a sub-agent on its way: asked for, found in order or not, started (spec 4.4).

None of them holds the task, which is somebody's own words.
"""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class SpawnRequested(BuiltIn):
    """Somebody wants a sub-agent; `skills` None asks for no restriction, an empty list for no capability."""

    event_type: ClassVar[str] = "spawn.requested"

    label: str | None
    skills: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class SpawnValidated(BuiltIn):
    """The set of skills is in order; `spawned` is the sub-agent's conversation, `allowed_tools` None no limit."""

    event_type: ClassVar[str] = "spawn.validated"

    label: str | None
    spawned: str
    skills: tuple[str, ...] | None
    allowed_tools: tuple[str, ...] | None
    forbidden_tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpawnRejected(BuiltIn):
    """Nothing starts; `codes` are those of the errors, in their order."""

    event_type: ClassVar[str] = "spawn.rejected"

    label: str | None
    skills: tuple[str, ...] | None
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpawnStarted(BuiltIn):
    """The sub-agent runs, in the conversation `spawned`."""

    event_type: ClassVar[str] = "spawn.started"

    label: str | None
    spawned: str
