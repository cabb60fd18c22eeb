"""Snapshots of all skills, where they come from, and the one mutable reference to the newest (spec 1.3)."""

from skillweave.registry.merging import Precedence
from skillweave.registry.registry import Registry
from skillweave.registry.snapshot import Changes, LoadedVersion, Snapshot
from skillweave.registry.source import Artifact, Loaded, Source, Watched

__all__ = ["Artifact", "Changes", "Loaded", "LoadedVersion", "Precedence", "Registry", "Snapshot", "Source", "Watched"]
