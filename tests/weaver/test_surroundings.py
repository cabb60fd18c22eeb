"""What a Weaver says about the skill graph that its turns move in, and about the things that are known."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import skillweave
from skillweave.entities import AmbiguousEntity, Entity, EntityContext, EntityNotFound, MemoryGraph, Section
from skillweave.graph import Entry
from tests.cli.harbour import PACK, write_harbour
from tests.graphs import graph_of, on

SHIP = Entity("ship-1", "Ship", {"name": "Aurora", "imo": "IMO 9321483", "draught_m": 9.8}, ("IMO 9321483", "Twin"))
OTHER = Entity("ship-2", "Ship", {}, ("Twin",))


async def known(*entities: Entity) -> MemoryGraph:
    """A graph of these."""
    graph = MemoryGraph()
    await graph.put(entities)
    return graph


@pytest.fixture
def pack(tmp_path: Path) -> str:
    """The pack of the harbour, which says what a skill is told of a ship."""
    path = tmp_path / "harbour.yaml"
    path.write_text(PACK, encoding="utf-8")
    return str(path)


async def test_without_a_graph_there_is_no_skill_graph() -> None:
    assert await skillweave.open().skills.graph() is None


async def test_the_skill_graph_is_the_given_one_with_the_loaded_skills() -> None:
    graph = graph_of("a", entries=[Entry("a", on("x"))])
    found = await skillweave.open({"id": "a", "description": "Bakes bread."}, graph=graph).skills.graph()
    assert found is not None
    assert (found.digest, found.declared.skills[0].description) == (graph.digest, "Bakes bread.")


async def test_the_skill_graph_of_a_pack_is_found(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("skills: [{id: a, description: A}]\ngraph: {entries: [{skill: a}]}", encoding="utf-8")
    found = await skillweave.open(str(path)).skills.graph()
    assert found is not None
    assert [one.id for one in found.declared.skills] == ["a"]


async def test_an_entity_is_found_by_any_name() -> None:
    weaver = skillweave.open(entities=await known(SHIP, OTHER))
    assert await weaver.entities.get("imo-9321483") == SHIP
    assert await weaver.entities.get("ship-2") == OTHER
    with pytest.raises(AmbiguousEntity):
        await weaver.entities.get("twin")
    with pytest.raises(EntityNotFound, match="no entity is called 'ship-3'"):
        await weaver.entities.get("ship-3")


async def test_a_file_of_entities_is_seen_by_the_rules_of_the_packs(tmp_path: Path) -> None:
    write_harbour(tmp_path)
    weaver = skillweave.open(str(tmp_path / "harbour.yaml"), entities=tmp_path / "harbour.json")
    assert (await weaver.entities.get("IMO 9321483")).id == "ship-aurora"


async def test_without_entities_nothing_is_known_and_the_error_says_how_to_have_some() -> None:
    weaver = skillweave.open()
    assert await weaver.entities.graph() is None
    with pytest.raises(EntityNotFound, match="entities="):
        await weaver.entities.get("ship-1")
    with pytest.raises(EntityNotFound, match="entities="):
        await weaver.entities.context("ship-1", ["crew"])


async def test_the_context_of_an_entity_is_what_skills_with_the_tags_are_given(pack: str) -> None:
    weaver = skillweave.open(pack, entities=await known(SHIP))
    found = await weaver.entities.context("IMO 9321483", ["crew"])
    assert (found.entity, [one.name for one in found.sections]) == ("ship-1", ["ship"])
    with pytest.raises(EntityNotFound):
        await weaver.entities.context("ship-3", ["crew"])


class Told:
    """A host's own source, which cannot tell whether it knows an entity."""

    async def assemble(self, entity: str, domain_tags: Sequence[str]) -> EntityContext:
        return EntityContext(entity, (Section("about", f"{entity} for {domain_tags[0]}"),))


async def test_the_context_of_a_host_is_asked_as_it_is() -> None:
    found = await skillweave.open(context=Told()).entities.context("anything", ["crew"])
    assert found.sections[0].text == "anything for crew"


def test_the_verbs_work_without_await() -> None:
    with skillweave.open().sync as weaver:
        assert weaver.skills.graph() is None
        with pytest.raises(EntityNotFound):
            weaver.entities.get("a")
