"""`skillweave entities`: what is known of the things that conversations are about, into a store and out of it."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from skillweave.cli import completion, options
from skillweave.cli.arguments.entities import LoadingLine, known_entity, point_of, require_read, rules_in, told_in_short
from skillweave.cli.failure import MISTAKE, Mistake
from skillweave.cli.output.page import Answer
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from skillweave.knowledge.entity import Edge, Entity, NearbyEntities
    from skillweave.registry import Snapshot

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
skillweave entities near --at 53.54,9.97 --datum WGS84 --radius 1200 --label Dock --entities harbour.json
""",
    "context": """
skillweave entities context dock-7 --tag mooring --skills harbour.yaml --entities harbour.json
skillweave entities context "North Dock" --skill berth-planning --skills harbour.yaml --entities harbour.json --nodes
""",
}
_Limit = Annotated[
    int,
    options.option(options.ENTITIES, "--limit N", "At most so many, from 1 to 1,000.", parser=options.whole_number),
]
PATIENCE_SECONDS = 10.0
"""Who asks at a shell would rather wait than miss a section."""
MILE = 5280.0
"""The circle that is searched where nobody says how large it is, in feet."""
SHOWN = 20
"""So many neighbours, and entities near a place, are listed where nobody says how many."""


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
    from skillweave.cli.output.entities import Loaded, loaded_text
    from skillweave.diagnostics import has_errors
    from skillweave.knowledge.entity import UnknownEnd
    from skillweave.sources.entity_files import EntityFiles

    read = EntityFiles(*files, rules=await rules_in(of.sources()))
    require_read(read.unread)
    line = LoadingLine(sys.stderr)

    def edges() -> "Iterator[Edge]":
        yield from line.edges_of(read.edges())
        # Raised inside the transaction, which this takes back.
        require_read(read.unread)

    async with of.to_fill() as graph:
        with line.interruptible():
            try:
                await graph.put(line.entities_of(read.entities()), edges())
            except UnknownEnd as error:
                # An entity that was left out is why its edges lead nowhere.
                for told in told_in_short(read.diagnostics):
                    error.add_note(told)
                raise
    loaded = Loaded(line.entities, line.edges, read.diagnostics)
    text = partial(loaded_text, loaded, place=without_secrets(of.entities or ""))
    return Answer(lambda: loaded, text, code=MISTAKE if has_errors(loaded.findings) else 0)


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
    from skillweave.cli.output.entities import Exported, exported_text
    from skillweave.knowledge.entity import WritableGraph
    from skillweave.sources.entity_writing import write_csv, write_json

    kinds = [PurePath(file).suffix.casefold() for file in files]
    if kinds not in ([".json"], [".csv", ".csv"]):
        raise Mistake("a graph is written to one JSON file, FILE.json, or to two CSV files, ENTITIES.csv EDGES.csv")
    async with of.existing() as graph:
        if not isinstance(graph, WritableGraph):
            raise Mistake(f"{without_secrets(of.entities or '')} cannot list what it holds; name a database or a file")
        counts = await write_json(graph, files[0]) if len(files) == 1 else await write_csv(graph, *files)
    written = Exported(counts.entities, counts.edges, tuple(files))
    return Answer(lambda: written, partial(exported_text, written))


