"""Snapshots of all skills, where they come from, and the one mutable reference to the newest (spec 1.3)."""

from skillweave.registry.precedence import Precedence
from skillweave.registry.registry import Changes, Registry
from skillweave.registry.snapshot import Snapshot
from skillweave.registry.source import Artifact, Loaded, Source

__all__ = ["Artifact", "Changes", "Loaded", "Precedence", "Registry", "Snapshot", "Source"]
