"""The entity graph of a file: the contract, read once, with the names that the rules know."""

from pathlib import Path

import pytest
import pytest_asyncio

from skillweave import StoreUnavailable
from skillweave.entities import ContextRules, EntityGraph, MemoryGraph
from skillweave.errors import InvalidValue
from skillweave.sources.entity_files import FileGraph
from skillweave.sources.entity_writing import write_json
from skillweave_testing import EntityGraphContract
from skillweave_testing.entities import EDGES, ENTITIES

GRAPH = Path(__file__).parents[1] / "data" / "fleet" / "graph.json"
BY_NAME = ContextRules(aliases={"Ship": ("name",)})


class TestFileGraph(EntityGraphContract):
    @pytest_asyncio.fixture
    async def graph(self, tmp_path: Path) -> EntityGraph:  # type: ignore[override] # a fixture all the same
        await write_json(MemoryGraph(ENTITIES, EDGES), tmp_path / "graph.json")
        return FileGraph(tmp_path / "graph.json")


async def test_the_rules_say_which_properties_are_names() -> None:
    plain = FileGraph(GRAPH)
    assert await plain.entity("Mistral") is None
    found = await plain.with_rules(BY_NAME).entity("Mistral")
    assert found is not None and found.id == "s-mistral"


def test_the_same_rules_give_the_same_graph_so_that_the_file_is_read_once() -> None:
    plain = FileGraph(GRAPH)
    assert plain.with_rules(BY_NAME) is plain.with_rules(ContextRules(aliases={"Ship": ("name",)}))
    assert plain.with_rules(ContextRules()) is plain


def test_a_file_that_is_not_there_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="a JSON or CSV file of entities that is there"):
        FileGraph(tmp_path / "nowhere.json")


async def test_a_file_of_another_kind_is_told_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_text("{}")
    with pytest.raises(StoreUnavailable, match=r"graph\.txt' cannot be read"):
        await FileGraph(tmp_path / "graph.txt").entity("a")


async def test_what_is_wrong_in_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text('{"nodes": [{"id": "a"}], "edges": []}')
    assert await FileGraph(tmp_path / "graph.json").diagnostics()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("graph.json", '{"nodes": [', r"graph\.json:1: the JSON is not valid"),
        ("graph.json", "", r"graph\.json:1: the JSON is not valid"),
        ("graph.json", "{}", "neither `nodes` nor `edges` stands in it"),
        ("graph.csv", 'id,label\na,Ship\nb,"Ship\n', r"graph\.csv:3: .*nothing from here on is read"),
    ],
)
async def test_a_file_that_cannot_be_read_to_its_end_does_not_pass_for_one_with_less_in_it(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(StoreUnavailable, match=said):
        await FileGraph(tmp_path / name).entity("a")
