"""Fetches and swaps around the pure core, and nothing else."""

from skillweave.weaver.engine import OnStoreFailure
from skillweave.weaver.weaver import Weaver

__all__ = ["OnStoreFailure", "Weaver"]
