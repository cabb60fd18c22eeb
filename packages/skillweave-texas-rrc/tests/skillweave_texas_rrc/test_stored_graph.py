"""The calculators answer from a stored graph, and from the sample's file as it is read, as they do from memory."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from tests.skillweave_texas_rrc.sample import ask, entities_of, sample

from skillweave.entities import MemoryGraph
from skillweave.knowledge.entity import Edge, Entity
from skillweave.knowledge.rules import ContextRules
from skillweave.sources.entity_files import read_graph
from skillweave_stores import SqlGraph

RULES = ContextRules(aliases={"Well": ("api_number", "name")}, locations={"Well": ("surface_location",)})
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("project_point", {"well": "42 329 12345"}),
    ("well_spacing", {"well": "42-329-12345"}),
    ("offset_distances", {"well": "42-329-12346", "within_ft": 2640}),
    ("notice_tracts", {"well": "4232912345", "exceptions": ["lease_line", "between_well"]}),
]


@pytest.fixture
def from_file(tmp_path: Path) -> MemoryGraph:
    with as_file(files("skillweave_texas_rrc").joinpath("sample_graph.json")) as path:
        read = read_graph(path, rules=RULES)
    assert read.diagnostics == ()
    return read.graph


async def answers(graph: Any) -> list[Any]:
    return [await ask(name, arguments, graph) for name, arguments in CALLS]


async def test_the_samples_file_is_read_without_a_finding_and_answers_alike(from_file: MemoryGraph) -> None:
    assert await answers(from_file) == await answers(entities_of(sample()))


async def test_a_graph_in_a_database_answers_as_one_in_memory(tables_url: str, from_file: MemoryGraph) -> None:
    pieces = [piece async for piece in from_file.export()]
    async with SqlGraph(tables_url) as stored:
        await stored.put(
            [one for one in pieces if isinstance(one, Entity)], [one for one in pieces if isinstance(one, Edge)]
        )
        assert await answers(stored) == await answers(from_file)
