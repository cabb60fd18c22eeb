"""Pairs of terms of which one implies the other, or that may hold together."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillweave.graph.checkup.terms import Terms, disjoint, implies

MOST_PAIRS = 30_000
"""Pairs of routes or of entries that are compared one by one, of each kind; about a second at worst."""


@dataclass(slots=True, eq=False)
class Budget:
    """How many pairs may still be compared in this checkup."""

    left: int = MOST_PAIRS
    is_spent: bool = False

    def take(self) -> bool:
        """Whether one more pair may be compared; from the first that may not on, the budget is spent."""
        if not self.left:
            self.is_spent = True
            return False
        self.left -= 1
        return True


def first_implied(all_terms: Sequence[Terms | None], budget: Budget) -> Iterator[int | None]:
    """For each of the terms the position of the first earlier ones that they imply; None where there are none.

    Terms that never hold are to be given as None.
    """
    # An entry or route that asks for nothing more than places that the other asks for too can be implied by it.
    return _first(all_terms, budget, lambda one, other: one.values.keys() <= other.values.keys(), implies)


def first_together(
    all_terms: Sequence[Terms | None], budget: Budget, concerns: Callable[[int, int], bool]
) -> Iterator[int | None]:
    """For each of the terms the position of the first earlier ones that may hold at the same time; None for none.

    Terms that are None take no part, and pairs (earlier, later) that do not concern anybody are left out.
    """
    # Most routes wait for a tool of their own, which costs next to nothing to see.
    return _first(all_terms, budget, _may_share_tool, lambda one, other: not disjoint(one, other), concerns)


def _may_share_tool(one: Terms, other: Terms) -> bool:
    return one.tools is None or other.tools is None or not one.tools.isdisjoint(other.tools)


def _first(
    all_terms: Sequence[Terms | None],
    budget: Budget,
    may_fit: Callable[[Terms, Terms], bool],
    fits: Callable[[Terms, Terms], bool],
    concerns: Callable[[int, int], bool] = lambda _earlier, _later: True,
) -> Iterator[int | None]:
    """For each of the terms the first earlier ones that fit; None for none, and once the budget is spent."""
    for later, terms in enumerate(all_terms):
        found = None
        for earlier, other in enumerate(all_terms[:later] if terms is not None else ()):
            if terms is None or other is None or not may_fit(other, terms) or not concerns(earlier, later):
                continue
            if not budget.take():
                break
            if fits(terms, other):
                found = earlier
                break
        yield found
