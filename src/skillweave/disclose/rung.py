"""The rungs of disclosure: how much of a skill a block shows."""

from enum import IntEnum


class Rung(IntEnum):
    """Higher shows more. An outline lists the sections of long instructions, to be read one by one (spec 5.1)."""

    CATALOG = 1
    OUTLINE = 2
    INSTRUCTIONS = 3
    FULL = 4

    @property
    def label(self) -> str:
        """The name in JSON and in messages to people."""
        return self.name.lower()


def rung_named(label: str) -> Rung:
    """The rung of that label; raises KeyError for another word."""
    return Rung[label.upper()]
