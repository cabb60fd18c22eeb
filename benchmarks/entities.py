"""The entity graph in databases: what is near beside the bare query and other indexes, two hops, and filling it."""

import asyncio
import contextlib
import itertools
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import aiosqlite
import psycopg
from results import Effort, Row, Target, figure, single
from timing import Timing, awaited, interleaved

from skillweave.entities import Edge, Entity, Point
from skillweave.knowledge.geodesy import Box, box_around
from skillweave_stores import SqlGraph

sys.path.insert(0, str(Path(__file__).parent.parent))

from skillweave_testing.servers import PostgresServer

DATUM = "NAD83"
SOUTH, NORTH, WEST, EAST = 25.8, 36.5, -106.6, -93.5
"""An extent as large as France, in degrees."""
CLUSTERS = 60
SPREAD = 0.12
"""The places lie about so many centres, most of them within so many degrees, as shops, masts or drillings do."""
RADII = {"half a mile": 2_640.0, "five miles": 26_400.0}
ASKED = 500
LIMIT = 20
HOPS = 100_000
"""Entities of the graph in which two hops are gone; each has two edges out."""
BARE, SCAN = "bare query", "a full scan"
MOST_SECONDS = 0.002
"""What a question about few may take beside the bare indexed query, whose time it is meant to have."""

Asked: TypeAlias = Callable[[Box], Awaitable[Sequence[tuple[Any, ...]]]]
"""What is in a box: the id and all that makes an entity."""
Hops: TypeAlias = set[str]
"""The ids of what is two hops away."""

_COLUMNS = "id, label, datum, latitude, longitude, CAST(aliases AS TEXT), CAST(properties AS TEXT)"
_INDEXED = (
    f"SELECT {_COLUMNS} FROM entities WHERE tenant = 'default' AND datum = 'NAD83' AND band IN ({{bands}})"
    " AND longitude BETWEEN {west} AND {east} AND latitude BETWEEN {south} AND {north}"
)
_SCANNED = (
    f"SELECT {_COLUMNS} FROM entities WHERE +latitude BETWEEN {{south}} AND {{north}}"
    " AND +longitude BETWEEN {west} AND {east}"
)
_R_TREE = (
    f"SELECT {_COLUMNS} FROM places CROSS JOIN entities ON entities.rowid = places.number"
    " WHERE places.west <= {east} AND places.east >= {west} AND places.south <= {north} AND places.north >= {south}"
    " AND tenant = 'default' AND datum = 'NAD83'"
    " AND longitude BETWEEN {west} AND {east} AND latitude BETWEEN {south} AND {north}"
)
_GIST = (
    f"SELECT {_COLUMNS} FROM entities WHERE tenant = 'default' AND datum = 'NAD83'"
    " AND point(longitude, latitude) <@ box(point({west}, {south}), point({east}, {north}))"
)
_TWO_HOPS = (
    "SELECT DISTINCT entities.id, label, CAST(entities.properties AS TEXT) FROM entity_edges AS first"
    " JOIN entity_edges AS second ON second.tenant = first.tenant AND second.source = first.target"
    " JOIN entities ON entities.tenant = second.tenant AND entities.id = second.target"
    " WHERE first.tenant = 'default' AND first.source = '{id}'"
)


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """For growing graphs on both databases; each question beside what the database alone takes for it."""
    sizes = (1_000, 5_000) if effort is Effort.QUICK else (10_000, 100_000, 1_000_000)
    samples = 9 if effort is Effort.QUICK else 61
    with tempfile.TemporaryDirectory() as folder, PostgresServer() as server:
        for size in sizes:
            for name, url in (("SQLite", f"sqlite:///{folder}/{size}.db"), ("PostgreSQL", _database(server, size))):
                async for row in _measured(name, url, size, samples, scanned=size == sizes[-1]):
                    yield row
        hops = sizes[0] if effort is Effort.QUICK else HOPS
        for name, url in (("SQLite", f"sqlite:///{folder}/hops.db"), ("PostgreSQL", _database(server, "hops"))):
            async for row in _two_hops(name, url, hops, samples):
                yield row


