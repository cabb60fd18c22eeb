"""Drilling, spacing, flaring and production filings in Texas: calculators that agents call as tools."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.packs.texas_rrc.tools import calculators

__all__ = ["calculators"]

__getattr__ = door(
    __name__,
    """
tools: calculators
""",
)
