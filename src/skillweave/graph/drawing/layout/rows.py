"""The rows of a layered drawing: boxes in the even ones, labels and bends of passing arrows in all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from skillweave.graph.drawing.layout.sizes import Room, Tie

MOST_BENDS = 15_000
"""So many bends keep arrows clear of boxes; of the longest arrows beyond that only the label is placed."""

_BEND = Room(0, 0, 0)
_BETWEEN = 26.0
_BETWEEN_BENDS = 16.0
_BETWEEN_BEND_AND_BOX = 16.0


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
