"""A skill graph while the ledger does not answer: nobody knows where the conversation is (spec 5.4)."""

import pytest

from skillweave import (
    MemoryStore,
    Registry,
    Role,
    State,
    StoreUnavailable,
    ToolResult,
    ToolRules,
    Weaver,
    WhenUnknown,
)
from skillweave.graph import By, Entry, Route
from skillweave.ledger import Writes
from skillweave_testing import Recorder, WordCounter
from tests.graphs import graph_of, on
from tests.skills import make_skill

GRAPH = graph_of(
    "triage",
    "refund",
    "closing",
    entries=[Entry("triage", on("charged"))],
    routes=[Route("triage", "refund", on_tool="lookup"), Route("refund", "closing", on_tool="lookup")],
)
RESULTS = (ToolResult("lookup", "{}"),)


class _Failing(MemoryStore):
    """A store that can be read and written until somebody says otherwise."""

    reads = writes = True

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        if not self.reads:
            raise StoreUnavailable("away")
        return await super().load(conversation, tenant=tenant)

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        if not self.writes:
            raise StoreUnavailable("away")
        return await super().swap(conversation, expected_revision, writes, tenant=tenant)


def at_refund(recorder: Recorder | None = None, unknown: WhenUnknown = WhenUnknown.DENY) -> tuple[Weaver, _Failing]:
    registry = Registry()
    for skill_id, tool in (("triage", "lookup"), ("refund", "pay"), ("closing", "close")):
        registry.register(make_skill(skill_id, tools=ToolRules(allowed=(tool,))))
    store, observers = _Failing(), [recorder] if recorder else []
    weaver = Weaver(registry, store, graph=GRAPH, counter=WordCounter(), when_unknown=unknown, observers=observers)
    weaver.sync.weave("charged", conversation="c")
    weaver.sync.weave("", conversation="c", role=Role.TOOL, results=RESULTS)
    return weaver, store


def test_a_host_that_allows_what_is_unknown_is_denied_no_tool_for_a_place_that_nobody_knows() -> None:
    weaver, store = at_refund(unknown=WhenUnknown.ALLOW)
    store.reads = False
    assert weaver.sync.current_policy("c").tools.offers(["pay", "close"]) == ("pay", "close")


def test_the_tool_rules_of_a_conversation_that_was_read_hold() -> None:
    weaver, store = at_refund()
    store.writes = False
    assert weaver.sync.weave("charged", conversation="c").tools.offers(["pay", "close"]) == ("pay",)


@pytest.mark.parametrize("reads", [True, False])
def test_what_cannot_be_recorded_moves_nowhere(reads: bool) -> None:
    recorder = Recorder()
    weaver, store = at_refund(recorder)
    before = [event for event in recorder.events if event.event_type == "cursor.moved"]
    store.reads, store.writes = reads, False
    injection = weaver.sync.weave("charged", conversation="c", results=RESULTS)
    assert injection.move is not None
    assert (injection.move.by, injection.skills) == (By.STAY if reads else By.NONE, ())
    assert [event for event in recorder.events if event.event_type == "cursor.moved"] == before


def test_the_tools_of_the_place_that_was_read_stay() -> None:
    weaver, store = at_refund()
    store.writes = False
    injection = weaver.sync.weave("x", conversation="c", results=RESULTS)
    assert injection.tools.offers(["pay", "close"]) == ("pay",)
