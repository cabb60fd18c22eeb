"""Fetches and swaps around the pure core, and nothing else."""

from skillweave.doors import door
from skillweave.weaver.engine import OnStoreFailure
from skillweave.weaver.leaving import Left
from skillweave.weaver.verdicts import CheckpointVerdict, Judgement
from skillweave.weaver.weaver import SyncWeaver, Weaver

__all__ = ["CheckpointVerdict", "Judgement", "Left", "OnStoreFailure", "SyncWeaver", "Weaver"]

__getattr__ = door(
    __name__,
    """
telling: Observers
""",
)
