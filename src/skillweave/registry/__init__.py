"""Snapshots of all skills, where they come from, and the one mutable reference to the newest (spec 1.3)."""

from skillweave.registry.merging import Precedence
from skillweave.registry.registry import Registry
from skillweave.registry.snapshot import Changes, LoadedVersion, Snapshot
from skillweave.registry.source import (
    Artifact,
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
    "stream_of",
]
