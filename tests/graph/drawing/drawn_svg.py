"""An SVG drawing read back: its boxes and arrows with their places."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

_SVG = "{http://www.w3.org/2000/svg}"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")

Point = tuple[float, float]


@dataclass(frozen=True)
class DrawnBox:
    """A node's group: its classes, title, lines and rectangle."""

    classes: frozenset[str]
    title: str
    lines: tuple[str, ...]
    left: float
    top: float
    right: float
    bottom: float

    def holds(self, x: float, y: float) -> bool:
        """Whether the point lies inside, or on the border."""
        return self.left <= x <= self.right and self.top <= y <= self.bottom

    def border_distance(self, point: Point) -> float:
        """How far the point is off the border of the shape, measured upright or level, whichever is less."""
        x, y = point[0] - (self.left + self.right) / 2, point[1] - (self.top + self.bottom) / 2
        aside, up = (self.right - self.left) / 2, (self.bottom - self.top) / 2
        if "decision" in self.classes:
            return abs(abs(y) - up * (1 - abs(x) / aside))
        return min(abs(abs(x) - aside), abs(abs(y) - up))


@dataclass(frozen=True)
class DrawnArrow:
    """An edge's group: its classes, title, where it begins, the tip and a corner of its head, its label's rectangle."""

    classes: frozenset[str]
    title: str
    lines: tuple[str, ...]
    start: Point
    tip: Point
    base: Point
    label: tuple[float, float, float, float] | None


@dataclass(frozen=True)
class Drawn:
    """A whole drawing; the key is by the class of each sample."""

    root: ET.Element
    boxes: tuple[DrawnBox, ...]
    arrows: tuple[DrawnArrow, ...]
    key: dict[str, str]


def read_svg(text: str) -> Drawn:
    """The drawing, which must be well-formed."""
    root = ET.fromstring(text)
    groups = [group for group in root.iter(f"{_SVG}g") if group.get("class")]
    boxes = [group for group in groups if "node" in _classes(group)]
    arrows = [group for group in groups if "edge" in _classes(group)]
    key = {group[0].attrib["class"]: _lines(group)[0] for group in groups if "key" in _classes(group)}
    return Drawn(root, tuple(map(_box, boxes)), tuple(map(_arrow, arrows)), key)


def _box(group: ET.Element) -> DrawnBox:
    rect, path = group.find(f"{_SVG}rect"), group.find(f"{_SVG}path")
    if rect is not None:
        left, top, right, bottom = _rectangle(rect)
    else:
        assert path is not None
        xs, ys = _points(path)[0::2], _points(path)[1::2]
        left, top, right, bottom = min(xs), min(ys), max(xs), max(ys)
    return DrawnBox(_classes(group), _title(group), _lines(group), left, top, right, bottom)


def _arrow(group: ET.Element) -> DrawnArrow:
    line, head = group.findall(f"{_SVG}path")
    label = group.find(f"{_SVG}rect")
    x, y, *_ = _points(line)
    tip_x, tip_y, base_x, base_y, *_ = _points(head)
    rectangle = None if label is None else _rectangle(label)
    return DrawnArrow(
        _classes(group), _title(group), _lines(group), (x, y), (tip_x, tip_y), (base_x, base_y), rectangle
    )


def _classes(group: ET.Element) -> frozenset[str]:
    return frozenset(group.get("class", "").split())


def _title(group: ET.Element) -> str:
    title = group.find(f"{_SVG}title")
    assert title is not None
    return title.text or ""


def _lines(group: ET.Element) -> tuple[str, ...]:
    return tuple(text.text or "" for text in group.findall(f"{_SVG}text"))


def _rectangle(rect: ET.Element) -> tuple[float, float, float, float]:
    x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def _points(path: ET.Element) -> list[float]:
    return [float(number) for number in _NUMBER.findall(path.attrib["d"])]
