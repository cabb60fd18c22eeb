"""Entities as JSON and for people: what was loaded, one entity with its neighbours, what lies near, and the context."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillweave.cli.output.page import Ink, Page, below, counted, finding_line, listed, printable
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.frozen import FrozenJson, thaw
from skillweave.knowledge.entity import Entity, NearbyEntities, Neighbour, Point
from skillweave.knowledge.shown import ContextShown, LineShown

_LONGEST_VALUE = 200
"""Characters of a property that are shown to people; `--json` has all of it."""
_SHOWN_ALIASES = 3
_SHOWN = 20
"""So many neighbours, and entities near a place, people see."""


@dataclass(frozen=True, slots=True)
class Pieces(Portable):
    """How many entities and edges were loaded or written, and what was found wrong with what was read."""

    entities: int
    edges: int
    findings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityShown(Portable):
    """An entity and its neighbours, 1,000 at most."""

    entity: Entity
    neighbours: tuple[Neighbour, ...]


def loaded_text(loaded: Pieces, page: Page, *, place: str) -> str:
    """What was found wrong, then how much was loaded."""
    lines = [finding_line(found, page) for found in loaded.findings]
    return below(lines, f"{_counts(loaded)} loaded into {printable(place)}.")


def exported_text(exported: Pieces, page: Page, *, files: Sequence[str]) -> str:
    """How much was written, and where it is."""
    return page.entry("written", f"{_counts(exported)} to {' and '.join(files)}", Ink.GOOD)


def _counts(pieces: Pieces) -> str:
    return f"{counted(pieces.entities, 'entity', 'entities')} and {counted(pieces.edges, 'edge')}"


def entity_text(shown: EntityShown, page: Page) -> str:
    """The entity with everything that is known of it, then what it is connected with."""
    entity = shown.entity
    lines = [page.paint(printable(f"{entity.id} ({entity.label})"), Ink.STRONG)]
    if entity.aliases:
        lines.append(page.entry("also called", listed(entity.aliases)))
    if entity.location is not None:
        lines.append(page.entry("location", point_text(entity.location)))
    lines += [page.entry(printable(name), _value(value)) for name, value in entity.properties.items()]
    neighbours = [f"  {page.wrap(_neighbour(entity, one), 4).lstrip()}" for one in shown.neighbours[:_SHOWN]]
    if len(shown.neighbours) > _SHOWN:
        neighbours.append(f"  and {len(shown.neighbours) - _SHOWN:,} more (--json lists them)")
    if neighbours:
        lines += ["", page.paint("neighbours", Ink.STRONG), *neighbours]
    return "\n".join(lines)


def near_text(near: NearbyEntities, page: Page, *, point: Point, radius: float) -> str:
    """A line for each entity with its distance in feet, nearest first, and what was not compared."""
    distances = [_feet(one.distance_ft) for one in near.found[:_SHOWN]]
    width = max(map(len, distances), default=0)
    lines = [
        f"{far:>{width}}  {printable(_called(one.entity))}" for far, one in zip(distances, near.found, strict=False)
    ]
    more = len(near.found) - len(lines) + near.more
    if more:
        lines.append(page.wrap(f"and {more:,} more (--json lists them)"))
    if not lines:
        around = f"within {_feet(radius)} of {point_text(point)}"
        lines.append(page.wrap(f"No entities with a place in {point.datum} lie {around}."))
    others = sum(near.other_datums.values())
    if others:
        counts = listed(f"{count:,} in {datum}" for datum, count in sorted(near.other_datums.items()))
        is_, its = ("is", "its") if others == 1 else ("are", "their")
        reason = f"{counted(others, 'entity', 'entities')} about there {is_} not compared, as {its} degrees"
        lines.append(page.paint(page.wrap(f"{reason} are of another datum: {counts}"), Ink.WARN))
    return "\n".join(lines)


def context_text(shown: ContextShown, page: Page, *, heading: str, nodes: bool) -> str:
    """The lines as the model sees them, with the entities of each where `nodes` says so, then cost and omissions."""
    lines = [_line(line, page, nodes=nodes) for part in shown.sections for line in part.lines]
    return below([heading, *lines] if shown.sections else [], *_figures(shown, page))


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
