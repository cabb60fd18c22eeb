"""Fetches and swaps around the pure core, and nothing else."""

from skillweave.weaver.engine import OnStoreFailure
from skillweave.weaver.judging import Judgement
from skillweave.weaver.leaving import Left
from skillweave.weaver.weaver import Weaver

__all__ = ["Judgement", "Left", "OnStoreFailure", "Weaver"]
