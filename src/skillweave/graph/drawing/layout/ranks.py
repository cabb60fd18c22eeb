"""In which row each box stands: below what leads to it, cycles broken (the first step of a layered drawing)."""

from collections.abc import Sequence
from math import isqrt

from skillweave.graph.drawing.layout.sizes import Tie

_NARROWEST = 7


def ranks_of(boxes: int, ties: Sequence[Tie], top: int) -> list[int]:
    """The row of each box, from 0 on; the two ends of a tie never share one.

    `top` boxes, the first ones, may stand in row 0, others stand below. A tie that closes a cycle, as a walk from box 0
    in the order of the ties finds it, leads upwards. Of a row that would get too wide several are made.
    """
    after = _downwards(boxes, ties)
    before: list[list[int]] = [[] for _ in range(boxes)]
    for box, followers in enumerate(after):
        for follower in followers:
            before[follower].append(box)
    order = _in_order(after, before)
    levels = [0] * boxes
    for box in order:
        levels[box] = max((levels[one] + 1 for one in before[box]), default=0 if box < top else 1)
    for box in reversed(order):
        if box and len(after[box]) > len(before[box]):
            levels[box] = min(levels[one] - 1 for one in after[box])
    return _folded(levels, order)


def _folded(levels: Sequence[int], order: Sequence[int]) -> list[int]:
    """The rows of the levels: one, or several for a level of very many boxes, which take turns."""
    most = max(_NARROWEST, 3 * isqrt(len(levels)) // 2)
    members: list[list[int]] = [[] for _ in range(max(levels, default=0) + 1)]
    for box in order:
        members[levels[box]].append(box)
    ranks, first = [0] * len(levels), 0
    for level in members:
        rows = -(-len(level) // most)
        for turn, box in enumerate(level):
            ranks[box] = first + turn % rows
        first += rows
    return ranks


def _downwards(boxes: int, ties: Sequence[Tie]) -> list[list[int]]:
    """What follows each box once the ties that close a cycle are turned around."""
    onwards: list[list[int]] = [[] for _ in range(boxes)]
    entered = [False] * boxes
    for tie in ties:
        onwards[tie.source].append(tie.target)
        entered[tie.target] = True
    after: list[list[int]] = [[] for _ in range(boxes)]
    seen, open_ = [False] * boxes, [False] * boxes
    for root in sorted(range(boxes), key=lambda box: (box > 0, entered[box])):
        if seen[root]:
            continue
        seen[root] = open_[root] = True
        path = [(root, iter(onwards[root]))]
        while path:
            box, rest = path[-1]
            follower = next(rest, None)
            if follower is None:
                open_[box] = False
                path.pop()
            elif open_[follower]:
                after[follower].append(box)
            else:
                after[box].append(follower)
                if not seen[follower]:
                    seen[follower] = open_[follower] = True
                    path.append((follower, iter(onwards[follower])))
    return after


def _in_order(after: Sequence[Sequence[int]], before: Sequence[Sequence[int]]) -> list[int]:
    """The boxes so that each stands before what follows it."""
    missing = [len(one) for one in before]
    order = [box for box, count in enumerate(missing) if not count]
    for box in order:
        for follower in after[box]:
            missing[follower] -= 1
            if not missing[follower]:
                order.append(follower)
    return order
