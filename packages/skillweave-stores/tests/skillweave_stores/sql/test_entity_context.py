"""Entity context out of a database: the same as out of memory, and gone with it for as long as it does not answer."""

import asyncio
from pathlib import Path

import skillweave
from skillweave.entities import MemoryGraph, assemble
from skillweave.knowledge.rules import ContextRules
from skillweave.sources.entity_files import EntityFiles
from skillweave.weaver.entity_graph import first_asked
from skillweave_stores import SqlGraph
from skillweave_testing import WordCounter
from tests.fleet import RULES

FLEET = Path(__file__).parents[5] / "tests" / "data" / "fleet"
NAMES = ContextRules(aliases={"Ship": ("imo", "name")})


async def fill(graph: SqlGraph) -> MemoryGraph:
    """The fleet in the database, and the same in memory."""
    files = EntityFiles(FLEET / "graph.json", rules=NAMES)
    entities, edges = list(files.entities()), list(files.edges())
    await graph.put(entities, edges)
    return MemoryGraph(entities, edges)


async def test_a_database_gives_the_context_that_memory_gives(url: str) -> None:
    async with SqlGraph(url) as graph:
        memory = await fill(graph)
        stored = await assemble(graph, RULES, "imo 9074729", ["law", "mooring"], seconds=30)
        assert stored == await assemble(memory, RULES, "imo 9074729", ["law", "mooring"], seconds=30)
        assert [section.name for section in stored.sections] == ["entity", "owner", "ports"]


async def test_a_turn_reads_its_entity_from_the_database_that_a_url_names(url: str) -> None:
    async with SqlGraph(url) as graph:
        await fill(graph)
    settings = skillweave.Settings(context_seconds=30)
    async with skillweave.open(FLEET / "pack.yaml", entities=url, settings=settings, counter=WordCounter()) as weaver:
        injection = await weaver.weave("Which berth for IMO 9074729?", conversation="c")
    assert "## Entity Context\nShip: Aurora Borealis 1 (IMO: IMO-9074729)\n" in injection.messages[0].text


def test_the_first_question_of_a_weaver_makes_no_file(tmp_path: Path) -> None:
    async def ask() -> None:
        async with SqlGraph(f"sqlite:///{tmp_path}/none.db") as graph:
            await first_asked(graph, 30)

    asyncio.run(ask())
    assert list(tmp_path.iterdir()) == []
