"""Snapshots of all skills, where they come from, and the one mutable reference to the newest (spec 1.3)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.registry.agent_part import AgentPart, part_of
    from skillweave.registry.agents import Agent
    from skillweave.registry.merging import Precedence
    from skillweave.registry.registry import Artifact, Registry
    from skillweave.registry.snapshot import Changes, LoadedVersion, Snapshot
    from skillweave.registry.source import (
        Loaded,
        Source,
        Streamed,
        Versioned,
        Watched,
        WrappedSource,
        collect,
        stream_of,
    )
    from skillweave.registry.writing import Change, Entry, StoredVersion, WritableSource, Written, entries_of

__all__ = [
    "Agent",
    "AgentPart",
    "Artifact",
    "Change",
    "Changes",
    "Entry",
    "Loaded",
    "LoadedVersion",
    "Precedence",
    "Registry",
    "Snapshot",
    "Source",
    "StoredVersion",
    "Streamed",
    "Versioned",
    "Watched",
    "WrappedSource",
    "WritableSource",
    "Written",
    "collect",
    "entries_of",
    "part_of",
    "stream_of",
]

__getattr__ = door(
    __name__,
    """
agent_part: AgentPart part_of
agents: Agent
definitions: Defined define lift_contents
last_good: last_good_event_types last_good_skills
merging: Merged Precedence add_registered in_namespace merge merge_event_types
registry: Artifact Registry
snapshot: Changes LoadedVersion Offer Snapshot
source: Loaded Source Streamed Versioned Watched WrappedSource collect is_text media_type_of stream_of
watching: FileWatcher Places Vanished places_of
writing: Change Entry StoredVersion WritableSource Written entries_of
""",
)