async def _measured(name: str, url: str, size: int, samples: int, *, scanned: bool) -> AsyncIterator[Row]:
    places = list(itertools.islice(_places(), size))
    async with SqlGraph(url) as graph:
        begin = time.perf_counter()
        await graph.put(_masts(places))
        seconds = time.perf_counter() - begin
        yield Row("filling a graph, per 100,000 entities", f"{size:,}, {name}", single(seconds * 100_000 / size, "s"))
        async with _bare(name, url) as bare:
            for radius_name, radius in RADII.items():
                asked = [Point(*places[number], DATUM) for number in _numbers(size)]
                found = await _agreed(graph, bare, asked[:20], radius)
                contenders = {"ours": _ours(graph, asked, radius)}
                contenders |= {kind: _boxes(one, asked, radius) for kind, one in bare.items() if kind != SCAN}
                times = await interleaved({kind: awaited(one) for kind, one in contenders.items()}, samples=samples)
                case = f"{size:,}, {radius_name} ({found:.0f} there), {name}"
                for row in _rows(case, times):
                    yield row
                if scanned:
                    scan = _boxes(bare[SCAN], asked, radius)
                    times |= await interleaved({SCAN: awaited(scan)}, samples=3)
                    yield Row("near a place", case, figure(times["ours"]), SCAN, figure(times[SCAN]))


def _rows(case: str, times: Mapping[str, Timing]) -> Iterator[Row]:
    for kind, timing in times.items():
        if kind != "ours":
            more = times["ours"].median - timing.median
            few = kind == BARE and "half a mile" in case
            target = Target(f"<{MOST_SECONDS * 1000:g} ms more", more < MOST_SECONDS) if few else None
            yield Row("near a place", case, figure(times["ours"]), kind, figure(timing), target)


async def _agreed(graph: SqlGraph, bare: Mapping[str, Asked], asked: Sequence[Point], radius: float) -> float:
    """How many lie in a circle on average; ends the run where two answers differ."""
    number = 0
    for point in asked:
        near = await graph.near(point, radius, limit=1_000)
        ids = {one.entity.id for one in near.found}
        number += len(ids) + near.more
        boxes = [{row[0] for row in await one(box_around(point, radius))} for one in bare.values()]
        if any(box != boxes[0] for box in boxes) or not ids <= boxes[0]:
            raise SystemExit(f"two answers to what is near {point} differ")
    return number / len(asked)


def _ours(graph: SqlGraph, asked: Sequence[Point], radius: float) -> Callable[[], Awaitable[object]]:
    points = itertools.cycle(asked)
    return lambda: graph.near(next(points), radius, limit=LIMIT)


def _boxes(bare: Asked, asked: Sequence[Point], radius: float) -> Callable[[], Awaitable[object]]:
    boxes = itertools.cycle([box_around(point, radius) for point in asked])
    return lambda: bare(next(boxes))


@contextlib.asynccontextmanager
async def _bare(name: str, url: str) -> AsyncIterator[Mapping[str, Asked]]:
    """The driver alone, with our index, with one that the database has for places, and with none."""
    if name == "SQLite":
        path = url.removeprefix("sqlite:///")
        async with aiosqlite.connect(path, isolation_level=None) as beside:
            await beside.execute("CREATE VIRTUAL TABLE places USING rtree(number, west, east, south, north)")
            located = "SELECT rowid, longitude, longitude, latitude, latitude FROM entities WHERE band IS NOT NULL"
            await beside.execute(f"INSERT INTO places {located}")
            blocking = sqlite3.connect(path, isolation_level=None)

            def sqlite(statement: str) -> Asked:
                async def ask(box: Box) -> Sequence[tuple[Any, ...]]:
                    return cast("list[tuple[Any, ...]]", await beside.execute_fetchall(_filled(statement, box)))

                return ask

            async def without_thread(box: Box) -> Sequence[tuple[Any, ...]]:
                return blocking.execute(_filled(_INDEXED, box)).fetchall()

            yield {
                BARE: sqlite(_INDEXED),
                "bare R*Tree": sqlite(_R_TREE),
                "bare query without a thread": without_thread,
                SCAN: sqlite(_SCANNED),
            }
            blocking.close()
        return
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as server:
        await server.execute("CREATE INDEX places ON entities USING gist (point(longitude, latitude))")
        await server.execute("VACUUM ANALYZE entities")

        def postgres(statement: str) -> Asked:
            async def ask(box: Box) -> Sequence[tuple[Any, ...]]:
                return await (await server.execute(_filled(statement, box).encode(), prepare=False)).fetchall()

            return ask

        yield {BARE: postgres(_INDEXED), "bare GiST": postgres(_GIST), SCAN: postgres(_SCANNED)}


