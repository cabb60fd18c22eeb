"""The rows of a layered drawing: in which row each box stands, and in which order, so that few arrows cross."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isqrt

_NARROWEST = 7
MOST_BENDS = 15_000
"""So many bends keep arrows clear of boxes; of the longest arrows beyond that only the label is placed."""
_BETWEEN = 26.0
_BETWEEN_BENDS = 16.0
_BETWEEN_BEND_AND_BOX = 16.0
_WORK = 100_000
MOST_SWEEPS = 24
"""So often the rows are sorted in turn for fewer crossings."""


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


_BEND = Room(0, 0, 0)


@dataclass(slots=True)
class Rows:
    """Everything that has a place: first the boxes, then the labels and bends of the ties, all by number.

    `rows` are in order from left to right, `row_of` is the row that each stands in. `above` and `below` are what each
    is joined to in the rows next to it; `chains` are the labels and bends of each tie from its upper end to its lower.
    """

    rooms: list[Room]
    rows: list[list[int]]
    row_of: list[int]
    above: list[list[int]]
    below: list[list[int]]
    boxes: int
    chains: list[list[int]] = field(default_factory=list)

    def add(self, room: Room, row: int) -> int:
        """The number of a new bend or label in that row."""
        number = len(self.rooms)
        self.rooms.append(room)
        self.row_of.append(row)
        self.above.append([])
        self.below.append([])
        self.rows[row].append(number)
        return number

    def apart(self, left: int, right: int) -> float:
        """How far the middles of two neighbours are apart at least."""
        bends = (not self.rooms[left].height) + (not self.rooms[right].height)
        between = (_BETWEEN, _BETWEEN_BEND_AND_BOX, _BETWEEN_BENDS)[bends]
        return self.rooms[left].right + between + self.rooms[right].left

    def join(self, chain: Sequence[int]) -> None:
        """Tie each of these to the next one, which stands in the next row."""
        for upper, lower in pairwise(chain):
            self.below[upper].append(lower)
            self.above[lower].append(upper)


def rows_of(rooms: Sequence[Room], ties: Sequence[Tie], ranks: Sequence[int]) -> Rows:
    """The rows with every tie drawn out over those between its ends; its label stands in the middle one."""
    count = len(rooms)
    rows = Rows(
        rooms=list(rooms),
        rows=[[] for _ in range(2 * max(ranks, default=0) + 1)],
        row_of=[2 * rank for rank in ranks],
        above=[[] for _ in range(count)],
        below=[[] for _ in range(count)],
        boxes=count,
        chains=[[] for _ in ties],
    )
    for box, rank in enumerate(ranks):
        rows.rows[2 * rank].append(box)
    spans = [sorted((ranks[tie.source], ranks[tie.target])) for tie in ties]
    clear = _drawn_out(spans)
    for number, (tie, (first, last)) in enumerate(zip(ties, spans, strict=True)):
        middle = 2 * ((first + last) // 2) + 1
        between = range(2 * first + 1, 2 * last) if number in clear else (middle,)
        chain = [rows.add(tie.label if row == middle and tie.label.height else _BEND, row) for row in between]
        rows.chains[number] = chain
        if number in clear:
            upper, lower = sorted((tie.source, tie.target), key=lambda box: ranks[box])
            rows.join([upper, *chain, lower])
    return rows


def _drawn_out(spans: Sequence[Sequence[int]]) -> set[int]:
    """The ties that get a bend in every row, the shortest first, as many as there may be bends."""
    bends, clear = 0, set()
    for number in sorted(range(len(spans)), key=lambda one: spans[one][1] - spans[one][0]):
        bends += 2 * (spans[number][1] - spans[number][0]) - 1
        if bends > MOST_BENDS:
            break
        clear.add(number)
    return clear


def untangle(rows: Rows, sweeps: int = MOST_SWEEPS) -> None:
    """Order every row by where its neighbours stand, down and up by turns, and keep the order with fewest crossings.

    `sweeps` is how many there are at most: fewer in a large drawing, so that the time does not grow out of hand.
    """
    _begin(rows)
    joined = sum(map(len, rows.below))
    best, fewest = _copy(rows.rows), _crossings(rows)
    for sweep in range(min(sweeps, max(2, _WORK // (joined + 1)))):
        if not fewest:
            break
        if sweep % 2:
            _sweep(rows.rows[-2::-1], rows.below, _places(rows))
        else:
            _sweep(rows.rows[1:], rows.above, _places(rows))
        _swap(rows)
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = _copy(rows.rows), crossings
    rows.rows = best


def _begin(rows: Rows) -> None:
    """Put everything in the order in which walks from the top down, left to right, first meet it."""
    place: dict[int, int] = {}
    for start in (number for row in rows.rows for number in row):
        waiting = [start]
        while waiting:
            number = waiting.pop()
            if number not in place:
                place[number] = len(place)
                waiting += reversed(rows.below[number])
    for row in rows.rows:
        row.sort(key=place.__getitem__)


def _sweep(in_turn: Sequence[list[int]], neighbours: Sequence[Sequence[int]], places: list[int]) -> None:
    """Sort each row by the mean place of its neighbours; what has no neighbours stays where it is."""
    for row in in_turn:
        wanted = {
            number: sum(places[one] for one in neighbours[number]) / len(neighbours[number])
            if neighbours[number]
            else places[number]
            for number in row
        }
        row.sort(key=wanted.__getitem__)
        for place, number in enumerate(row):
            places[number] = place


def _swap(rows: Rows) -> None:
    """Let two that stand side by side change places where that saves crossings."""
    places = _places(rows)
    for row in rows.rows:
        near = {
            number: (
                sorted(places[one] for one in rows.above[number]),
                sorted(places[one] for one in rows.below[number]),
            )
            for number in row
        }
        for place in range(len(row) - 1):
            left, right = row[place], row[place + 1]
            as_is = sum(map(_inversions, near[left], near[right]))
            if as_is and sum(map(_inversions, near[right], near[left])) < as_is:
                row[place], row[place + 1] = right, left
        for place, number in enumerate(row):
            places[number] = place


def _crossings(rows: Rows) -> int:
    places, crossings = _places(rows), 0
    for row in rows.rows:
        ends: list[int] = []
        for number in row:
            found = sorted(places[one] for one in rows.below[number])
            crossings += sum(len(ends) - bisect_right(ends, place) for place in found)
            for place in found:
                insort(ends, place)
    return crossings


def _inversions(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(bisect_left(right, place) for place in left)


def _places(rows: Rows) -> list[int]:
    places = [0] * len(rows.rooms)
    for row in rows.rows:
        for place, number in enumerate(row):
            places[number] = place
    return places


def _copy(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(row) for row in rows]
