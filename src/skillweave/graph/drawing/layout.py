"""Where everything in a drawing goes: rows, columns, the way of every arrow; numbers only, no format (spec 3.6).

Boxes stand in the even rows, labels in the odd ones between them, and a long arrow bends in every row that it passes,
so that it keeps clear of what stands there (layered drawing after Sugiyama).
"""

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import inf, isqrt
from operator import attrgetter
from typing import TypeAlias

from skillweave.graph.cycles import walk
from skillweave.graph.drawing.figures import Caption, Figure, caption_of, figures_of
from skillweave.graph.drawing.picture import Arrow, EndKind, Picture

Point: TypeAlias = tuple[float, float]
HEAD = 8.0
"""The length of an arrow's head; the last piece of its way, upright, is at least as long."""
_WIDEST_ROW = 7
_LONGEST = 25
"""An arrow past more ranks of boxes bends only at its label, so that very large drawings do not take minutes."""
_SWEEPS = 10
_MOST_ROUNDS = 40
_WORK = 20_000
_BETWEEN = 26.0
_BESIDE_BEND = 16.0
_BETWEEN_PORTS = 16.0
_STRAIGHT = 8.0
_GAP = 16.0
_LABEL_GAP = 22.0
_STEEPNESS = 0.09
_WIDEST_GAP = 60.0


@dataclass(slots=True, eq=False)
class Item:
    """A box, or a label or bend of an arrow, with its row, its place in it, its middle and what it is joined to."""

    row: int
    left: float = 0.0
    right: float = 0.0
    height: float = 0.0
    is_box: bool = False
    place: int = 0
    x: float = 0.0
    above: list["Item"] = field(default_factory=list)
    below: list["Item"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Wire:
    """An arrow with the points of its way, upright pieces and bends by turns, and the middle of its `label`."""

    arrow: Arrow
    caption: Caption
    points: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True, slots=True)
