"""A graph as a standalone SVG picture, without scripts and without anything from elsewhere (spec 3.6)."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from xml.etree import ElementTree as ET

from skillweave.graph.drawing.figures import LINE, LOOP, SMALL_LINE, SMALL_TEXT, TEXT, Figure, Loop
from skillweave.graph.drawing.layout import HEAD, Point, Wire, layout_of
from skillweave.graph.drawing.picture import Arrow, EndKind, Mark, Picture, picture_of
from skillweave.graph.drawn import Edge, EdgeKind, Node, Overlay

_COLOURS = {
    "ground": ("#ffffff", "#0f172a"),
    "text": ("#0f172a", "#e2e8f0"),
    "box": ("#f1f5f9", "#1e293b"),
    "border": ("#94a3b8", "#64748b"),
    "line": ("#64748b", "#94a3b8"),
    "decision": ("#fef9e7", "#2d2813"),
    "decision-border": ("#d4a72c", "#a17c1c"),
    "start": ("#334155", "#cbd5e1"),
    "start-text": ("#ffffff", "#0f172a"),
    "tool": ("#2563eb", "#60a5fa"),
    "status": ("#0f766e", "#2dd4bf"),
    "guard": ("#b45309", "#fbbf24"),
    "model": ("#64748b", "#94a3b8"),
    "visited": ("#dbeafe", "#1e3a5f"),
    "visited-border": ("#3b82f6", "#3b82f6"),
    "current": ("#2563eb", "#2563eb"),
    "current-border": ("#1e40af", "#93c5fd"),
    "current-text": ("#ffffff", "#ffffff"),
    "reachable": ("#16a34a", "#4ade80"),
}
"""What each part is drawn in, on light and on dark ground."""
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
_KINDS = {"entry": "line", "predicate": "line", "tool": "tool", "status": "status", "guard": "guard", "model": "model"}
ROOT = "skillweave-graph"
_MARGIN = 20.0
_HALF_HEAD = 4.0
_LOOP_MOUTH = 5.0
_CORNER = 8.0
_BASELINE = 0.35
_MODEL_KEY = "only the model goes this way"
_MARK_KEYS = {Mark.VISITED: "visited", Mark.CURRENT: "current skill", Mark.REACHABLE: "can be reached"}
_KEY_WIDTH = 220.0
_KEY_HEIGHT = 26.0
_KEY_SAMPLE = 32.0
_KEY_BOX = 14.0


def to_svg(nodes: Sequence[Node], edges: Sequence[Edge], overlay: Overlay | None = None) -> str:
    """An SVG 1.1 document of these nodes and edges, dotted for the model's ways; the same input gives the same text."""
    picture = picture_of(nodes, edges, overlay)
    plan = layout_of(picture)
    key = _key_of(picture)
    width = max(plan.width, _KEY_WIDTH if key else 0.0) + 2 * _MARGIN
    height = plan.height + 2 * _MARGIN + len(key) * _KEY_HEIGHT
    title = f"Skill graph: {_counted('skill', picture.skills)}, {_counted('edge', len(picture.arrows))}"
    root = _root(title, _number(width), _number(height))
    body = ET.SubElement(root, "g", {"transform": f"translate({_number(_MARGIN)} {_number(_MARGIN)})"})
    for wire in plan.wires:
        _draw_wire(body, picture, wire)
    placed = list(zip(plan.figures, plan.middles, strict=True))
    for figure, (x, y) in placed:
        for loop in figure.loops:
            _draw_loop(body, picture, loop, (x + figure.width / 2, y + loop.below))
    for figure, middle in placed:
        _draw_figure(body, figure, middle)
    for number, (sample, says) in enumerate(key.items(), start=1):
        _draw_key(body, sample, says, plan.height + number * _KEY_HEIGHT)
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode")


def _root(title: str, width: str, height: str) -> ET.Element:
    size = {"width": width, "height": height}
    about = {"role": "img", "aria-label": title, "class": ROOT}
    namespace = {"xmlns": "http://www.w3.org/2000/svg", "version": "1.1"}
    root = ET.Element("svg", namespace | size | {"viewBox": f"0 0 {width} {height}"} | about)
    ET.SubElement(root, "title").text = title
    ET.SubElement(root, "style").text = style()
    ET.SubElement(root, "rect", {"class": "ground", **size, "rx": _number(_CORNER)})
    return root


