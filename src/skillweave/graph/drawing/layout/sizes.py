"""What a layout is given: how much room things need, and what is tied to what; all lengths are pixels."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """How far something reaches to the left and right of its middle, and its height."""

    left: float
    right: float
    height: float

    @classmethod
    def around(cls, width: float, height: float) -> "Room":
        """The room of something that reaches as far to the left as to the right."""
        return cls(width / 2, width / 2, height)


@dataclass(frozen=True, slots=True)
class Box:
    """Something that arrows lead to: they meet its border up to `above` and `below` to either side of its middle.

    For each pixel to the side the upper border is `slope` lower, and the lower one higher.
    """

    room: Room
    height: float
    above: float
    below: float
    slope: float = 0.0

    def reach(self, *, below: bool) -> float:
        """How far to either side arrows meet that border."""
        return self.below if below else self.above


@dataclass(frozen=True, slots=True)
class Tie:
    """An arrow from one box to another, by their numbers, and the room of its label, which is empty without one."""

    source: int
    target: int
    label: Room
