"""How many pairs a checkup compares, so that the oddest graph cannot keep it for minutes."""

from dataclasses import dataclass

MOST_PAIRS = 100_000
"""Pairs of routes or of entries that are compared one by one, of each kind; about 0.2 s at worst."""


@dataclass(slots=True, eq=False)
class Budget:
    """What is left of the pairs; lives for one checkup."""

    left: int = MOST_PAIRS
    is_spent: bool = False

    def take(self) -> bool:
        """Whether one more pair may be compared; from the first that may not on, the budget is spent."""
        if not self.left:
            self.is_spent = True
            return False
        self.left -= 1
        return True
