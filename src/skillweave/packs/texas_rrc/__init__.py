"""The pack of filings with the Railroad Commission of Texas: its skills, and calculators that agents call as tools."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.doors import door
from skillweave.sources.pack import Pack

if TYPE_CHECKING:
    from skillweave.packs.texas_rrc.tools import calculators

__all__ = ["calculators", "pack"]


def pack() -> Pack:
    """The pack `texas-rrc`: 43 skills with their documents, events, checkpoints and agents."""
    return Pack(Path(__file__).with_name("pack.yaml"), name="texas-rrc")


__getattr__ = door(
    __name__,
    """
tools: calculators
""",
)
