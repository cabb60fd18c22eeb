"""What is asked of a graph at one moment is asked together, and once."""

from collections.abc import Sequence

from skillweave.entities import Direction, Edge, Entity, MemoryGraph, Neighbour, assemble
from skillweave.knowledge.entity import Hops
from tests.fleet import RULES


class InTrips(MemoryGraph):
    """A graph that takes many questions in one trip, and keeps what each trip asked."""

    def __init__(self, entities: Sequence[Entity], edges: Sequence[Edge]) -> None:
        super().__init__(entities, edges)
        self.trips: list[tuple[Hops, ...]] = []

    async def several(self, asked: Sequence[Hops], limit: int) -> Sequence[tuple[Neighbour, ...]]:
        self.trips.append(tuple(asked))
        return [await self.neighbours(*one, limit) for one in asked]


SHIP, OWNER = Entity("s", "Ship", {"name": "Vega"}), Entity("o", "Company", {"name": "Fjord"})
OWNED = Edge("s", "OWNED_BY", "o")


async def test_a_context_takes_one_trip_for_each_step_of_its_longest_way() -> None:
    graph = InTrips([SHIP, OWNER], [OWNED])
    found = await assemble(graph, RULES, "s", ["law", "mooring"], seconds=30)
    assert found == await assemble(MemoryGraph([SHIP, OWNER], [OWNED]), RULES, "s", ["law", "mooring"], seconds=30)
    assert len(graph.trips) <= max(len(part.path) for one in RULES.sections for part in one.parts)


async def test_what_two_sections_ask_is_asked_once() -> None:
    graph = InTrips([SHIP, OWNER], [OWNED])
    await assemble(graph, RULES, "s", ["law", "mooring"], seconds=30)
    asked = [one for trip in graph.trips for one in trip]
    assert ("s", "OWNED_BY", Direction.OUT) in asked
    assert len(asked) == len(set(asked))
