"""Graphs into files and back."""

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from skillweave.entities import Edge, Entity, MemoryGraph, Point
from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import Piece
from skillweave.sources import entity_reading
from skillweave.sources.entity_files import EntityFiles, read_graph
from skillweave.sources.entity_writing import Written, write_csv, write_json
from tests.sources.entity_strategies import entities, exactly, graphs

SHIPS = [
    Entity("a", "Ship", {"name": "Aurora", "length_m": 182.0, "datum": "x"}, ("IMO 1",), Point(53.5, 9.9, "WGS84")),
    Entity("b", "Ship", {"name": "=HYPERLINK(1)", "crew": None}),
]
TIES = [Edge("a", "TOWS", "b", {"since": "2026", "type": "line"})]


class Failing(MemoryGraph):
    """A graph whose database goes away while it is read."""

    closed = False

    async def export(self) -> AsyncIterator[Piece]:
        try:
            yield SHIPS[0]
            raise RuntimeError("gone")
        finally:
            self.closed = True


def both(folder: Path, graph: MemoryGraph) -> list[EntityFiles]:
    """The graph written and read, as JSON and as CSV."""
    asyncio.run(write_json(graph, folder / "g.json"))
    asyncio.run(write_csv(graph, folder / "n.csv", folder / "e.csv"))
    return [EntityFiles(folder / "g.json"), EntityFiles(folder / "e.csv", folder / "n.csv")]


def contents(folder: Path) -> dict[str, str]:
    return {one.name: one.read_text("utf-8") for one in folder.iterdir()}


@given(graphs())
def test_what_is_written_is_read_as_equal_values(pieces: tuple[list[Entity], list[Edge]]) -> None:
    things, ties = pieces
    with TemporaryDirectory() as folder:
        for files in both(Path(folder), MemoryGraph(things, ties)):
            assert exactly(list(files.entities())) == exactly(sorted(things, key=lambda one: one.id))
            assert exactly(list(files.edges())) == exactly(
                sorted(ties, key=lambda one: (one.source, one.relation, one.target))
            )
            assert files.diagnostics == ()


@given(entities)
def test_json_keeps_the_order_of_properties(entity: Entity) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(write_json(MemoryGraph([entity]), Path(folder, "g.json")))
        (found,) = EntityFiles(Path(folder, "g.json")).entities()
    assert json.dumps(found.to_dict()) == json.dumps(entity.to_dict())


@given(graphs())
def test_no_cell_is_a_formula(pieces: tuple[list[Entity], list[Edge]]) -> None:
    with TemporaryDirectory() as folder:
        both(Path(folder), MemoryGraph(*pieces))
        for name in ("n.csv", "e.csv"):
            with Path(folder, name).open(encoding="utf-8", newline="") as file:
                for cell in (cell for row in csv.reader(file) for cell in row):
                    assert cell.lstrip()[:1] not in set("=+@＝＋＠") and not cell.startswith(("\t", "\r"))
                    if cell.startswith("-"):
                        float(cell)


async def test_a_file_of_json_has_a_line_for_each_and_only_what_there_is(tmp_path: Path) -> None:
    assert await write_json(MemoryGraph(SHIPS, TIES), tmp_path / "g.json") == Written(2, 1)
    lines = (tmp_path / "g.json").read_text("utf-8").splitlines()
    assert [json.loads(line.rstrip(",")) for line in (lines[1], lines[2], lines[5])] == [
        {
            "id": "a",
            "label": "Ship",
            "properties": {"name": "Aurora", "length_m": 182.0, "datum": "x"},
            "aliases": ["IMO 1"],
            "location": {"latitude": 53.5, "longitude": 9.9, "datum": "WGS84"},
        },
        {"id": "b", "label": "Ship", "properties": {"name": "=HYPERLINK(1)", "crew": None}},
        {"source": "a", "type": "TOWS", "target": "b", "properties": {"since": "2026", "type": "line"}},
    ]


async def test_files_of_csv_have_a_column_for_every_property(tmp_path: Path) -> None:
    assert await write_csv(MemoryGraph(SHIPS, TIES), tmp_path / "n.csv", tmp_path / "e.csv") == Written(2, 1)
    assert (tmp_path / "n.csv").read_bytes().decode().split("\r\n") == [
        "id,label,aliases,latitude,longitude,datum,name,length_m,properties.datum,crew",
        "a,Ship,IMO 1,53.5,9.9,WGS84,Aurora,182.0,x,",
        'b,Ship,,,,,"""=HYPERLINK(1)""",,,null',
        "",
    ]
    assert (tmp_path / "e.csv").read_bytes().decode().split("\r\n") == [
        "source,relation,target,since,properties.type",
        'a,TOWS,b,"""2026""",line',
        "",
    ]


