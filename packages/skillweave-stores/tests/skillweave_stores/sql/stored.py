"""What the stored files of earlier revisions hold.

`python -m tests.skillweave_stores.sql.stored FILE` made them.
"""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from sqlalchemy import create_engine, text

from skillweave import Checkpoint, Skill
from skillweave.approvals.steps import verdict_of
from skillweave.entities import Edge, Entity, Neighbour, Point
from skillweave.frozen import FrozenDict
from skillweave.registry import Agent, Entry
from skillweave.skill import SkillText, ToolRules, Triggers
from skillweave.skills import Relation, RelationKind
from skillweave_stores import SqlGraph, SqlSource
from skillweave_stores.access import ApiKey, Scope
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_stores.sql.keys import SqlKeys
from skillweave_stores.sql.working_memory import SqlWorkingMemory
from skillweave_testing.ledger import FULL_STATE
from tests.contracts_of_ports.approvals import CHANGED, DIGEST, PLAIN, REQUEST

FILES = Path(__file__).parents[5] / "tests" / "data" / "stores"
"""One `skills-NNNN.db` for each revision."""
FULL = Skill(
    "full",
    "Full",
    "Has everything.",
    version="1.2.0",
    triggers=Triggers(("dig",), ("drill",), patterns=(r"\bAPI-\d+",), never=("no",)),
    domain_tags=("oil", "Größe"),
    text=SkillText("Details.", "# How\n\nDo it.", ("one", "two"), ("a well",), ("done",), "A table."),
    tools=ToolRules(("read",), ("write",)),
    relations=(Relation(RelationKind.REQUIRES, "plain", "why"),),
    checkpoints=(Checkpoint("sign-off", before="pay"),),
    emits=("DATA_TABLE_UPDATE",),
    license="MIT",
    metadata=FrozenDict({"n": 1e23, "deep": FrozenDict({"a": (1, 2.5, None, True)})}),
    spelling="full!",
)
CONTENTS = {"references/rule.md": "Größe zuerst.\n", "assets/logo.png": b"\x89PNG\0", "empty.txt": ""}
AGENT = Agent("clerk", "Clerk", "assistant", "m", ("full",), (Checkpoint("pay"),), FrozenDict({"per_day": 2.5}))
HARBOUR = Entity("harbour", "Harbour", {"name": "Süd", "berths": 12}, ("DE HGL",), Point(54.1781, 7.8886, "WGS84"))
SHIP = Entity("ship", "Ship", {"lengths_m": [9.5, 1e23], "crew": None}, ("IMO 9074729", "Aurora"))
BERTH = Edge("ship", "BERTHED_AT", "harbour", {"since": "2026-01"})

KEY = ApiKey("0123456789abcdef", "acme", "Zoë's", frozenset({Scope.READ, Scope.WEAVE}), "ab" * 32, 1e9 + 0.125, 2e9)

SEAL_KEY = bytes(range(32))


async def fill(url: str) -> None:
    """Store all of it: skills, a graph of entities, and what the service keeps."""
    await fill_with_skills(url)
    async with SqlGraph(url) as graph:
        await graph.put([HARBOUR, SHIP], [BERTH])
    async with SqlKeys(url) as keys:
        await keys.put(KEY)
    async with SqlWorkingMemory(url) as memory:
        await memory.merge("c-1", {"well": "Ä-7"}, tenant="acme")
    async with SqlApprovals(url, SEAL_KEY) as book:
        await book.open("a-1", REQUEST, DIGEST, FULL_STATE)
        await book.decide("a-1", CHANGED)


