"""Assembling entity context: which sections, which rows, in which order, within which bounds, and from which nodes."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidValue, StoreUnavailable
from skillweave.frozen import freeze_mapping
from skillweave.knowledge import assemble as assembling
from skillweave.knowledge.assemble import GraphContext, assemble
from skillweave.knowledge.context import EntityContext
from skillweave.knowledge.entity import AmbiguousEntity, Direction, Entity, EntityGraph, Neighbour
from skillweave.knowledge.memory import MemoryGraph
from skillweave.knowledge.rendering import Row, Template, render_line
from skillweave.knowledge.rules import ContextRules, Hop, SectionPart, SectionRule
from tests.fleet import AURORA, OWNER, PORTS, PORTS_OF_AURORA, RULES, edge, entity, fleet


class Troubled:
    """A graph of which some relations do not answer: `late` ones never, `broken` ones with an error."""

    def __init__(self, graph: EntityGraph, *, late: str = "", broken: str = "", down: bool = False) -> None:
        self.graph, self.late, self.broken, self.down = graph, late, broken, down

    async def entity(self, ref: str) -> Entity | None:
        if self.down:
            raise StoreUnavailable("the graph is down")
        if self.late == "*":
            await asyncio.Event().wait()
        return await self.graph.entity(ref)

    async def neighbours(
        self, entity_id: str, relation: str | None = None, direction: Direction = Direction.OUT, limit: int = 100
    ) -> tuple[Neighbour, ...]:
        if relation == self.late:
            await asyncio.Event().wait()
        if relation == self.broken:
            raise StoreUnavailable("the table is locked")
        return await self.graph.neighbours(entity_id, relation, direction, limit)

    async def near(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("no section asks for what lies near")


def texts(context: EntityContext) -> dict[str, str]:
    return {section.name: section.text for section in context.sections}


async def shown(part: SectionPart, graph: EntityGraph | None = None, ref: str = "s-aurora") -> list[str]:
    rules = ContextRules(sections=(SectionRule("one", (part,)),))
    context = await assemble(graph or fleet(), rules, ref, ["any"])
    return [line for section in context.sections for line in section.text.split("\n")]


async def test_the_sections_are_the_union_of_the_tags_in_the_order_of_the_sections() -> None:
    context = await assemble(fleet(), RULES, "s-aurora", ["law", "mooring"])
    assert list(texts(context)) == ["entity", "owner", "ports"]
    assert texts(context) == {"entity": AURORA, "owner": "Owner: Fjord Lines, NO", "ports": PORTS_OF_AURORA}


async def test_the_context_is_that_of_the_entity_whichever_of_its_names_is_used() -> None:
    contexts = [await assemble(fleet(), RULES, ref, ["law"]) for ref in ("s-aurora", "IMO-9074729", "imo 9074729")]
    assert contexts[0].entity == "s-aurora"
    assert contexts[0] == contexts[1] == contexts[2]


async def test_a_tag_that_is_not_listed_shows_what_is_shown_otherwise_and_is_told() -> None:
    context = await assemble(fleet(), RULES, "s-aurora", ["cooking", "law", "cooking"])
    assert (list(texts(context)), context.unknown_tags) == (["entity", "owner"], ("cooking",))


async def test_a_node_that_two_ways_lead_to_is_shown_for_each_where_the_line_tells_the_way() -> None:
    owned = MemoryGraph(
        [entity("f", "Fleet"), *(entity(name, "Ship", name=name) for name in "ab"), entity("o", "Owner", name="Fjord")],
        [*(edge("f", "HAS", name) for name in "ab"), *(edge(name, "OWNED_BY", "o") for name in "ab")],
    )
    path = (Hop("HAS"), Hop("OWNED_BY"))
    assert await shown(SectionPart(("- {from.name}: {name}",), path=path), owned, "f") == ["- a: Fjord", "- b: Fjord"]
    assert await shown(SectionPart(("- {name}",), path=path), owned, "f") == ["- Fjord"]


async def test_the_title_of_a_part_without_rows_stands_over_the_next_rows() -> None:
    without = SectionPart(("- {name}",), title="Nearby:", path=(Hop("SAILS_WITH"),))
    owner = SectionPart(("- {name}",), path=(Hop("OWNED_BY"),))
    rules = ContextRules(sections=(SectionRule("one", (without, owner, owner)), SectionRule("two", (without,))))
    context = await assemble(fleet(), rules, "s-aurora", ["any"])
    assert texts(context) == {"one": "Nearby:\n- Fjord Lines"}


async def test_rules_that_say_nothing_of_tags_show_everything() -> None:
    rules = ContextRules(sections=(OWNER, PORTS))
    context = await assemble(fleet(), rules, "s-aurora", ["any"])
    assert (list(texts(context)), context.unknown_tags) == (["owner", "ports"], ())


async def test_without_tags_nothing_is_shown() -> None:
    assert (await assemble(fleet(), RULES, "s-aurora", [])).sections == ()


async def test_a_part_is_for_entities_of_its_labels() -> None:
    context = await assemble(fleet(), RULES, "o-fjord", ["mooring"])
    assert texts(context) == {"entity": "Owner: Fjord Lines"}


async def test_a_section_without_a_line_is_left_out() -> None:
    context = await assemble(fleet(), RULES, "s-corona", ["law", "mooring"])
    assert (texts(context), context.omitted) == ({"entity": "Ship: Corona"}, ())


async def test_an_entity_that_the_graph_does_not_know_is_told() -> None:
    context = await assemble(fleet(), RULES, "s-none", ["law"])
    assert (context.sections, context.omitted) == ((), ("the graph knows no entity called 's-none'",))


async def test_a_name_of_several_entities_is_refused() -> None:
    with pytest.raises(AmbiguousEntity):
        await assemble(fleet(), RULES, "northern", ["law"])


async def test_comparisons_leave_rows_out() -> None:
    where = freeze_mapping({"edge.days": {"lte": 3}, "node.depth_m": {"gt": 10}})
    assert await shown(SectionPart(("{name}",), path=(Hop("CALLS_AT"),), where=where)) == ["Bergen"]


async def test_of_a_field_that_is_missing_no_comparison_holds_and_exists_asks_for_it() -> None:
    path = (Hop("CALLS_AT"),)
    differs = freeze_mapping({"node.depth_m": {"not_in": [11.0]}})
    assert await shown(SectionPart(("{name}",), path=path, where=differs)) == ["Oslo"]
    nothing = freeze_mapping({"node.depth_m": {"exists": False}})
    assert await shown(SectionPart(("{name}",), path=path, where=nothing)) == ["Turku"]
    something = freeze_mapping({"node.depth_m": {"exists": True, "lt": 10}})
    assert await shown(SectionPart(("{name}",), path=path, where=something)) == ["Oslo"]


async def test_a_comparison_with_one_is_none_with_true() -> None:
    path = (Hop("CALLS_AT"),)
    one = SectionPart(("{name}",), path=path, where=freeze_mapping({"edge.days": {"eq": 1}}))
    true = SectionPart(("{name}",), path=path, where=freeze_mapping({"edge.days": {"eq": True}}))
    assert (await shown(one), await shown(true)) == (["Oslo"], [])


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("", ["Bergen", "Oslo", "Turku"]),
        ("edge.days", ["Oslo", "Bergen", "Turku"]),
        ("-edge.days", ["Turku", "Bergen", "Oslo"]),
        ("depth_m", ["Oslo", "Bergen", "Turku"]),
        ("-depth_m", ["Bergen", "Oslo", "Turku"]),
    ],
)
async def test_rows_are_sorted_by_a_field_and_those_without_it_come_last(order: str, names: list[str]) -> None:
    assert await shown(SectionPart(("{name}",), path=(Hop("CALLS_AT"),), order=order)) == names


async def test_more_rows_than_are_shown_are_counted() -> None:
    part = SectionPart(("- {name}",), title="Ports:", path=(Hop("CALLS_AT"),), limit=2)
    assert await shown(part) == ["Ports:", "- Bergen", "- Oslo", "- and 1 more"]


async def test_where_the_graph_was_not_asked_for_everything_the_rest_is_at_least_so_many() -> None:
    ports = [entity(f"p{number:04}", "Port", name=f"Port {number}") for number in range(1200)]
    graph = MemoryGraph([entity("s", "Ship"), *ports], [edge("s", "CALLS_AT", port.id) for port in ports])
    part = SectionPart(("- {name}",), path=(Hop("CALLS_AT"),), limit=2)
    assert (await shown(part, graph, "s"))[-1] == "- and at least 998 more"
    last = SectionPart(("- {name}",), path=(Hop("CALLS_AT"),), where=freeze_mapping({"node.name": {"eq": "Port 1"}}))
    assert await shown(last, graph, "s") == ["- Port 1", "- and perhaps more: not all connections were looked at"]


async def test_a_list_of_the_node_has_a_row_for_each_item() -> None:
    part = SectionPart(("- {month}: {miles} miles ({node.name})",), each="voyages")
    assert await shown(part) == ["- March: 1200 miles (Aurora)", "- April: 800 miles (Aurora)", "- May (Aurora)"]


async def test_of_a_list_the_last_items_may_be_shown_and_the_others_counted() -> None:
    part = SectionPart(("- {month}",), title="Voyages:", each="voyages", last=2)
    assert await shown(part) == ["Voyages:", "- April", "- May", "- and 1 earlier"]


async def test_items_are_compared_too() -> None:
    part = SectionPart(("{month}",), each="voyages", where=freeze_mapping({"item.miles": {"gte": 1000}}))
    assert await shown(part) == ["March"]


async def test_a_path_of_two_hops_does_not_come_back_to_where_it_began() -> None:
    path = (Hop("OWNED_BY"), Hop("OWNED_BY", Direction.IN))
    assert await shown(SectionPart(("Sister: {name} ({from.name})",), path=path)) == ["Sister: Borealis (Fjord Lines)"]


async def test_a_node_that_is_reached_twice_is_shown_once() -> None:
    graph = MemoryGraph(
        [entity(one, "Ship", name=one) for one in "abcd"],
        [
            edge("a", "NEAR", "b"),
            edge("b", "NEAR", "a"),
            edge("a", "NEAR", "c"),
            edge("b", "NEAR", "d"),
            edge("c", "NEAR", "d"),
        ],
    )
    one = SectionPart(("{name}",), path=(Hop("NEAR", Direction.BOTH),))
    two = SectionPart(("{name}",), path=(Hop("NEAR"), Hop("NEAR")))
    assert (await shown(one, graph, "a"), await shown(two, graph, "a")) == (["b", "c"], ["d"])


async def test_parts_that_say_the_same_of_a_node_say_it_once() -> None:
    part = SectionPart(("Owner: {name}",), path=(Hop("OWNED_BY"),))
    rules = ContextRules(sections=(SectionRule("one", (part, part)),))
    context = await assemble(fleet(), rules, "s-aurora", ["any"])
    assert texts(context) == {"one": "Owner: Fjord Lines"}


async def test_a_ring_of_entities_ends() -> None:
    ring = [entity(str(number), "Ship", name=str(number)) for number in range(4)]
    graph = MemoryGraph(ring, [edge(str(number), "NEXT", str((number + 1) % 4)) for number in range(4)])
    hops = (Hop("NEXT"),) * 4
    assert await shown(SectionPart(("{name}",), path=hops[:3]), graph, "0") == ["3"]
    assert await shown(SectionPart(("{name}",), path=hops), graph, "0") == []


async def test_every_line_names_the_nodes_that_it_came_from() -> None:
    context = await assemble(fleet(), RULES, "s-aurora", ["law", "mooring"])
    lines = [line for section in context.sections for line in section.lines]
    assert lines == [
        ("Ship: Aurora (IMO-9074729)", ("s-aurora",)),
        ("Status: in service, Type: bulk carrier", ("s-aurora",)),
        ("Owner: Fjord Lines, NO", ("o-fjord",)),
        ("Ports:", ("s-aurora",)),
        ("- Oslo: 1 days, 9.5 m", ("p-oslo", "s-aurora")),
        ("- Bergen: 3 days, 11 m", ("p-bergen", "s-aurora")),
        ("- Turku: 7 days", ("p-turku", "s-aurora")),
    ]


async def test_a_section_that_is_late_is_omitted_with_the_reason_and_the_others_stay() -> None:
    graph = Troubled(fleet(), late="CALLS_AT")
    context = await assemble(graph, RULES, "s-aurora", ["law", "mooring"], seconds=0.05)
    assert list(texts(context)) == ["entity", "owner"]
    assert context.omitted == ("section 'ports' is left out: it did not come within 50 ms",)


async def test_where_the_loop_itself_was_held_up_what_is_there_is_not_lost() -> None:
    context = await assemble(fleet(), RULES, "s-aurora", ["law", "mooring"], seconds=0.0)
    assert (len(context.sections), context.omitted) == (3, ())


async def test_a_section_that_fails_is_omitted_with_the_reason_and_the_others_stay() -> None:
    context = await assemble(Troubled(fleet(), broken="OWNED_BY"), RULES, "s-aurora", ["law"])
    assert list(texts(context)) == ["entity"]
    assert context.omitted == ("section 'owner' is left out: StoreUnavailable: the table is locked",)


async def test_an_entity_that_is_late_is_told() -> None:
    context = await assemble(Troubled(fleet(), late="*"), RULES, "s-aurora", ["law"], seconds=0.05)
    assert (context.sections, context.omitted) == ((), ("the entity itself did not come within 50 ms",))


async def test_a_graph_that_is_down_is_an_error_of_the_caller() -> None:
    with pytest.raises(StoreUnavailable):
        await assemble(Troubled(fleet(), down=True), RULES, "s-aurora", ["law"])


def words(text: str) -> int:
    return len(text.split())


async def test_what_the_budget_has_no_room_for_is_told_with_its_cost() -> None:
    context = await assemble(fleet(), RULES, "s-aurora", ["law", "mooring"], budget=12, count=words)
    assert list(texts(context)) == ["entity"]
    assert context.omitted == (
        "section 'owner' is left out: it has 4 tokens, more than are left",
        f"section 'ports' is left out: it has {words(PORTS_OF_AURORA)} tokens, more than are left",
    )


@given(budget=st.integers(0, 60), tags=st.lists(st.sampled_from(["law", "mooring", "x"]), max_size=3))
def test_the_sections_together_never_have_more_tokens_than_the_budget(budget: int, tags: list[str]) -> None:
    context = asyncio.run(assemble(fleet(), RULES, "s-aurora", tags, budget=budget, count=words))
    assert words("\n".join(section.text for section in context.sections)) <= budget
    assert len(context.sections) + len(context.omitted) == len(RULES.sections_for(tags))


async def test_a_budget_needs_what_counts() -> None:
    with pytest.raises(InvalidValue):
        await assemble(fleet(), RULES, "s-aurora", ["law"], budget=10)


async def test_sections_are_read_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    both = asyncio.Event()

    class Meeting(Troubled):
        async def neighbours(self, entity_id: str, relation: str | None = None, *rest: Any) -> tuple[Neighbour, ...]:
            started.append(str(relation))
            if len(started) == 2:
                both.set()
            await both.wait()
            return await self.graph.neighbours(entity_id, relation, *rest)

    context = await assemble(Meeting(fleet()), RULES, "s-aurora", ["law", "mooring"], seconds=5.0)
    assert (sorted(started), context.omitted) == (["CALLS_AT", "OWNED_BY"], ())


async def test_of_a_wide_way_the_first_nodes_are_followed_and_the_rest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembling, "MOST_FOLLOWED", 2)
    ports = [entity(f"p{number}", "Port") for number in range(3)]
    berths = [entity(f"b{number}", "Berth", name=f"Berth {number}") for number in range(3)]
    graph = MemoryGraph(
        [entity("s", "Ship"), *ports, *berths],
        [*(edge("s", "CALLS_AT", one.id) for one in ports), *(edge(f"p{n}", "HAS", f"b{n}") for n in range(3))],
    )
    part = SectionPart(("- {name}",), path=(Hop("CALLS_AT"), Hop("HAS")))
    assert await shown(part, graph, "s") == [
        "- Berth 0",
        "- Berth 1",
        "- and perhaps more: not all connections were looked at",
    ]


async def test_a_graph_with_rules_is_a_context_source() -> None:
    source = GraphContext(fleet(), RULES)
    assert await source.assemble("s-aurora", ("law",)) == await assemble(fleet(), RULES, "s-aurora", ["law"])
    found = await source.find("imo 9074729")
    assert found is not None and found.id == "s-aurora"


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for every line that is rendered."""
    lines: list[int] = []

    def counted(template: Template, row: Row) -> str | None:
        lines.append(1)
        return render_line(template, row)

    monkeypatch.setattr(assembling, "render_line", counted)
    return lines