def _counted(word: str, count: int) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _draw_wire(body: ET.Element, picture: Picture, wire: Wire) -> None:
    group = _edge_group(body, picture, wire.arrow)
    points = wire.points
    x, y = points[-1]
    back = y - HEAD if points[0][1] < y else y + HEAD
    ET.SubElement(group, "path", {"class": "line", "d": _line([*points[:-1], (x, back)])})
    corners = [(x, y), (x - _HALF_HEAD, back), (x + _HALF_HEAD, back)]
    ET.SubElement(group, "path", {"class": "head", "d": _polygon(corners)})
    if wire.label is not None:
        rect = _rect(wire.label, wire.caption.width, wire.caption.height)
        ET.SubElement(group, "rect", {"class": "label", **rect, "rx": "3"})
        _write(group, wire.caption.lines, wire.label, SMALL_TEXT, SMALL_LINE)


def _draw_loop(body: ET.Element, picture: Picture, loop: Loop, mouth: Point) -> None:
    group = _edge_group(body, picture, picture.arrows[loop.arrow])
    x, y = mouth
    out, upper, lower = x + LOOP, y - _LOOP_MOUTH, y + _LOOP_MOUTH
    bend = [(out, upper - _LOOP_MOUTH), (out, lower + _LOOP_MOUTH / 2), (x + HEAD, lower)]
    ET.SubElement(group, "path", {"class": "line", "d": f"M{_pair((x, upper))}C{' '.join(map(_pair, bend))}"})
    corners = [(x, lower), (x + HEAD, lower - _HALF_HEAD), (x + HEAD, lower + _HALF_HEAD)]
    ET.SubElement(group, "path", {"class": "head", "d": _polygon(corners)})
    if loop.caption.lines:
        group.set("class", f"{group.get('class')} beside")
        _write(group, loop.caption.lines, (x + LOOP, y), SMALL_TEXT, SMALL_LINE)


def _draw_figure(body: ET.Element, figure: Figure, middle: Point) -> None:
    end = figure.end
    kind = "decision" if end.kind is EndKind.PREDICATE else end.kind.value
    group = ET.SubElement(body, "g", {"class": " ".join(["node", kind, *sorted(end.marks)])})
    ET.SubElement(group, "title").text = end.label
    x, y, aside, up = *middle, figure.width / 2, figure.height / 2
    if end.kind is EndKind.PREDICATE:
        corners = [(x, y - up), (x + aside, y), (x, y + up), (x - aside, y)]
        ET.SubElement(group, "path", {"class": "shape", "d": _polygon(corners)})
    else:
        corner = figure.height / 2 if end.kind in (EndKind.START, EndKind.ANY) else _CORNER
        rect = _rect(middle, figure.width, figure.height)
        ET.SubElement(group, "rect", {"class": "shape", **rect, "rx": _number(corner)})
    _write(group, figure.lines, middle, TEXT, LINE)


def _key_of(picture: Picture) -> dict[EdgeKind | Mark, str]:
    """What the picture shows that does not explain itself, and what it means."""
    marks = {mark for end in picture.ends for mark in end.marks}
    key: dict[EdgeKind | Mark, str] = {mark: says for mark, says in _MARK_KEYS.items() if mark in marks}
    if any(arrow.kind is EdgeKind.MODEL for arrow in picture.arrows):
        key[EdgeKind.MODEL] = _MODEL_KEY
    return key


def _draw_key(body: ET.Element, sample: EdgeKind | Mark, says: str, y: float) -> None:
    group = ET.SubElement(body, "g", {"class": "key beside"})
    shown = ET.SubElement(group, "g", {"class": sample.value})
    if isinstance(sample, Mark):
        box = _rect((_KEY_SAMPLE / 2, y), _KEY_SAMPLE, _KEY_BOX)
        ET.SubElement(shown, "rect", {"class": "shape", **box, "rx": _number(_CORNER / 2)})
    else:
        ET.SubElement(shown, "path", {"class": "line", "d": _line([(0, y), (_KEY_SAMPLE, y)])})
    _write(group, [says], (_KEY_SAMPLE * 1.25, y), SMALL_TEXT, SMALL_LINE)


def _edge_group(body: ET.Element, picture: Picture, arrow: Arrow) -> ET.Element:
    ends = picture.ends[arrow.source], picture.ends[arrow.target]
    faded = [Mark.APART.value] if any(Mark.APART in end.marks for end in ends) else []
    group = ET.SubElement(body, "g", {"class": " ".join(["edge", arrow.kind.value, *faded])})
    title = f"{ends[0].label} → {ends[1].label}"
    ET.SubElement(group, "title").text = f"{title}: {arrow.label}" if arrow.label else title
    return group


