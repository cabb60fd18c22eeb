"""The rungs of disclosure: how much of a skill a block shows."""

from enum import IntEnum


class Rung(IntEnum):
    """Higher shows more. The number between CATALOG and INSTRUCTIONS is kept for an outline."""

    CATALOG = 1
    INSTRUCTIONS = 3
    FULL = 4

    @property
    def label(self) -> str:
        """The name in JSON and in messages to people."""
        return self.name.lower()


def rung_named(label: str) -> Rung:
    """The rung of that label; raises KeyError for another word."""
    return Rung[label.upper()]