async def test_an_empty_graph_is_written_and_read(tmp_path: Path) -> None:
    assert await write_json(MemoryGraph(), tmp_path / "g.json") == Written(0, 0)
    await write_csv(MemoryGraph(), tmp_path / "n.csv", tmp_path / "e.csv")
    for read in (read_graph(tmp_path / "g.json"), read_graph(tmp_path / "n.csv", tmp_path / "e.csv")):
        assert (read.diagnostics, [piece async for piece in read.graph.export()]) == ((), [])


async def test_a_graph_that_fails_while_it_is_read_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    graph = Failing()
    (tmp_path / "g.json").write_text("mine", "utf-8")
    with pytest.raises(RuntimeError, match="gone"):
        await write_json(graph, tmp_path / "g.json")
    assert graph.closed
    with pytest.raises(RuntimeError, match="gone"):
        await write_csv(graph, tmp_path / "g.json", tmp_path / "e.csv")
    assert contents(tmp_path) == {"g.json": "mine"}


async def test_a_file_that_cannot_be_written_is_named_and_the_other_is_not_changed(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("mine", "utf-8")
    for there in (tmp_path / "nowhere" / "e.csv", tmp_path):
        with pytest.raises(InvalidValue, match=r"cannot be written: .*name a file in a folder"):
            await write_csv(MemoryGraph(SHIPS), tmp_path / "n.csv", there)
        with pytest.raises(InvalidValue, match=r"cannot be written: .*name a file in a folder"):
            await write_json(MemoryGraph(SHIPS), there)
    assert contents(tmp_path) == {"n.csv": "mine"}


async def test_a_link_stays_a_link_to_the_file_that_is_written(tmp_path: Path) -> None:
    (tmp_path / "real.json").touch()
    (tmp_path / "g.json").symlink_to(tmp_path / "real.json")
    await write_json(MemoryGraph(SHIPS), tmp_path / "g.json")
    assert (tmp_path / "g.json").is_symlink()
    assert len(list(EntityFiles(tmp_path / "real.json").entities())) == 2


async def test_json_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillweave.sources.entity_writing.LARGEST_JSON", 1 << 20)
    monkeypatch.setattr(entity_reading, "LARGEST_JSON", 1 << 20)
    fits = MemoryGraph([Entity("a", "Ship", {"log": "x" * ((1 << 20) - 200)})])
    await write_json(fits, tmp_path / "fits.json")
    assert len(list(EntityFiles(tmp_path / "fits.json").entities())) == 1
    with pytest.raises(InvalidValue, match=r"too\.json' would be larger than 1 MiB.*write two CSV files"):
        await write_json(MemoryGraph([Entity("a", "Ship", {"log": "x" * (1 << 20)})]), tmp_path / "too.json")
    assert not (tmp_path / "too.json").exists()


async def test_a_row_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    for letter in ('"', "𝔸"):
        await write_csv(
            MemoryGraph([Entity("a", "Ship", {"log": letter * 4_000_000})]), tmp_path / "n.csv", tmp_path / "e.csv"
        )
        (found,) = EntityFiles(tmp_path / "n.csv").entities()
        assert found.properties["log"] == letter * 4_000_000
    with pytest.raises(InvalidValue, match=r"'a' has more than 8,388,608 characters.*write JSON"):
        await write_csv(
            MemoryGraph([Entity("a", "Ship", {"log": "x" * 9_000_000})]), tmp_path / "m.csv", tmp_path / "f.csv"
        )
    assert not (tmp_path / "m.csv").exists()


class Growing(MemoryGraph):
    """A graph to which somebody adds an entity and an edge while it is read."""

    async def export(self) -> AsyncIterator[Piece]:
        async for piece in super().export():
            yield piece
        yield Edge("0", "TOWS", "a")


async def test_an_edge_of_an_entity_that_came_meanwhile_is_left_out_so_that_all_of_it_can_be_loaded(
    tmp_path: Path,
) -> None:
    graph = Growing(SHIPS, TIES)
    assert await write_json(graph, tmp_path / "g.json") == Written(2, 1)
    assert await write_csv(graph, tmp_path / "n.csv", tmp_path / "e.csv") == Written(2, 1)
    for files in (EntityFiles(tmp_path / "g.json"), EntityFiles(tmp_path / "n.csv", tmp_path / "e.csv")):
        assert [(one.source, one.target) for one in files.edges()] == [("a", "b")]


async def test_entities_and_edges_are_not_written_over_each_other(tmp_path: Path) -> None:
    (tmp_path / "linked.csv").symlink_to(tmp_path / "n.csv")
    for name in ("n.csv", "linked.csv"):
        with pytest.raises(InvalidValue, match="name two files"):
            await write_csv(MemoryGraph(SHIPS, TIES), tmp_path / "n.csv", tmp_path / name)
    assert not (tmp_path / "n.csv").exists()