async def test_of_very_long_lists_a_part_is_read_and_that_is_told(rendered: list[int]) -> None:
    logs = MemoryGraph([entity("s", "Ship", log=[{"day": day} for day in range(50_000)])])
    first = SectionPart(("- {day}",), each="log", limit=2)
    assert await shown(first, logs, "s") == ["- 0", "- 1", "- and at least 9,998 more"]
    last = SectionPart(("- {day}",), each="log", last=2)
    assert await shown(last, logs, "s") == ["- 49998", "- 49999", "- and at least 9,998 earlier"]
    assert len(rendered) <= 11_000


async def test_the_lists_of_many_nodes_are_read_up_to_one_bound(rendered: list[int]) -> None:
    log = [{"day": day} for day in range(1_000)]
    ships = [entity(f"s{number:02}", "Ship", name=f"s{number:02}", log=log) for number in range(30)]
    fleet_of = MemoryGraph([entity("f", "Fleet"), *ships], [edge("f", "HAS", one.id) for one in ships])
    first = SectionPart(("- {node.name} {day}",), path=(Hop("HAS"),), each="log", limit=1)
    assert await shown(first, fleet_of, "f") == ["- s00 0", "- and at least 9,999 more"]
    last = SectionPart(("- {node.name} {day}",), path=(Hop("HAS"),), each="log", last=1)
    assert await shown(last, fleet_of, "f") == ["- s29 999", "- and at least 9,999 earlier"]


