"""Checking a declared graph: everything in it that is wrong or wants attention, before anything runs (spec 3.5)."""

from skillweave.graph.checkup.examine import checkup

__all__ = ["checkup"]
