"""Where arrows meet the upper and lower borders of boxes, side by side."""

from collections.abc import Sequence

from skillweave.graph.drawing.layout.rows import Rows
from skillweave.graph.drawing.layout.settling import settled
from skillweave.graph.drawing.layout.sizes import Box, Tie

_APART = 16.0


def ports_of(
    boxes: Sequence[Box], ties: Sequence[Tie], rows: Rows, columns: Sequence[float]
) -> list[tuple[float, float]]:
    """For each tie where it leaves its source and where it arrives at its target, from left to right.

    On each side of a box its arrows stand in the order of what they come from, as straight under it as there is room.
    """
    ports = [[0.0, 0.0] for _ in ties]
    sides: dict[tuple[int, bool], list[tuple[float, int, int]]] = {}
    for number, tie in enumerate(ties):
        down = rows.row_of[tie.source] < rows.row_of[tie.target]
        chain = rows.chains[number] if down else rows.chains[number][::-1]
        sides.setdefault((tie.source, down), []).append((columns[chain[0]], number, 0))
        sides.setdefault((tie.target, not down), []).append((columns[chain[-1]], number, 1))
    for (box, below), arrows in sides.items():
        arrows.sort()
        reach, middle = boxes[box].reach(below=below), columns[box]
        apart = min(_APART, 2 * reach / max(1, len(arrows) - 1))
        wanted = [x for x, _, _ in arrows]
        gaps = [0.0, *[apart] * (len(arrows) - 1)]
        places = settled(wanted, [1.0] * len(arrows), gaps, middle - reach, middle + reach)
        for (_, number, end), place in zip(arrows, places, strict=True):
            ports[number][end] = place
    return [(leaving, arriving) for leaving, arriving in ports]
