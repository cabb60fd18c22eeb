"""Entity context end to end: which entity a turn is about, what is given of it once, what is said when it fails."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillweave
from skillweave import (
    Budget,
    Diagnostic,
    Injection,
    Message,
    Outcome,
    Placement,
    Role,
    Settings,
    StoreUnavailable,
    Weaver,
)
from skillweave.disclose.block import CHANGED
from skillweave.entities import MemoryGraph
from skillweave.errors import InvalidValue
from skillweave.frozen import freeze_mapping
from skillweave.knowledge.entity import Direction, Edge, Entity, Neighbour
from skillweave_testing import KnownContext, WordCounter

FLEET = Path(__file__).parents[1] / "data" / "fleet"
GRAPH = FLEET / "graph.json"
FIVE = """Ship: Aurora Borealis 1 (IMO: IMO-9074729)
Status: in service, Type: bulk carrier
Owner: Fjord Lines (Holding)
Flag: Norway (NIS), Register 08
Manager: Deep Blue Management LLC (DOC: 683214)"""
CALLS = """Ports of call:
- Oslo: in 1 days, 9.5 m [p-oslo]
- Bergen: in 3 days, 11 m [p-bergen]
- and 1 more"""
MISTRAL = """Ship: Mistral (IMO: IMO-9074731)
Status: laid up
Owner: Fjord Lines (Holding)
Manager: Deep Blue Management LLC (DOC: 683214)"""


def weaver_of(entities: Any = GRAPH, budget: Budget | None = None, seconds: float = 30.0, **options: Any) -> Weaver:
    settings = Settings(budget=budget or Budget(), context_seconds=seconds)
    return skillweave.open(FLEET / "pack.yaml", entities=entities, settings=settings, counter=WordCounter(), **options)


def ship(ship_id: str, name: str, **properties: Any) -> Entity:
    return Entity(ship_id, "Ship", freeze_mapping({"name": name, **properties}), (name,))


def texts(injection: Injection) -> list[str]:
    return [message.text for message in injection.messages]


def after_heading(injection: Injection) -> str:
    """What stands below the heading of entity context in the only message."""
    (text,) = texts(injection)
    return text.partition("\n## Entity Context\n")[2]


def unclear(injection: Injection) -> list[Diagnostic]:
    return [found for found in injection.diagnostics if found.code.startswith("entity-")]


def failed(injection: Injection) -> list[str]:
    return [f"{one.skill_id}: {one.reason}" for one in injection.decisions if one.outcome is Outcome.FAILED]


async def test_the_context_begins_with_the_lines_of_the_entity_and_what_belongs_to_it() -> None:
    injection = await weaver_of().weave("Which berth?", conversation="c", memory={"ship": "IMO-9074729"})
    assert after_heading(injection) == f"{FIVE}\n{CALLS}"
    assert after_heading(injection).split("\n")[:5] == FIVE.split("\n")


@pytest.mark.parametrize(
    "name", ["s-aurora", "IMO-9074729", "imo 9074729", "AURORA BOREALIS 1"], ids=["id", "number", "spelling", "name"]
)
async def test_the_memory_names_the_entity_by_any_of_its_names(name: str) -> None:
    injection = await weaver_of().weave("Which berth?", conversation="c", memory={"entity_id": name})
    assert after_heading(injection).startswith(FIVE)


async def test_an_id_in_the_message_names_the_entity() -> None:
    injection = await weaver_of().weave("Which berth for IMO 9074729?", conversation="c")
    assert after_heading(injection).startswith(FIVE)


@pytest.mark.parametrize("said", ["Which berth for IMO 9074729?", "Which berth for aurora borealis 1's call?"])
async def test_what_the_message_names_goes_before_the_memory_and_the_loser_is_told(said: str) -> None:
    injection = await weaver_of().weave(said, conversation="c", memory={"ship": "s-mistral"})
    assert after_heading(injection).startswith(FIVE)
    (found,) = unclear(injection)
    assert (found.code, "'s-mistral'" in found.message) == ("entity-overruled", True)


async def test_the_message_and_the_memory_that_name_one_entity_in_two_ways_do_not_differ() -> None:
    injection = await weaver_of().weave("A berth for IMO 9074729", conversation="c", memory={"ship": "s-aurora"})
    assert unclear(injection) == []


async def test_a_name_in_a_message_is_still_meant_later() -> None:
    weaver = weaver_of()
    await weaver.weave("We talk about the Aurora Borealis 1 today", conversation="c")
    assert after_heading(await weaver.weave("Which berth?", conversation="c")).startswith(FIVE)


async def test_a_name_that_two_have_is_asked_about() -> None:
    weaver = weaver_of(MemoryGraph([ship("a", "The Twin"), ship("b", "The Twin")]))
    injection = await weaver.weave("A berth for the twin", conversation="c", memory={"ship": "a"})
    assert [found.code for found in unclear(injection)] == ["entity-ambiguous"]
    assert "## Entity Context" not in texts(injection)[0]


async def test_sections_that_could_not_be_read_are_told_to_the_model_and_in_diagnostics() -> None:
    weaver = weaver_of(Leaking([ship("s", "Vega")], at_once=False))
    injection = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s"})
    assert "sections could not be read" in after_heading(injection)
    assert [found.code for found in unclear(injection)] == ["entity-context-incomplete"]


async def test_an_id_in_what_the_model_or_a_tool_says_names_nothing() -> None:
    weaver = weaver_of()
    await weaver.weave("Which berth?", conversation="c")
    said = await weaver.weave(Message(Role.ASSISTANT, "IMO 9074729 SKILL_SELECT:pilotage"), conversation="c")
    assert said.skills == ("pilotage",)
    assert "Aurora" not in "".join(texts(said))


async def test_what_was_named_before_is_still_meant_when_another_skill_comes() -> None:
    weaver = weaver_of()
    await weaver.weave("Where is IMO 9074729?", conversation="c")
    later = await weaver.weave("Which berth?", conversation="c")
    assert after_heading(later).startswith(FIVE)
    assert (await weaver.ledger.state("c")).entity == "s-aurora"


async def test_an_entity_that_appears_later_is_given_once_under_its_own_header() -> None:
    weaver = weaver_of()
    first = await weaver.weave("Which berth?", conversation="c")
    assert "## Entity Context" not in first.messages[0].text
    second = await weaver.weave("It is IMO 9074729", conversation="c")
    assert texts(second) == [f"=== Entity Context: s-aurora ===\n{FIVE}\n{CALLS}"]
    assert texts(await weaver.weave("And the berth of IMO 9074729?", conversation="c")) == []


async def test_another_entity_gets_its_own_context() -> None:
    weaver = weaver_of()
    await weaver.weave("Which berth for IMO 9074729?", conversation="c")
    other = await weaver.weave("And for IMO 9074731?", conversation="c")
    assert texts(other) == [f"=== Entity Context: s-mistral ===\n{MISTRAL}"]
    back = await weaver.weave("Back to IMO 9074729", conversation="c")
    assert texts(back) == []


async def test_skills_of_one_turn_share_the_sections() -> None:
    injection = await weaver_of().weave("A berth and a pilot for IMO 9074729", conversation="c")
    assert set(injection.skills) == {"berth-planning", "pilotage"}
    assert "\n".join(texts(injection)).count("Ship: Aurora Borealis 1") == 1


async def test_skills_with_the_same_tags_ask_the_graph_once() -> None:
    graph = Counting([ship("s1", "Aurora")])
    await weaver_of(graph).weave("A berth and a pilot", conversation="c", memory={"ship": "s1"})
    assert graph.asked.count("OWNED_BY") == 1  # though the sections `owner` and `company` both begin with it


async def test_a_skill_without_tags_gets_no_context() -> None:
    injection = await weaver_of().weave("The crew of IMO 9074729", conversation="c")
    assert "## Entity Context" not in injection.messages[0].text


async def test_a_changed_property_gives_its_section_again_in_place_of_the_old_one() -> None:
    graph = MemoryGraph(
        [ship("s1", "Aurora", status="at sea"), Entity("o1", "Owner", freeze_mapping({"name": "Fjord"}))]
    )
    await graph.put(edges=[Edge("s1", "OWNED_BY", "o1")])
    weaver = weaver_of(graph)
    first = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s1"})
    assert after_heading(first) == "Ship: Aurora\nStatus: at sea\nOwner: Fjord"
    await graph.put([ship("s1", "Aurora", status="moored")])
    again = await weaver.weave("Which berth now?", conversation="c", memory={"ship": "s1"})
    assert texts(again) == [f"=== Entity Context: s1 ===\n{CHANGED}\nShip: Aurora\nStatus: moored"]
    replaced = [one for one in (await weaver.ledger.state("c")).superseded if one.record.key == "context:s1:entity"]
    assert [one.by for one in replaced] == [again.messages[0].id]


async def test_a_section_that_changed_is_marked_inside_the_block_of_another_skill_too() -> None:
    graph = MemoryGraph([ship("s1", "Aurora", status="at sea")])
    weaver = weaver_of(graph)
    await weaver.weave("Which berth?", conversation="c", memory={"ship": "s1"})
    await graph.put([ship("s1", "Aurora", status="moored")])
    other = await weaver.weave("A pilot, please", conversation="c", memory={"ship": "s1"})
    assert f"{CHANGED}\nShip: Aurora\nStatus: moored" in "\n".join(texts(other))


async def test_in_call_placement_the_context_stays_in_every_call() -> None:
    weaver = weaver_of()
    calls = [
        await weaver.weave(said, conversation="c", placement=Placement.CALL)
        for said in ("Which berth for IMO 9074729?", "Thanks", "And then?")
    ]
    assert all(f"## Entity Context\n{FIVE}" in call.instructions for call in calls)


async def test_with_a_transcript_that_shows_it_the_context_is_not_given_again_and_without_it_is() -> None:
    weaver = weaver_of()
    said = [Message(Role.USER, "Which berth for IMO 9074729?")]
    first = await weaver.weave(said[0], conversation="c", transcript=said)
    shown = [*said, *first.messages, Message(Role.USER, "Which berth?")]
    assert texts(await weaver.weave(shown[-1], conversation="c", transcript=shown)) == []
    lost = [*said, Message(Role.USER, "Which berth?")]
    assert FIVE in "".join(texts(await weaver.weave(lost[-1], conversation="c", transcript=lost)))


async def test_what_was_not_delivered_is_given_again() -> None:
    weaver = weaver_of()
    with pytest.raises(RuntimeError):
        async with weaver.delivery("Which berth for IMO 9074729?", conversation="c"):
            raise RuntimeError("the call failed")
    assert after_heading(await weaver.weave("Which berth?", conversation="c")).startswith(FIVE)


async def test_a_section_that_is_evicted_is_given_again_alone() -> None:
    weaver = weaver_of()
    await weaver.weave("Which berth for IMO 9074729?", conversation="c")
    assert await weaver.evict("c", "context:s-aurora:owner")
    assert texts(await weaver.weave("Which berth?", conversation="c")) == [
        "=== Entity Context: s-aurora ===\nOwner: Fjord Lines (Holding)"
    ]


async def test_the_same_turn_again_gives_the_same() -> None:
    weaver = weaver_of()
    first = await weaver.weave("Which berth for IMO 9074729?", conversation="c", turn_id="t1")
    again = await weaver.weave("Which berth for IMO 9074729?", conversation="c", turn_id="t1")
    assert texts(first) == texts(again)


async def test_an_id_that_nobody_knows_is_told_and_not_remembered() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("Which berth for IMO 1111111?", conversation="c")
    assert [(one.code, one.path) for one in unclear(injection)] == [("entity-unknown", "the message")]
    assert "the graph knows no entity 'IMO-1111111'" in unclear(injection)[0].message
    assert failed(injection) == ["berth-planning: context of IMO-1111111: the graph knows no entity 'IMO-1111111'"]
    assert (await weaver.ledger.state("c")).entity == ""


async def test_after_an_unknown_id_nothing_is_given_of_the_entity_before_it() -> None:
    weaver = weaver_of()
    await weaver.weave("Where is IMO 9074729?", conversation="c")
    await weaver.weave("And IMO 1111111?", conversation="c")
    assert "## Entity Context" not in "".join(texts(await weaver.weave("Which berth?", conversation="c")))


async def test_an_unknown_id_is_told_where_no_skill_asks_for_context_too() -> None:
    injection = await weaver_of().weave("Where is IMO 1111111?", conversation="c")
    assert [one.code for one in unclear(injection)] == ["entity-unknown"]


async def test_a_name_of_several_entities_is_told_with_their_ids() -> None:
    weaver = weaver_of()
    injection = await weaver.weave("Which berth?", conversation="c", memory={"ship": "Northern"})
    (found,) = unclear(injection)
    assert (found.code, found.path) == ("entity-ambiguous", "`ship` of the memory")
    assert "'s-north', 's-north2'" in found.message
    assert (await weaver.ledger.state("c")).entity == ""


@pytest.mark.parametrize("nothing", [None, ""])
async def test_a_host_that_clears_its_memory_ends_what_the_conversation_is_about(nothing: object) -> None:
    weaver = weaver_of()
    await weaver.weave("Hello", conversation="c", memory={"ship": "s-aurora"})
    await weaver.weave("Hello", conversation="c", memory={"ship": nothing})
    assert (await weaver.ledger.state("c")).entity == ""


class Counting(MemoryGraph):
    """A graph that notes which relations it is asked for, and may be down or silent."""

    down = False
    silent = False

    def __init__(self, entities: list[Entity]) -> None:
        super().__init__(entities)
        self.asked: list[str | None] = []

    async def entity(self, ref: str) -> Entity | None:
        if self.down:
            raise StoreUnavailable("the graph is down")
        if self.silent:
            await asyncio.Event().wait()
        return await super().entity(ref)

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        self.asked.append(relation)
        return await super().neighbours(entity_id, relation, direction, limit)


@pytest.mark.parametrize(
    ("state", "why"), [("down", "the graph is down"), ("silent", "the entity graph did not answer within 50 ms")]
)
async def test_a_graph_that_does_not_answer_costs_its_tier_and_not_the_turn(state: str, why: str) -> None:
    graph = Counting([ship("s1", "Aurora")])
    weaver = weaver_of(graph, seconds=0.05 if state == "silent" else 30.0)
    await weaver.weave("Hello", conversation="c")
    setattr(graph, state, True)
    injection = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s1"})
    assert injection.skills == ("berth-planning",)
    assert [(one.code, why in one.message) for one in unclear(injection)] == [("entity-unavailable", True)]
    assert len(failed(injection)) == 1 and why in failed(injection)[0]
    setattr(graph, state, False)
    assert texts(await weaver.weave("And now?", conversation="c")) == ["=== Entity Context: s1 ===\nShip: Aurora"]


async def test_a_graph_that_fails_in_its_own_way_costs_its_tier_and_not_the_turn() -> None:
    class Broken(Counting):
        async def entity(self, ref: str) -> Entity | None:
            raise RuntimeError("no such table")

    injection = await weaver_of(Broken([])).weave("Which berth?", conversation="c", memory={"ship": "s1"})
    assert injection.skills == ("berth-planning",)
    assert "RuntimeError: no such table" in unclear(injection)[0].message


async def test_a_source_of_ones_own_is_asked_about_what_the_rules_recognise_and_the_conversation_remembers() -> None:
    known = KnownContext({"IMO-9074729": {"mooring": "Ship: Aurora"}})
    weaver = skillweave.open(FLEET / "pack.yaml", context=known, counter=WordCounter())
    await weaver.weave("Where is imo 9074729?", conversation="c")
    assert after_heading(await weaver.weave("Which berth?", conversation="c")) == "Ship: Aurora"


async def test_without_entities_a_conversation_is_about_none() -> None:
    weaver = skillweave.open(FLEET / "pack.yaml", counter=WordCounter())
    await weaver.weave("Which berth for IMO 9074729?", conversation="c", memory={"ship": "s-aurora"})
    assert (await weaver.ledger.state("c")).entity == ""


@given(total=st.integers(0, 120), most=st.integers(0, 80), in_call=st.booleans())
def test_context_never_takes_more_than_its_budget_and_the_turn_never_more_than_the_total(
    total: int, most: int, in_call: bool
) -> None:
    budget = Budget(total=total, catalog=0, shortlist=0, per_skill=40, context=most)
    weaver = weaver_of(MemoryGraph([ship("s1", "Aurora " * 9, status="far away")]), budget=budget)
    placement = Placement.CALL if in_call else Placement.HISTORY
    injection = asyncio.run(
        weaver.weave("A berth and a pilot", conversation="c", memory={"ship": "s1"}, placement=placement)
    )
    assert injection.tokens.by_tier["3.5"] <= most
    assert sum(block.tokens for block in injection.blocks) <= total


async def test_what_the_budget_has_no_room_for_is_told_with_its_cost() -> None:
    weaver = weaver_of(budget=Budget(context=20))
    injection = await weaver.weave("Which berth for IMO 9074729?", conversation="c")
    over = [one.reason for one in injection.decisions if one.outcome is Outcome.OVER_BUDGET]
    assert any(one.startswith("context:s-aurora:calls would have cost") for one in over)


def test_context_and_entities_exclude_each_other() -> None:
    with pytest.raises(InvalidValue, match="either `context` or `entities`"):
        weaver_of(context=KnownContext({}))


@pytest.mark.parametrize("entities", ["nowhere.json", 7])
def test_what_is_no_graph_is_refused_at_once(entities: object) -> None:
    with pytest.raises(InvalidValue):
        weaver_of(entities)


async def test_a_graph_in_a_database_is_that_of_the_tenant_and_closed_with_the_weaver(tmp_path: Path) -> None:
    from skillweave_stores.sql.entities import SqlGraph

    url = f"sqlite:///{tmp_path}/entities.db"
    for tenant, name in (("north", "Aurora"), ("south", "Mistral")):
        async with SqlGraph(url, tenant=tenant) as graph:
            await graph.put([ship("s1", name)])
    async with weaver_of(url, tenant="north") as weaver:
        mine = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s1"})
        theirs = await weaver.variant(tenant="south").weave("Which berth?", conversation="c", memory={"ship": "s1"})
    assert (after_heading(mine), after_heading(theirs)) == ("Ship: Aurora", "Ship: Mistral")


async def test_entities_that_no_source_says_anything_about_are_a_finding() -> None:
    weaver = skillweave.open({"id": "berth", "description": "Berths."}, entities=GRAPH)
    assert "entities-without-context" in {found.code for found in await weaver.skills.diagnostics()}


async def test_a_tag_of_which_the_rules_say_nothing_is_a_finding() -> None:
    other = {"id": "cooking", "description": "Cooks.", "domain_tags": ["galley"]}
    weaver = skillweave.open(other, FLEET / "pack.yaml", entities=GRAPH)
    (found,) = [one for one in await weaver.skills.diagnostics() if one.code == "context-unknown-tag"]
    assert "'galley', a domain tag of cooking" in found.message


async def test_what_is_left_out_of_a_file_of_entities_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text('{"nodes": [{"id": "s-one"}]}')
    (found,) = await weaver_of(tmp_path / "graph.json").skills.diagnostics()
    assert found.code == "bad-entity"
    assert "'s-one' is left out" in found.message


async def test_a_file_of_another_kind_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_text("{}")
    weaver = weaver_of(tmp_path / "graph.txt")
    (found,) = await weaver.skills.diagnostics()
    assert (found.code, str(found.location)) == ("entity-unavailable", "entities")
    assert "graph.txt" in found.message


async def test_a_file_of_entities_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / "graph.json").write_text('{"nodes": [')
    (found,) = await weaver_of(tmp_path / "graph.json").skills.diagnostics()
    assert found.code == "json-invalid"
    assert found.location is not None and found.location.path.endswith("graph.json")


class Leaking(MemoryGraph):
    """A graph that fails with a long message in which a password stands, at the first question or the second."""

    def __init__(self, entities: list[Entity], *, at_once: bool) -> None:
        super().__init__(entities)
        self.at_once = at_once

    async def entity(self, ref: str) -> Entity | None:
        if self.at_once:
            self.fail()
        return await super().entity(ref)

    async def neighbours(self, *_: Any, **__: Any) -> tuple[Neighbour, ...]:
        self.fail()
        return ()

    def fail(self) -> None:
        raise RuntimeError(f"cannot reach postgresql://me:hunter2@db/graph {'x' * 100_000}")


@pytest.mark.parametrize("at_once", [True, False])
async def test_what_a_graph_raises_is_told_shortly_and_without_its_password(at_once: bool) -> None:
    weaver = weaver_of(Leaking([ship("s", "Vega")], at_once=at_once))
    injection = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s"})
    told = [*failed(injection), *(found.message for found in injection.diagnostics)]
    assert told
    assert all("RuntimeError: cannot reach postgresql://***@db/graph" in one and len(one) < 800 for one in told)


class Plain:
    """A graph whose methods are no coroutines, which a host may well write by mistake."""

    def entity(self, ref: str) -> None:
        return None

    def neighbours(self, entity_id: str) -> tuple[Neighbour, ...]:
        return ()

    def near(self, point: object) -> None:
        return None


async def test_a_graph_without_coroutines_costs_its_tier_and_not_the_turn() -> None:
    injection = await weaver_of(Plain()).weave("Which berth?", conversation="c", memory={"ship": "s"})
    assert len(texts(injection)) == 1
    assert [found.code for found in unclear(injection)] == ["entity-unavailable"]


async def test_an_agent_sees_the_context_of_its_own_skills(tmp_path: Path) -> None:
    agents = "agents:\n  - {id: harbour-master, skills: [berth-planning]}\n"
    (tmp_path / "pack.yaml").write_text((FLEET / "pack.yaml").read_text("utf-8") + agents, "utf-8")
    weaver = skillweave.open(
        tmp_path / "pack.yaml", entities=GRAPH, counter=WordCounter(), settings=Settings(context_seconds=30)
    )
    master = await weaver.for_agent("harbour-master")
    assert after_heading(await master.weave("Which berth for IMO 9074729?", conversation="c")).startswith(FIVE)


async def test_an_edit_of_the_rules_counts_from_the_next_turn_on(tmp_path: Path) -> None:
    pack = (FLEET / "pack.yaml").read_text("utf-8")
    (tmp_path / "pack.yaml").write_text(pack, "utf-8")
    weaver = skillweave.open(
        tmp_path / "pack.yaml", entities=GRAPH, counter=WordCounter(), settings=Settings(context_seconds=30)
    )
    await weaver.weave("Which berth for IMO 9074729?", conversation="c")
    (tmp_path / "pack.yaml").write_text(pack.replace("'Owner: {name}'", "'Owned by {name}'"), "utf-8")
    await weaver.skills.refresh()
    again = await weaver.weave("Which berth?", conversation="c")
    assert texts(again) == [f"=== Entity Context: s-aurora ===\n{CHANGED}\nOwned by Fjord Lines (Holding)"]


class Stuck(MemoryGraph):
    """A graph of which one relation never answers."""

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        if relation == "FLIES":
            await asyncio.Event().wait()
        return await super().neighbours(entity_id, relation, direction, limit)


@pytest.mark.parametrize(("context_seconds", "fetch_seconds"), [(0.3, 0.3), (0.3, 0.1), (0.3, 5)])
async def test_a_late_section_costs_no_other_whatever_time_documents_have(
    context_seconds: float, fetch_seconds: float
) -> None:
    """What is known of an entity has its own time: it is not lost as a whole to that of documents."""
    graph = Stuck([ship("s", "Vega")])
    weaver = Weaver(
        weaver_of().skills.registry,
        skillweave.MemoryStore(),
        Settings(context_seconds=context_seconds),
        counter=WordCounter(),
        entities=graph,
        fetch_seconds=fetch_seconds,
    )
    injection = await weaver.weave("Which berth?", conversation="c", memory={"ship": "s"})
    assert "Ship: Vega" in texts(injection)[0]
    late = f"it did not come within {context_seconds * 1000:.0f} ms"
    assert failed(injection) == [f"berth-planning: context of s: section 'flag' is left out: {late}"]
