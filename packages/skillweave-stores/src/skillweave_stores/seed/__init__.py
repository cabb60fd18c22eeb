"""Fills a store of skills from folders, packs and other sources; also `python -m skillweave_stores.seed`."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave_stores.seed.filling import Seeded, SeededAgents, seed

__all__ = ["Seeded", "SeededAgents", "seed"]

__getattr__ = door(
    __name__,
    """
codes: NOT_KEPT NOT_STORED
filling: MOST_BYTES MOST_ENTRIES Seeded SeededAgents seed
""",
)