async def test_of_a_long_list_in_which_nothing_counts_it_is_told_that_not_all_was_read() -> None:
    logs = MemoryGraph([entity("s", "Ship", log=[{"day": day} for day in range(50_000)])])
    part = SectionPart(("- {day}",), each="log", where=freeze_mapping({"item.day": {"eq": 5}}))
    assert await shown(part, logs, "s") == ["- 5", "- and perhaps more: not all items were looked at"]


async def test_where_none_of_what_was_looked_at_counts_it_is_told_that_there_may_be_more() -> None:
    ships = [entity(f"s{number:04}", "Ship", name=f"s{number:04}", days=number) for number in range(1_100)]
    fleet_of = MemoryGraph([entity("f", "Fleet"), *ships], [edge("f", "HAS", one.id) for one in ships])
    late = freeze_mapping({"node.days": {"gte": 1_050}})
    part = SectionPart(("- {name}",), title="Late:", path=(Hop("HAS"),), where=late)
    assert await shown(part, fleet_of, "f") == ["Late:", "- perhaps some: not all connections were looked at"]
    logs = MemoryGraph([entity("s", "Ship", log=[{"day": day} for day in range(50_000)])])
    part = SectionPart(("- {day}",), each="log", where=freeze_mapping({"item.day": {"gte": 40_000}}))
    assert await shown(part, logs, "s") == ["- perhaps some: not all items were looked at"]