def _filled(statement: str, box: Box) -> str:
    ((west, east),) = box.longitudes
    bands = ",".join(map(str, range(int(box.south * 100 // 1), int(box.north * 100 // 1) + 1)))
    return statement.format(bands=bands, west=west, east=east, south=box.south, north=box.north)


async def _two_hops(name: str, url: str, size: int, samples: int) -> AsyncIterator[Row]:
    rng = random.Random(7)
    async with SqlGraph(url) as graph:
        await graph.put(
            (Entity(f"n{number:06}", "Node", {"name": f"Node {number}"}) for number in range(size)),
            (
                Edge(f"n{number:06}", "TO", f"n{(number * 7 + step) % size:06}")
                for number in range(size)
                for step in (1, 3)
            ),
        )
        ids = [f"n{rng.randrange(size):06}" for _ in range(ASKED)]
        asked = itertools.cycle(ids)

        async def ours() -> Hops:
            near = await graph.neighbours(next(asked))
            far = await asyncio.gather(*(graph.neighbours(one.entity.id) for one in near))
            return {one.entity.id for found in far for one in found}

        async with _bare_hops(name, url, ids) as bare:
            for _ in range(ASKED):
                if await ours() != await bare():
                    raise SystemExit("two answers to what is two hops away differ")
            times = await interleaved({"ours": awaited(ours), "one statement": awaited(bare)}, samples=samples)
    case = f"{size:,} entities, 3 questions, {name}"
    yield Row("two hops", case, figure(times["ours"]), "one bare statement", figure(times["one statement"]))


@contextlib.asynccontextmanager
async def _bare_hops(name: str, url: str, ids: Sequence[str]) -> AsyncIterator[Callable[[], Awaitable[Hops]]]:
    # SQLite would begin with all entities, unless it is told the order.
    statement = _TWO_HOPS.replace(" JOIN ", " CROSS JOIN ") if name == "SQLite" else _TWO_HOPS
    asked = itertools.cycle([statement.format(id=one) for one in ids])
    if name == "SQLite":
        async with aiosqlite.connect(url.removeprefix("sqlite:///")) as beside:

            async def sqlite() -> Hops:
                return {row[0] for row in await beside.execute_fetchall(next(asked))}

            yield sqlite
        return
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as server:
        await server.execute("VACUUM ANALYZE")

        async def postgres() -> Hops:
            return {row[0] for row in await (await server.execute(next(asked).encode(), prepare=False)).fetchall()}

        yield postgres


def _places() -> Iterator[tuple[float, float]]:
    """Latitudes and longitudes, the same in every run."""
    rng = random.Random(11)
    centres = [(rng.uniform(SOUTH, NORTH), rng.uniform(WEST, EAST)) for _ in range(CLUSTERS)]
    while True:
        latitude, longitude = rng.choice(centres)
        yield rng.gauss(latitude, SPREAD), rng.gauss(longitude, SPREAD)


def _masts(places: Sequence[tuple[float, float]]) -> Iterator[Entity]:
    for number, (latitude, longitude) in enumerate(places):
        properties = {
            "name": f"Mast {number}",
            "status": "active",
            "kind": "lattice",
            "height_ft": 310.5,
            "built": 1987,
        }
        alias = f"MA-{number // 100_000:03}-{number % 100_000:05}"
        yield Entity(f"mast-{number:07}", "Mast", properties, (alias,), Point(latitude, longitude, DATUM))


def _numbers(size: int) -> list[int]:
    rng = random.Random(5)
    return [rng.randrange(size) for _ in range(ASKED)]


def _database(server: PostgresServer, name: object) -> str:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "graph_{name}"'.encode())
    return server.url(f"graph_{name}")
