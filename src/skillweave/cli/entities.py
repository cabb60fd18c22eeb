"""`skillweave entities`: what is known of the things that conversations are about, into a store and out of it."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.entities import (
    graph_to_fill,
    known_entity,
    point_of,
    require_read,
    rules_in,
    told_in_short,
)
from skillweave.cli.arguments.skills import interruptible
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer, Ink, Page, below, counted, finding_line, listed, printable
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.frozen import FrozenJson, thaw
from skillweave.knowledge.entity import Entity, NearbyEntities, Neighbour, Point
from skillweave.knowledge.shown import ContextShown, LineShown
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.knowledge.entity import Edge

T = TypeVar("T")

EXAMPLES = {
    "load": """
skillweave entities load harbour.json --entities sqlite:///harbour.db
skillweave entities load ships.csv berths.csv --entities postgresql://weaver@db.internal/harbour
skillweave entities load harbour.json --skills harbour.yaml --entities sqlite:///harbour.db --json
""",
    "export": """
skillweave entities export harbour.json --entities sqlite:///harbour.db
skillweave entities export ships.csv berths.csv --entities sqlite:///harbour.db
""",
    "show": """
skillweave entities show dock-7 --entities harbour.json
skillweave entities show "North Dock" --entities sqlite:///harbour.db --json
""",
    "near": """
skillweave entities near --of dock-7 --radius 5280 --entities sqlite:///harbour.db
skillweave entities near --at 53.54,9.97 --datum WGS84 --radius 1200 --entities harbour.json
""",
    "context": """