async def fill_with_skills(url: str) -> None:
    """Store the skills, with earlier versions, a second tenant, and a row that was written by hand."""
    async with SqlSource(url) as source:
        await source.publish(replace(FULL, description="Old."), {"references/rule.md": "old", "gone.md": "gone"})
        await source.publish(FULL, CONTENTS)
        await source.upsert([Entry({"id": "plain", "description": "x"}), Entry({"id": "removed", "description": "x"})])
        await source.remove("removed")
        await source.put_agents([AGENT])
        await source.for_tenant("acme").publish({"id": "plain", "description": "acme's"}, {"a.md": "acme"})
    engine = create_engine(url)
    with engine.begin() as connection:
        columns = "id, name, tier1_manifest, tier2_definition, domain_tags"
        manifest = '{"skill_id": "by-hand", "name": "By Hand", "description": "x", "triggers": [], "domain_tags": []}'
        connection.execute(
            text(f"INSERT INTO skills ({columns}) VALUES ('by-hand', 'By Hand', :manifest, :definition, NULL)"),
            {"manifest": manifest, "definition": '{"steps": ["go"]}'},
        )
    engine.dispose()


async def check(url: str) -> None:
    """Find all of it again, and go on using it."""
    async with SqlSource(url) as source:
        loaded = await source.load()
        assert loaded.diagnostics == ()
        by_hand, full, plain = loaded.skills
        assert (by_hand.id, by_hand.text.steps, plain.description) == ("by-hand", ("go",), "x")
        assert replace(full, artifacts=(), digest="", origin=None) == FULL
        assert {ref.id: await source.read(full, ref.id) for ref in full.artifacts} == {
            name: data if isinstance(data, bytes) else data.encode() for name, data in CONTENTS.items()
        }
        assert loaded.agents == {"clerk": AGENT}
        newest, old = await source.versions("full")
        assert newest.in_use
        assert [await source.read(old.skill, name) for name in ("references/rule.md", "gone.md")] == [b"old", b"gone"]
        assert [one.in_use for one in await source.versions("removed")] == [False]
        acme = source.for_tenant("acme")
        (theirs,) = (await acme.load()).skills
        assert (theirs.description, await acme.read(theirs, "a.md")) == ("acme's", b"acme")
        assert (await source.publish(FULL, CONTENTS)).change.value == "unchanged"
        assert (await source.roll_back("full", old.content_hash)).description == "Old."
        assert await source.roll_back("full", newest.content_hash) == full


async def check_graph(url: str, *, since: bool) -> None:
    """Find the entities again where the file is of a revision since they are kept, and go on using the graph."""
    async with SqlGraph(url) as graph:
        assert [piece async for piece in graph.export()] == ([HARBOUR, SHIP, BERTH] if since else [])
        await graph.put([SHIP, HARBOUR], [BERTH])
        assert await graph.entity("imo 9074729") == SHIP
        assert await graph.neighbours("ship") == (Neighbour(BERTH, HARBOUR),)
        assert [one.entity for one in (await graph.near(Point(54.1781, 7.8886, "WGS84"), 10)).found] == [HARBOUR]


async def check_service(url: str, *, since: bool) -> None:
    """Find what the service keeps where the file is of a revision since it is kept, and go on using it."""
    async with SqlKeys(url) as keys:
        assert list(await keys.list()) == ([KEY] if since else [])
        await keys.put(KEY)
        assert await keys.find(KEY.id) == KEY
    async with SqlWorkingMemory(url, clock=lambda: 0.0) as memory:  # of before its time was over
        assert await memory.read("c-1", tenant="acme") == ({"well": "Ä-7"} if since else {})
        assert await memory.merge("c-2", {"a": 1}) == {"a": 1}
    async with SqlApprovals(url, SEAL_KEY) as book:
        for case in await book.waiting("c-1"):
            assert (case.request, case.state, verdict_of(case)) == (
                REQUEST,
                FULL_STATE,
                replace(CHANGED, case=case.id, logged=case.logged),
            )
            await book.applied(case.id)
        await book.open("a-2", PLAIN, DIGEST, FULL_STATE)
        kinds = ["created", "decided", "applied"] if since else []
        assert [row.kind for row in await book.log()] == [*kinds, "created"]
        assert await book.verify() == ()


if __name__ == "__main__":
    asyncio.run(fill(f"sqlite:///{sys.argv[1]}"))
