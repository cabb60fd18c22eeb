"""Entities as JSON and for people: what was loaded, one entity with its neighbours, what lies near, and the context."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillweave.cli.output.page import Ink, Page, counted, finding_line, listed, printable
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.frozen import FrozenJson, thaw
from skillweave.knowledge.entity import MOST_NEIGHBOURS, Entity, Nearby, Neighbour, Point
from skillweave.knowledge.shown import ContextShown, LineShown

_LONGEST_VALUE = 200
"""Characters of a property that are shown to people; `--json` has all of it."""
_SHOWN_ALIASES = 3


@dataclass(frozen=True, slots=True)
class Loaded(Portable):
    """What was put into a graph, and what was found wrong with what was read."""

    entities: int
    edges: int
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Exported(Portable):
    """What was written, and into which files."""

    entities: int
    edges: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntityShown(Portable):
    """An entity and its neighbours; `more` of those are not listed, counted as far as 1,000."""

    entity: Entity
    neighbours: tuple[Neighbour, ...]
    more: int


@dataclass(frozen=True, slots=True)
class NearShown(Portable):
    """What lies within `radius_ft` feet of a point, nearest first; `more` are those that the limit left out.

    `other_datums` counts, by datum, what was not compared, because its degrees are of another datum.
    """

    point: Point
    radius_ft: float
    label: str | None
    found: tuple[Nearby, ...]
    more: int
    other_datums: Mapping[str, int]


def loaded_text(loaded: Loaded, page: Page, *, place: str) -> str:
    """What was found wrong, then how much was loaded."""
    lines = [finding_line(found, page) for found in loaded.findings]
    what = f"{_entities(loaded.entities)} and {counted(loaded.edges, 'edge')}"
    return "\n".join([*lines, *([""] if lines else []), f"{what} loaded into {printable(place)}."])


def exported_text(exported: Exported, page: Page) -> str:
    """How much was written, and where it is."""
    what = f"{_entities(exported.entities)} and {counted(exported.edges, 'edge')}"
    return page.entry("written", f"{what} to {' and '.join(exported.files)}", Ink.GOOD)


def entity_text(shown: EntityShown, page: Page) -> str:
    """The entity with everything that is known of it, then what it is connected with."""
    entity = shown.entity
    lines = [page.paint(printable(f"{entity.id} ({entity.label})"), Ink.STRONG)]
    if entity.aliases:
        lines.append(page.entry("also called", listed(entity.aliases)))
    if entity.location is not None:
        lines.append(page.entry("location", point_text(entity.location)))
    lines += [page.entry(printable(name), _value(value)) for name, value in entity.properties.items()]
    neighbours = [f"  {page.wrap(_neighbour(entity, one), 4).lstrip()}" for one in shown.neighbours]
    if shown.more:
        beyond = len(shown.neighbours) + shown.more >= MOST_NEIGHBOURS
        neighbours.append(f"  and {shown.more:,}{' or more' if beyond else ''} more (--limit shows them)")
    if neighbours:
        lines += ["", page.paint("neighbours", Ink.STRONG), *neighbours]
    return "\n".join(lines)


def near_text(shown: NearShown, page: Page) -> str:
    """A line for each entity with its distance in feet, nearest first, and what was not compared."""
    what = "entities" if shown.label is None else f"entities with the label {shown.label}"
    around = f"within {_feet(shown.radius_ft)} of {point_text(shown.point)}"
    distances = [_feet(one.distance_ft) for one in shown.found]
    width = max(map(len, distances), default=0)
    lines = [
        f"{distance:>{width}}  {printable(_called(one.entity))}"
        for distance, one in zip(distances, shown.found, strict=True)
    ]
    if shown.more:
        lines.append(page.wrap(f"and {shown.more:,} more (--limit shows them)"))
    if not lines:
        lines.append(page.wrap(f"No {what} with a place in {shown.point.datum} lie {around}."))
    others = sum(shown.other_datums.values())
    if others:
        named = listed(f"{count:,} in {datum}" for datum, count in sorted(shown.other_datums.items()))
        reason = f"{_entities(others)} about there {_is(others)} not compared, as {_its(others)} degrees"
        lines.append(page.paint(page.wrap(f"{reason} are of another datum: {named}"), Ink.WARN))
    return "\n".join(lines)


def context_text(shown: ContextShown, page: Page, *, heading: str, nodes: bool) -> str:
    """The lines as the model sees them, with the entities of each where `nodes` says so, then cost and omissions."""
    lines: list[str] = []
    if shown.sections:
        lines += [heading, *(_line(line, page, nodes=nodes) for part in shown.sections for line in part.lines), ""]
    lines += _figures(shown, page)
    return "\n".join(lines)


def _figures(shown: ContextShown, page: Page) -> Iterator[str]:
    yield page.entry("entity", shown.entity)
    yield page.entry("tags", listed(shown.tags))
    parts = listed(f"{part.name} {part.tokens:,}" for part in shown.sections)
    yield page.entry("tokens", f"{shown.tokens:,}{f' ({parts})' if shown.sections else ''}")
    for omitted in shown.omitted:
        yield page.entry("left out", omitted, Ink.WARN)
    for tag in shown.unknown_tags:
        yield page.entry("not listed", f"tag {tag}: the pack does not say what it shows", Ink.WARN)
    if not shown.sections:
        yield page.wrap("Nothing of this entity is shown for these tags.")


def _line(line: LineShown, page: Page, *, nodes: bool) -> str:
    text = printable(line.text)
    if not nodes or not line.entities:
        return text
    return f"{text}  {page.paint(printable(f'<- {listed(line.entities)}'), Ink.FAINT)}"


def point_text(point: Point) -> str:
    """`31.86, -101.95 (NAD83)`."""
    return f"{point.latitude!r}, {point.longitude!r} ({point.datum})"


def _neighbour(entity: Entity, one: Neighbour) -> str:
    arrow = "->" if one.edge.source == entity.id else "<-"
    known = ", ".join(f"{name} {_value(value)}" for name, value in one.edge.properties.items())
    return f"{one.edge.relation} {arrow} {_called(one.entity)}{f' [{_cut(known)}]' if known else ''}"


def _called(entity: Entity) -> str:
    """`dock-7 (Dock): North Dock, D7`; its property `name` where it has no other names."""
    name = entity.properties.get("name")
    names = listed(entity.aliases[:_SHOWN_ALIASES] or ((name,) if isinstance(name, str) else ()), none="")
    return f"{entity.id} ({entity.label}){f': {names}' if names else ''}"


def _value(value: FrozenJson) -> str:
    return _cut(value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} ..."


def _feet(distance: float) -> str:
    return f"{distance:,.1f} ft"


def _entities(count: int) -> str:
    return f"{count:,} {'entity' if count == 1 else 'entities'}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _its(count: int) -> str:
    return "its" if count == 1 else "their"
