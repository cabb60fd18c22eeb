"""`skillweave entities`: what is known of the things that conversations are about, into a store and out of it."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
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
from skillweave.cli.output.page import Answer
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
    from skillweave.cli.output.entities import Pieces, loaded_text
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
    from skillweave.cli.output.entities import Pieces, exported_text
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
    from skillweave.cli.output.entities import EntityShown, entity_text
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

    from skillweave.cli.output.entities import near_text
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
    from skillweave.cli.output.entities import context_text
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