def _write(group: ET.Element, lines: Sequence[str], middle: Point, size: float, height: float) -> None:
    first = middle[1] - (len(lines) - 1) / 2 * height + size * _BASELINE
    for number, line in enumerate(lines):
        place = {"x": _number(middle[0]), "y": _number(first + number * height)}
        ET.SubElement(group, "text", place).text = line


def _line(points: Sequence[Point]) -> str:
    """Straight to every second point, and on to the next in a curve that leaves and arrives upright."""
    pieces = [f"M{_pair(points[0])}"]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0 or start[0] == end[0]:
            pieces.append(f"L{_pair(end)}")
        else:
            half = (start[1] + end[1]) / 2
            pieces.append(f"C{_pair((start[0], half))} {_pair((end[0], half))} {_pair(end)}")
    return "".join(pieces)


def _polygon(corners: Sequence[Point]) -> str:
    return f"M{'L'.join(map(_pair, corners))}Z"


def _rect(middle: Point, width: float, height: float) -> dict[str, str]:
    sides = {"x": middle[0] - width / 2, "y": middle[1] - height / 2, "width": width, "height": height}
    return {side: _number(length) for side, length in sides.items()}


def _pair(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def style() -> str:
    """The style sheet; it concerns nothing but these drawings, also where several stand in one page."""
    return "\n".join([*_shapes(), *_colours(LIGHT), "@media (prefers-color-scheme: dark) {", *_colours(DARK), "}"])


def _shapes() -> list[str]:
    root = f".{ROOT}"
    font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
    return [
        f"{root} text {{ font-family: {font}; text-anchor: middle; }}",
        f"{root} .node text {{ font-size: {TEXT:g}px; }}",
        f"{root} .edge text, {root} .key text {{ font-size: {SMALL_TEXT:g}px; }}",
        f"{root} .shape {{ stroke-width: 1.3; stroke-linejoin: round; }}",
        f"{root} .line {{ fill: none; stroke-width: 1.4; }}",
        f"{root} .model .line {{ stroke-dasharray: 2 4; stroke-linecap: round; stroke-width: 1.7; }}",
        f"{root} .any .shape, {root} .unknown .shape {{ stroke-dasharray: 5 3; }}",
        f"{root} .beside text {{ text-anchor: start; }}",
        f"{root} .start text, {root} .current text {{ font-weight: 600; }}",
        f"{root} .reachable .shape {{ stroke-width: 2; stroke-dasharray: 6 3; }}",
        f"{root} .current .shape {{ stroke-width: 3; stroke-dasharray: none; }}",
        f"{root} .apart .shape, {root} .apart .line, {root} .apart .head {{ opacity: 0.35; }}",
    ]


def _colours(colours: Mapping[str, str]) -> list[str]:
    root = f".{ROOT}"
    kinds = [
        f"{root} .{kind} .line {{ stroke: {colours[name]}; }} "
        f"{root} .{kind} .head, {root} .edge.{kind} text {{ fill: {colours[name]}; }}"
        for kind, name in _KINDS.items()
    ]
    return [
        f"{root} .ground, {root} .label {{ fill: {colours['ground']}; }}",
        f"{root} .shape {{ fill: {colours['box']}; stroke: {colours['border']}; }}",
        f"{root} text {{ fill: {colours['text']}; }}",
        *kinds,
        f"{root} .decision .shape {{ fill: {colours['decision']}; stroke: {colours['decision-border']}; }}",
        f"{root} .start .shape {{ fill: {colours['start']}; stroke: {colours['start']}; }}",
        f"{root} .start text {{ fill: {colours['start-text']}; }}",
        f"{root} .any .shape, {root} .unknown .shape {{ fill: none; }}",
        f"{root} .visited .shape {{ fill: {colours['visited']}; stroke: {colours['visited-border']}; }}",
        f"{root} .reachable .shape {{ stroke: {colours['reachable']}; }}",
        f"{root} .current .shape {{ fill: {colours['current']}; stroke: {colours['current-border']}; }}",
        f"{root} .current text {{ fill: {colours['current-text']}; }}",
        f"{root} .node.apart text, {root} .edge.apart text {{ fill: {colours['line']}; }}",
    ]
