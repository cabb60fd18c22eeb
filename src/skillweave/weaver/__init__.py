"""Fetches and swaps around the pure core, and nothing else."""

from skillweave.weaver.weaver import OnStoreFailure, Weaver

__all__ = ["OnStoreFailure", "Weaver"]