skillweave entities context dock-7 --skill berth-planning --skills harbour.yaml --entities harbour.json
skillweave entities context "North Dock" --skill berth-planning --skills harbour.yaml --entities harbour.json --nodes
""",
}
PATIENCE_SECONDS = 10.0
"""Who asks at a shell would rather wait than miss a section."""
MILE = 5280.0
"""The circle that is searched where nobody says how large it is, in feet."""
_STEP = 1000
"""Pieces after which the line of a load counts on."""


async def load(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="A JSON file, or CSV files of entities and of edges, which their first lines tell apart.",
        ),
    ],
    *,
    of: options.OfEntities,
) -> Answer:
    """Put entities and edges of files into a database.

    What is there already under the same id is replaced, and everything else stays; it is one transaction. A pack says
    which properties are other names and places. What cannot be read is left out and told with its place, and the exit
    code is 1; where a file cannot be read to its end, or an edge leads to an entity that is nowhere, nothing is loaded.
    """
    from skillweave.diagnostics import has_errors
    from skillweave.knowledge.entity import UnknownEnd
    from skillweave.sources.entity_files import EntityFiles

    read = EntityFiles(*files, rules=await rules_in(of.sources_at_hand()))
    require_read(read.unread)
    counts: Counter[str] = Counter()

    def edges() -> "Iterator[Edge]":
        yield from _counted(read.edges(), "edges", counts)
        # Raised inside the transaction, which this takes back.
        require_read(read.unread)

    async with graph_to_fill(of.entities, of.tenant) as graph:
        with interruptible(lambda: "; nothing is loaded. Run it again"):
            try:
                await graph.put(_counted(read.entities(), "entities", counts), edges())
            except UnknownEnd as error:
                # An entity that was left out is why its edges lead nowhere.
                for told in told_in_short(read.diagnostics):
                    error.add_note(told)
                raise
    loaded = Pieces(counts["entities"], counts["edges"], read.diagnostics)
    text = partial(loaded_text, loaded, place=without_secrets(of.entities or ""))
    return Answer(lambda: loaded, text, code=MISTAKE if has_errors(loaded.findings) else 0)


def _counted(pieces: Iterable[T], kind: str, counts: Counter[str]) -> Iterator[T]:
    """The pieces, counted as they are taken; a terminal sees how many."""
    for one in pieces:
        counts[kind] += 1
        if counts.total() % _STEP == 0 and sys.stderr.isatty():
            sys.stderr.write(f"\rLoading: {counts['entities']:,} entities, {counts['edges']:,} edges ...")
        yield one
    if counts.total() >= _STEP and sys.stderr.isatty():
        sys.stderr.write(f"\r{' ' * 60}\r")


async def export(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="FILE.json, or two files: ENTITIES.csv and EDGES.csv."),
    ],
    *,
    of: options.OfEntities,
) -> Answer:
    """Write all entities and edges into files.

    Loaded again they give the same graph. A file is there whole, or as it was before.
    """
    from skillweave.knowledge.entity import WritableGraph
    from skillweave.sources.entity_writing import write_csv, write_json

    kinds = [PurePath(file).suffix.casefold() for file in files]
    if kinds not in ([".json"], [".csv", ".csv"]):
        raise Mistake("a graph is written to one JSON file, FILE.json, or to two CSV files, ENTITIES.csv EDGES.csv")
    async with of.existing() as graph:
        if not isinstance(graph, WritableGraph):
            raise Mistake(f"{without_secrets(of.entities or '')} cannot list what it holds; name a database or a file")
        counts = await write_json(graph, files[0]) if len(files) == 1 else await write_csv(graph, *files)
    written = Pieces(counts.entities, counts.edges)
    return Answer(lambda: written, partial(exported_text, written, files=files))


async def show(ref: options.Ref, *, of: options.OfEntities) -> Answer:
    """Show an entity: what is known of it, where it is, and what it is connected with.

    It is found by its id, and by each of its other names in any spelling of them. With --json it has up to 1,000
    neighbours.
    """
    from skillweave.knowledge.entity import MOST_NEIGHBOURS, Direction

    async with of.existing() as graph:
        entity = await known_entity(graph, ref)
        found = await graph.neighbours(entity.id, None, Direction.BOTH, MOST_NEIGHBOURS)
    shown = EntityShown(entity, found)
    return Answer(lambda: shown, partial(entity_text, shown))


async def near(
    at: Annotated[
        str | None, options.option(options.ENTITIES, "--at LAT,LON", "The place, in degrees; needs --datum.")
    ] = None,
    datum: Annotated[
        str | None,
        options.option(options.ENTITIES, "--datum NAME", "What the degrees of --at are measured in, such as NAD83."),
    ] = None,
    place: Annotated[
        str | None,
        options.option(
            options.ENTITIES,
            "--of REF",
            "The place of this entity, which is left out of the answer.",
        ),
    ] = None,
    radius: Annotated[
        float, options.option(options.ENTITIES, "--radius FEET", "How far from the place, up to 1,000,000 feet.")
    ] = MILE,
    *,
    of: options.OfEntities,
) -> Answer:
    """List the entities about a place, nearest first, with their distance in feet.

    Distances are along the ground. Degrees of two datums are not compared: the answer says how many entities were left
    out for that.
    """
    from dataclasses import replace

    from skillweave.knowledge.entity import MOST_NEAR

    if (at is None) == (place is None):
        raise Mistake("name one place: --at LAT,LON with --datum, or --of REF, an entity that has a location")
    async with of.existing() as graph:
        if place is None:
            point = point_of(at or "", datum)
            found = await graph.near(point, radius, None, MOST_NEAR)
        else:
            if datum is not None:
                raise Mistake("--datum is about --at; an entity says itself what its degrees are measured in")
            entity = await known_entity(graph, place)
            if entity.location is None:
                raise Mistake(f"entity {entity.id!r} has no location; name a place with --at LAT,LON and --datum")
            point = entity.location
            found = await graph.near(point, radius, None, MOST_NEAR)
            found = replace(found, found=tuple(one for one in found.found if one.entity.id != entity.id))
    return Answer(lambda: found, partial(near_text, found, point=point, radius=radius))


async def context(
    ref: options.Ref,
    skill: Annotated[
        str, options.option(options.ENTITIES, "--skill ID", "For this skill.", autocompletion=completion.skill_ids)
    ],
    nodes: Annotated[
        bool, options.option(options.OUTPUT, "--nodes", "Name the entities that each line comes from.")
    ] = False,
    *,
    of: options.OfEntities,
) -> Answer:
    """Print what the model is told of an entity beside a skill, with its cost.

    Which sections a domain tag of the skill shows is said by the pack. What is left out is named with the reason.
    """
    from skillweave.cli.arguments.skills import load
    from skillweave.disclose.render import CONTEXT_HEADING
    from skillweave.knowledge.assemble import assemble
    from skillweave.knowledge.rules import context_rules_in
    from skillweave.knowledge.shown import context_shown
    from skillweave.tokens.counter import Tiktoken

    snapshot = (await load(of.sources_at_hand())).snapshot
    rules = context_rules_in(snapshot)
    if rules is None:
        raise Mistake("none of these skills' packs says what is shown of entities; name one with --skills or --pack")
    tags = snapshot[skill].domain_tags
    if not tags:
        raise Mistake(f"skill {skill!r} has no domain tags, so that nothing is shown for it")
    async with of.existing() as graph:
        entity = await known_entity(graph, ref)
        found = await assemble(graph, rules, entity.id, tags, seconds=PATIENCE_SECONDS)
    shown = context_shown(found, tags, Tiktoken().count)
    return Answer(lambda: shown, partial(context_text, shown, heading=CONTEXT_HEADING, nodes=nodes))


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
