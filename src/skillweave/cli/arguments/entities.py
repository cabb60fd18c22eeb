"""Which entities a command works on, and which of them, or which place, it is asked about."""

import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, cast

import typer

from skillweave.cli.arguments.reading import file_of
from skillweave.cli.failure import Mistake
from skillweave.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from skillweave.diagnostics import Diagnostic
    from skillweave.knowledge.entity import Entity, EntityGraph, Piece, Point, WritableGraph
    from skillweave.knowledge.rules import ContextRules
    from skillweave.registry import Source

LOOKED_THROUGH = 10_000
"""Entities whose names are compared with one that there is not: a look at more would keep its user waiting."""
_TOLD = 5
"""So many findings about files of entities are told where something else was asked for."""
_URLS = "sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME"


@asynccontextmanager
async def existing_graph(
    name: str | None, tenant: str, sources: "Sequence[Source]" = ()
) -> AsyncIterator["EntityGraph"]:
    """The graph of a URL or file that is there, open meanwhile; packs describe a file. Raises Mistake without one."""
    from skillweave.closing import close_all
    from skillweave.stores.named import entities_of

    named = existing_name(name)
    graph = entities_of(named, tenant=tenant) if "://" in named else await _graph_in(named, sources)
    try:
        yield graph
    finally:
        await close_all([graph])


def graph_if_named(
    name: str | None, tenant: str, sources: "Sequence[Source]"
) -> AbstractAsyncContextManager["EntityGraph | None"]:
    """The graph for the turns of a command, None where none is named; like `existing_graph`."""
    return nullcontext() if name is None else existing_graph(name, tenant, sources)


@asynccontextmanager
async def graph_to_fill(name: str | None, tenant: str) -> AsyncIterator["WritableGraph"]:
    """The graph of a database, made where it is not there yet; raises Mistake for what cannot be filled."""
    from skillweave.closing import close_all
    from skillweave.knowledge.entity import WritableGraph
    from skillweave.stores.named import entities_of

    named = _named(name)
    if "://" not in named:
        # A user and a password may stand in what was meant as a URL.
        shown = named if "@" not in named else f"***@{named.rpartition('@')[2]}"
        raise Mistake(f"{shown!r} is no database that entities can be loaded into; name one, as {_URLS}")
    graph = entities_of(named, tenant=tenant)
    try:
        if not isinstance(graph, WritableGraph):
            raise Mistake(f"{without_secrets(named)} can be read and not filled; name a database, as {_URLS}")
        yield graph
    finally:
        await close_all([graph])


async def rules_in(sources: "Sequence[Source]") -> "ContextRules":
    """What the packs among the sources say about entities."""
    from skillweave.cli.arguments.skills import load
    from skillweave.knowledge.rules import ContextRules, context_rules_in

    return (context_rules_in((await load(sources)).snapshot) if sources else None) or ContextRules()


async def _graph_in(path: str, sources: "Sequence[Source]") -> "EntityGraph":
    """The graph of a file; what of it could not be read is told on stderr."""
    from skillweave.sources.entity_files import read_graph

    read = read_graph(path, rules=await rules_in(sources))
    require_read(read.unread)
    for line in told_in_short(read.diagnostics):
        sys.stderr.write(f"skillweave: {line}\n")
    return read.graph


def told_in_short(diagnostics: "Sequence[Diagnostic]") -> Iterator[str]:
    """The first findings that matter, a line each, and how many more there are."""
    from skillweave.cli.output.page import Page, finding_line
    from skillweave.diagnostics import Severity

    shown = [found for found in diagnostics if found.severity is not Severity.INFO]
    yield from (finding_line(found, Page()) for found in shown[:_TOLD])
    if len(shown) > _TOLD:
        yield f"and {len(shown) - _TOLD:,} more findings"


def require_read(unread: "Sequence[Diagnostic]") -> None:
    """Raise Mistake where a file, or the rest of it, was not read: what came before it is only a part."""
    if unread:
        found = unread[0]
        raise Mistake(f"{found.location}: {found.message}; {found.fix}")


def existing_name(name: str | None) -> str:
    """The name of a graph that is there, if it is a file; raises Mistake where none is named, and where it is not."""
    named = _named(name)
    path = file_of(named)
    if path is not None and not path.exists():
        url = named if "://" in named else "sqlite:///entities.db"
        raise Mistake(
            f"there are no entities in '{path}'; check its name, or load some: skillweave entities load FILE "
            f"--entities {url}"
        )
    return named


def _named(name: str | None) -> str:
    if name is None or not name.strip():
        raise Mistake(
            f"no entities are named; add --entities {_URLS}, or a JSON file; or set `entities` in skillweave.toml"
        )
    return name


async def first_entities(graph: "EntityGraph") -> AsyncIterator["Entity"]:
    """The first entities of a graph by id, as many as can be looked through; none where it cannot list them."""
    from skillweave.knowledge.entity import Entity, WritableGraph

    if not isinstance(graph, WritableGraph):
        return
    seen = 0
    async with aclosing(cast("AsyncGenerator[Piece, None]", graph.export())) as pieces:
        async for piece in pieces:
            if not isinstance(piece, Entity) or seen >= LOOKED_THROUGH:
                return
            seen += 1
            yield piece


async def known_entity(graph: "EntityGraph", ref: str) -> "Entity":
    """The entity that has this id or name; raises Mistake, with the nearest names, where there is none."""
    from skillweave.errors import nearest_names

    found = await graph.entity(ref)
    if found is not None:
        return found
    names = {name: None async for one in first_entities(graph) for name in (one.id, *one.aliases)}
    near = nearest_names(ref, names)
    remedy = f"did you mean {near[0]!r}?" if near else "check its spelling; `skillweave entities load` loads more"
    raise Mistake(f"there is no entity {ref[:100]!r}; {remedy}")


def point_of(at: str, datum: str | None) -> "Point":
    """The place that `--at LAT,LON` names; raises BadParameter for what is none, and without a datum."""
    from skillweave.errors import InvalidValue
    from skillweave.knowledge.entity import Point

    if datum is None:
        raise typer.BadParameter(
            "degrees mean nothing without a datum, as the same degrees of two lie far apart; add --datum, such as "
            "--datum WGS84",
            param_hint="'--at'",
        )
    parts = [part.strip() for part in at.split(",")]
    try:
        latitude, longitude = map(float, parts)
        return Point(latitude, longitude, datum)
    except InvalidValue as error:
        raise typer.BadParameter(str(error), param_hint="'--at'") from None
    except ValueError:
        raise typer.BadParameter(
            f"{at[:60]!r} is no LAT,LON in degrees; write for example 31.86,-101.95", param_hint="'--at'"
        ) from None
