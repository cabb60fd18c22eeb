"""The pack of filings with the Railroad Commission of Texas: its skills, and calculators that agents call as tools."""

from pathlib import Path

from skillweave.sources.pack import Pack


def pack() -> Pack:
    """The pack `texas-rrc`: 43 skills with their documents, events, checkpoints and agents."""
    return Pack(Path(__file__).with_name("pack.yaml"), name="texas-rrc")