class Layout:
    """Figures, each with its middle, and wires, in a room whose upper left corner is 0, 0."""

    figures: tuple[Figure, ...]
    middles: tuple[Point, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float


def layout_of(picture: Picture) -> Layout:
    """A place for everything in the picture: no box or label overlaps another, arrows lead down outside cycles."""
    figures = figures_of(picture.ends, picture.arrows)
    arrows = [arrow for arrow in picture.arrows if arrow.source != arrow.target]
    captions = [caption_of(arrow.label) for arrow in arrows]
    top = sum(1 for end in picture.ends if end.kind in (EndKind.START, EndKind.ANY))
    ranks = ranks_of(len(figures), [(arrow.source, arrow.target) for arrow in arrows], top)
    boxes = [
        Item(2 * rank, figure.width / 2, figure.width / 2 + figure.beside, figure.height, is_box=True)
        for rank, figure in zip(ranks, figures, strict=True)
    ]
    chains = [
        _chain(boxes[arrow.source], boxes[arrow.target], caption)
        for arrow, caption in zip(arrows, captions, strict=True)
    ]
    rows: list[list[Item]] = [[] for _ in range(2 * max(ranks) + 1)]
    for item in (*boxes, *(item for chain in chains for item in chain)):
        rows[item.row].append(item)
    _untangle(rows)
    _align(rows)
    _straighten(chains, rows)
    items = [item for row in rows for item in row]
    leftmost = min(item.x - item.left for item in items)
    for item in items:
        item.x -= leftmost
    levels = _levels(rows)
    ways = _ways(arrows, chains, boxes, figures, levels)
    labels = [next(((one.x, sum(levels[one.row]) / 2) for one in chain if one.height), None) for chain in chains]
    return Layout(
        figures=tuple(figures),
        middles=tuple((box.x, sum(levels[box.row]) / 2) for box in boxes),
        wires=tuple(map(Wire, arrows, captions, ways, labels)),
        width=max(item.x + item.right for item in items),
        height=levels[-1][1],
    )


def ranks_of(count: int, ties: Sequence[tuple[int, int]], top: int) -> list[int]:
    """The row of each box, from 0; the ends of a tie never share one. The first `top` boxes may stand in row 0.

    What no tie joins stands at the bottom, ties that close a cycle lead up, rows that are too wide become several.
    """
    order = _downwards(count, ties)
    place = {box: number for number, box in enumerate(order)}
    before: list[list[int]] = [[] for _ in range(count)]
    after: list[list[int]] = [[] for _ in range(count)]
    for tie in ties:
        upper, lower = sorted(tie, key=place.__getitem__)
        before[lower].append(upper)
        after[upper].append(lower)
    levels = [0] * count
    for box in order:
        levels[box] = max((levels[one] + 1 for one in before[box]), default=0 if box < top else 1)
    for box in reversed(order):
        if box and len(after[box]) > len(before[box]):
            levels[box] = min(levels[one] - 1 for one in after[box])
    lowest = max(levels)
    for box in range(1, count):
        if not before[box] and not after[box]:
            levels[box] = lowest + 1
    return _folded(levels)


def _downwards(count: int, ties: Sequence[tuple[int, int]]) -> list[int]:
    """The boxes in the reverse order in which a walk leaves them: only ties that close a cycle lead back in it."""
    onwards: dict[int, list[int]] = {box: [] for box in range(count)}
    for source, target in ties:
        onwards[source].append(target)
    entered = {target for _, target in ties}
    seen: set[int] = set()
    left: list[int] = []
    for root in sorted(range(count), key=lambda box: (box > 0, box in entered)):
        walk(root, onwards, seen, left)
    return left[::-1]


def _folded(levels: Sequence[int]) -> list[int]:
    """The rows of the levels: one, or several for a level of very many boxes, which take turns."""
    most = max(_WIDEST_ROW, 3 * isqrt(len(levels)) // 2)
    ranks, first = [0] * len(levels), 0
    for level in sorted(set(levels)):
        members = [box for box, its in enumerate(levels) if its == level]
        rows = -(-len(members) // most)
        for turn, box in enumerate(members):
            ranks[box] = first + turn % rows
        first += rows
    return ranks


def _chain(source: Item, target: Item, caption: Caption) -> list[Item]:
    """The bends of an arrow from its upper end to its lower, all joined; its label is the one in the middle."""
    upper, lower = sorted((source, target), key=attrgetter("row"))
    middle = (upper.row + lower.row) // 4 * 2 + 1
    between = range(upper.row + 1, lower.row)
    chain = [Item(row) for row in (between if len(between) < 2 * _LONGEST else [middle])]
    label = next(one for one in chain if one.row == middle)
    label.left = label.right = caption.width / 2
    label.height = caption.height
    if len(chain) == len(between):
        for one, other in pairwise([upper, *chain, lower]):
            one.below.append(other)
            other.above.append(one)
    return chain


def _untangle(rows: list[list[Item]]) -> None:
    """Sort each row by where its neighbours stand, down and up by turns, and keep the order with fewest crossings."""
    _number(rows)
    best, fewest = [list(row) for row in rows], _crossings(rows)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {
                item: sum(one.place for one in near) / len(near) if near else item.place
                for item in row
                for near in (item.above if sweep % 2 == 0 else item.below,)
            }
            row.sort(key=wanted.__getitem__)
            _number([row])
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    rows[:] = best
    _number(rows)


def _number(rows: Iterable[Sequence[Item]]) -> None:
    for row in rows:
        for place, item in enumerate(row):
            item.place = place


def _crossings(rows: Sequence[Sequence[Item]]) -> int:
    crossings = 0
    for row in rows:
        ends: list[int] = []
        for item in row:
            found = [one.place for one in item.below]
            crossings += sum(len(ends) - bisect_right(ends, place) for place in found)
            for place in found:
                insort(ends, place)
    return crossings


def _apart(left: Item, right: Item) -> float:
    between = _BETWEEN if left.height and right.height else _BESIDE_BEND
    return left.right + between + right.left


def _align(rows: Sequence[Sequence[Item]]) -> None:
    """Move everything towards what it is joined to; the bends of one arrow pull each other straight."""
    for row in rows:
        for left, right in pairwise(row):
            right.x = left.x + _apart(left, right)
    for _ in range(min(_MOST_ROUNDS, 3 + _WORK // sum(map(len, rows)))):
        for row in (*rows, *reversed(rows)):
            wanted = [_pulled(item) for item in row]
            for item, x in zip(row, _spaced(wanted, [_apart(*pair) for pair in pairwise(row)]), strict=True):
                item.x = x


def _pulled(item: Item) -> float:
    near = [*item.above, *item.below]
    weights = [1.0 if item.is_box or one.is_box else _STRAIGHT for one in near]
    if not near:
        return item.x
    return sum(weight * one.x for weight, one in zip(weights, near, strict=True)) / sum(weights)


def _spaced(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The positions with these gaps that are nearest to the wanted ones (isotonic regression)."""
    offsets = list(accumulate(gaps, initial=0.0))
    blocks: list[tuple[float, int]] = []
    for want, offset in zip(wanted, offsets, strict=False):
        total, count = want - offset, 1
        while blocks and blocks[-1][0] * count > total * blocks[-1][1]:
            before, members = blocks.pop()
            total, count = total + before, count + members
        blocks.append((total, count))
    firsts = [total / count for total, count in blocks for _ in range(count)]
    return [first + offset for first, offset in zip(firsts, offsets, strict=False)]


def _straighten(chains: Sequence[Sequence[Item]], rows: Sequence[Sequence[Item]]) -> None:
    """Give the bends of an arrow one column for as long as their neighbours leave room for it, then the next column."""
    for chain in sorted(chains, key=len, reverse=True):
        run: list[Item] = []
        lowest, highest = -inf, inf
        for item in chain:
            left, right = _room(item, rows[item.row])
            if max(left, lowest) > min(right, highest):
                _set(run, lowest, highest)
                run, lowest, highest = [], -inf, inf
            run.append(item)
            lowest, highest = max(left, lowest), min(right, highest)
        _set(run, lowest, highest)


def _room(item: Item, row: Sequence[Item]) -> tuple[float, float]:
    at = item.place
    lowest = row[at - 1].x + _apart(row[at - 1], item) if at else -inf
    return lowest, row[at + 1].x - _apart(item, row[at + 1]) if at + 1 < len(row) else inf


def _set(run: Sequence[Item], lowest: float, highest: float) -> None:
    mean = sum(item.x for item in run) / max(1, len(run))
    for item in run:
        item.x = min(max(mean, lowest), highest)


def _levels(rows: Sequence[Sequence[Item]]) -> list[tuple[float, float]]:
    heights = [max((item.height for item in row), default=0.0) for row in rows]
    levels = [(0.0, heights[0])]
    for row, (height, next_height) in zip(rows, pairwise(heights), strict=False):
        aside = max((abs(item.x - one.x) for item in row for one in item.below), default=0.0)
        gap = _LABEL_GAP if height and next_height else _GAP
        top = levels[-1][1] + min(_WIDEST_GAP, max(gap, HEAD + gap / 2 + aside * _STEEPNESS))
        levels.append((top, top + next_height))
    return levels


def _ways(
    arrows: Sequence[Arrow],
    chains: Sequence[Sequence[Item]],
    boxes: Sequence[Item],
    figures: Sequence[Figure],
    levels: Sequence[tuple[float, float]],
) -> list[tuple[Point, ...]]:
    """The way of each arrow: upright through rows, sideways between them; its ends stand in order along a box."""
    ends: list[list[tuple[Point, Point]]] = [[] for _ in arrows]
    sides: dict[tuple[int, bool], list[tuple[float, int]]] = {}
    for number, (arrow, chain) in enumerate(zip(arrows, chains, strict=True)):
        upper, lower = sorted((arrow.source, arrow.target), key=lambda box: boxes[box].row)
        sides.setdefault((upper, True), []).append((chain[0].x, number))
        sides.setdefault((lower, False), []).append((chain[-1].x, number))
    # Lower sides first, so that the upper end of each arrow is the first of its two.
    for (box, below), joined in sorted(sides.items(), key=lambda side: not side[0][1]):
        joined.sort()
        figure, (top, bottom) = figures[box], levels[boxes[box].row]
        middle, most = boxes[box].x, len(joined) - 1
        apart = min(_BETWEEN_PORTS, 2 * figure.reach / max(1, most))
        port = -inf
        for turn, (x, number) in enumerate(joined):
            left, right = middle - figure.reach + turn * apart, middle + figure.reach - (most - turn) * apart
            port = max(min(max(x, left), right), port + apart)
            far = figure.border(port - middle)
            border = (top + bottom) / 2 + (far if below else -far)
            ends[number].append(((port, border), (port, bottom + HEAD if below else top - HEAD)))
    ways = []
    for arrow, chain, (begin, end) in zip(arrows, chains, ends, strict=True):
        between = [(item.x, y) for item in chain for y in levels[item.row]]
        way = (*begin, *between, *reversed(end))
        ways.append(way if boxes[arrow.source].row < boxes[arrow.target].row else way[::-1])
    return ways
