"""Which skills a sub-agent can have, for random graphs and walks, beside what the graph itself says (spec 4.4)."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import Entry, Route
from skillweave.tools import SpawnPlan
from tests.depth import tried
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

NODES = ("a", "b", "c", "d")


@tried(26)
@given(
    st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES)), max_size=8),
    st.lists(st.sampled_from(NODES), max_size=3),
    st.sampled_from(NODES),
)
def test_a_sub_agent_has_a_skill_of_the_graph_only_where_its_parent_has_it_or_may_go_there(
    ways: set[tuple[str, str]], walk: list[str], wanted: str
) -> None:
    ways = {(one, other) for one, other in ways if one != other}
    graph = graph_of(
        *NODES,
        entries=[Entry("a", on("begin"))],
        routes=[Route(one, other, on(f"to {other}")) for one, other in sorted(ways)],
    )

    async def child() -> tuple[str | None, bool, bool]:
        weaver = weaver_over(graph, [make_skill(one) for one in NODES])
        injection = await weaver.weave("begin", conversation="c")
        for place in walk:
            injection = await weaver.weave(f"to {place}", conversation="c")
        cursor = (await weaver.ledger.state("c")).cursor
        prepared = await weaver.composition.prepare_spawn(
            {"task": "Do it", "skills": [wanted]}, parent=injection.policy
        )
        free = await weaver.composition.prepare_spawn({"task": "Do it"}, parent=injection.policy)
        assert isinstance(free, SpawnPlan)
        answer = await weaver.tools.read_skill(wanted, conversation=free.conversation, limits=free.limits)
        return None if cursor is None else cursor.skill, isinstance(prepared, SpawnPlan), not answer.failed

    place, planned, read = asyncio.run(child())
    in_graph = wanted in {"a", *(node for way in ways for node in way)}
    may = wanted == place or wanted in graph.reachable_skills(place) or not in_graph
    assert (planned, read) == (may, may)
