"""Snapshots of all skills, where they come from, and the one mutable reference to the newest (spec 1.3)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.registry.agent_part import AgentPart, part_of
    from skillweave.registry.agents import Agent
    from skillweave.registry.codes import NO_SKILLS
    from skillweave.registry.definitions import Contents, Defined, Definition, define
    from skillweave.registry.merging import Precedence, agent_twice, place_of, shadowed_by
    from skillweave.registry.registry import Artifact, Registry
    from skillweave.registry.snapshot import Changes, LoadedVersion, Snapshot, changes_between
    from skillweave.registry.source import (
        UNKNOWN,
        Loaded,
        Reader,
        Source,
        Streamed,
        Versioned,
        Watched,
        WrappedSource,
        collect,
        media_type_of,
        stream_of,
        version_of,
        watched_of,
    )
    from skillweave.registry.writing import (
        Change,
        Entry,
        StoredVersion,
        WritableSource,
        Written,
        content_hash_of,
        entries_of,
        entry_of,
        hashed,
    )

__all__ = [
    "NO_SKILLS",
    "UNKNOWN",
    "Agent",
    "AgentPart",
    "Artifact",
    "Change",
    "Changes",
    "Contents",
    "Defined",
    "Definition",
    "Entry",
    "Loaded",
    "LoadedVersion",
    "Precedence",
    "Reader",
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
    "agent_twice",
    "changes_between",
    "collect",
    "content_hash_of",
    "define",
    "entries_of",
    "entry_of",
    "hashed",
    "media_type_of",
    "part_of",
    "place_of",
    "shadowed_by",
    "stream_of",
    "version_of",
    "watched_of",
]

__getattr__ = door(
    __name__,
    """
agent_part: AgentPart part_of
agents: Agent
codes: NO_SKILLS
definitions: Contents Defined Definition define lift_contents
last_good: last_good_event_types last_good_skills
merging: Merged Precedence add_registered agent_twice in_namespace merge merge_event_types place_of shadowed_by
registry: Artifact Registry
snapshot: Changes LoadedVersion Offer Snapshot changes_between
source: Reader Loaded Source Streamed UNKNOWN Versioned Watched WrappedSource collect is_text media_type_of stream_of
    version_of watched_of
watching: FileWatcher Places Vanished places_of
writing: Change Entry StoredVersion WritableSource Written content_hash_of entries_of entry_of hashed
""",
)
