"""The pack of filings with the Railroad Commission of Texas: its skills, and calculators that agents call as tools."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillweave.doors import door
from skillweave.sources.pack import Pack

if TYPE_CHECKING:
    from skillweave_texas_rrc.tools import calculators

__all__ = ["calculators"]


def pack() -> Pack:
    """The pack `texas-rrc`: 43 skills with their documents, events, checkpoints and agents."""
    return Pack(Path(__file__).with_name("pack.yaml"), name="texas-rrc")


def rule37_filing() -> Pack:
    """The pack `texas-rrc-rule37`: the skill graph of a Rule 37 filing, for use beside the pack `texas-rrc`.

    It has no skills of its own, so by itself each skill that it wires is unknown. Its file says which tools a host may
    bring.
    """
    return Pack(Path(__file__).with_name("rule37_filing.yaml"), name="texas-rrc-rule37")


__getattr__ = door(
    __name__,
    """
tools: calculators
""",
)