async def show(ref: options.Ref, limit: _Limit = SHOWN, *, of: options.OfEntities) -> Answer:
    """Show an entity: what is known of it, where it is, and what it is connected with.

    It is found by its id, and by each of its other names in any spelling of them.
    """
    from skillweave.cli.output.entities import EntityShown, entity_text
    from skillweave.knowledge.entity import MOST_NEIGHBOURS, Direction

    _require_limit(limit, MOST_NEIGHBOURS)
    async with of.existing() as graph:
        entity = await known_entity(graph, ref)
        found = await graph.neighbours(entity.id, None, Direction.BOTH, MOST_NEIGHBOURS)
    shown = EntityShown(entity, found[:limit], len(found[limit:]))
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
    label: Annotated[
        str | None, options.option(options.ENTITIES, "--label NAME", "Only entities with this label.")
    ] = None,
    limit: _Limit = SHOWN,
    *,
    of: options.OfEntities,
) -> Answer:
    """List the entities about a place, nearest first, with their distance in feet.

    Distances are along the ground. Degrees of two datums are not compared: the answer says how many entities were left
    out for that.
    """
    from skillweave.cli.output.entities import NearShown, near_text
    from skillweave.knowledge.entity import MOST_NEAR

    if (at is None) == (place is None):
        raise Mistake("name one place: --at LAT,LON with --datum, or --of REF, an entity that has a location")
    _require_limit(limit, MOST_NEAR)
    async with of.existing() as graph:
        if place is None:
            point = point_of(at or "", datum)
            found = await graph.near(point, radius, label, limit)
        else:
            if datum is not None:
                raise Mistake("--datum is about --at; an entity says itself what its degrees are measured in")
            entity = await known_entity(graph, place)
            if entity.location is None:
                raise Mistake(f"entity {entity.id!r} has no location; name a place with --at LAT,LON and --datum")
            point = entity.location
            around = await graph.near(point, radius, label, min(limit + 1, MOST_NEAR))
            found = _without(entity, around, limit)
    shown = NearShown(point, radius, label, found.found, found.more, found.other_datums)
    return Answer(lambda: shown, partial(near_text, shown))


def _without(entity: "Entity", around: "NearbyEntities", limit: int) -> "NearbyEntities":
    """What lies about an entity, which is no more than `limit` others."""
    from dataclasses import replace

    others = tuple(one for one in around.found if one.entity.id != entity.id)
    return replace(around, found=others[:limit], more=around.more + len(others[limit:]))


async def context(
    ref: options.Ref,
    tag: Annotated[
        list[str] | None,
        options.option(options.ENTITIES, "--tag NAME", "A domain tag, as skills have them. Repeatable."),
    ] = None,
    skill: Annotated[
        str | None,
        options.option(options.ENTITIES, "--skill ID", "As for this skill.", autocompletion=completion.skill_ids),
    ] = None,
    nodes: Annotated[
        bool, options.option(options.OUTPUT, "--nodes", "Name the entities that each line comes from.")
    ] = False,
    *,
    of: options.OfEntities,
) -> Answer:
    """Print what the model is told of an entity, with its cost.

    Which sections a domain tag shows is said by the pack. What is left out is named with the reason.
    """
    from skillweave.cli.arguments.skills import load
    from skillweave.cli.output.entities import context_text
    from skillweave.disclose.render import CONTEXT_HEADING
    from skillweave.knowledge.assemble import assemble
    from skillweave.knowledge.rules import context_rules_in
    from skillweave.knowledge.shown import context_shown
    from skillweave.tokens.counter import Tiktoken

    snapshot = (await load(of.sources())).snapshot
    rules = context_rules_in(snapshot)
    if rules is None:
        raise Mistake("none of these skills' packs says what is shown of entities; name one with --skills or --pack")
    tags = _tags(tag, skill, snapshot)
    async with of.existing() as graph:
        entity = await known_entity(graph, ref)
        found = await assemble(graph, rules, entity.id, tags, seconds=PATIENCE_SECONDS)
    shown = context_shown(found, tags, Tiktoken().count)
    return Answer(lambda: shown, partial(context_text, shown, heading=CONTEXT_HEADING, nodes=nodes))


def _tags(tags: Sequence[str] | None, skill: str | None, snapshot: "Snapshot") -> tuple[str, ...]:
    """The tags that are named, and those of the skill; raises Mistake where there are none."""
    if skill is None:
        if not tags:
            raise Mistake("name what it is for: --tag TAG, or --skill ID")
        return tuple(dict.fromkeys(tags))
    found = snapshot[skill]
    if not found.domain_tags and not tags:
        raise Mistake(f"skill {skill!r} has no domain tags, so that nothing is shown for it; name some with --tag")
    return tuple(dict.fromkeys((*(tags or ()), *found.domain_tags)))


def _require_limit(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise typer.BadParameter(f"{limit:,} is not from 1 to {most:,}", param_hint="'--limit'")
