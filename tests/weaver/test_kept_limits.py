"""A sub-agent is held to the limits in its State, whoever runs its turns and whatever these send (spec 4.4)."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Checkpoint, MemoryStore, Registry, Ruling, SpawnRequest, ToolPolicy, ToolRules, Weaver
from skillweave.compose.composition import limited, narrower
from skillweave.errors import InvalidSpawn, StoreUnavailable
from skillweave.limits import ToolLimits
from skillweave.skills import CheckpointScope
from skillweave.sources import InCode
from skillweave.state.codec import state_from_json, state_to_json
from skillweave.state.state import State, clear
from skillweave.tools import Parent, SpawnPlan
from skillweave_testing import FailingStore, WordCounter
from tests.skills import make_skill

READER = make_skill("reader", keywords=["read"], tools=ToolRules(("read",)))
CAREFUL = make_skill("careful", keywords=["careful"], tools=ToolRules(None, forbidden=("Bash(rm:*)", "pay")))
PAYER = make_skill("payer", checkpoints=[Checkpoint("release", before="pay", scope=CheckpointScope.CONVERSATION)])
RM = {"command": "rm x", "note": "harmless"}


def weaver_of(store: object = None) -> Weaver:
    return Weaver(Registry([InCode(READER, CAREFUL, PAYER)]), store or MemoryStore(), counter=WordCounter())  # type: ignore[arg-type]


async def spawned(weaver: Weaver, **options: object) -> SpawnPlan:
    options.setdefault("parent", await weaver.weave("be careful", conversation="c"))
    plan = await weaver.composition.prepare_spawn(SpawnRequest("Do it"), spawn_id="s", **options)  # type: ignore[arg-type]
    assert isinstance(plan, SpawnPlan), plan
    return plan


async def ruling(weaver: Weaver, tool: str, arguments: dict[str, object], limits: ToolLimits | None = None) -> Ruling:
    now = await weaver.current_policy("c/s", limits=limits)
    return (await weaver.authorize(now, tool, arguments, call_id="1", limits=limits)).ruling


async def test_a_turn_without_limits_is_held_to_those_of_the_plan_in_another_process() -> None:
    store = MemoryStore()
    await spawned(weaver_of(store))
    other = weaver_of(store)
    injection = await other.weave("Begin", conversation="c/s")
    assert injection.tools.offers(["pay", "read"]) == ("read",)
    assert injection.tools.authorize("Bash", RM).ruling is Ruling.DENY
    assert await ruling(other, "pay", {}) is await ruling(other, "Bash", RM) is Ruling.DENY
    assert await ruling(other, "Bash", {"command": "ls"}) is Ruling.ALLOW


async def test_limits_that_are_sent_only_narrow() -> None:
    weaver = weaver_of()
    await spawned(weaver)
    assert await ruling(weaver, "pay", {}, ToolLimits()) is Ruling.DENY
    assert await ruling(weaver, "write", {}, ToolLimits()) is Ruling.ALLOW
    assert await ruling(weaver, "write", {}, ToolLimits(("read",))) is Ruling.DENY


async def test_an_argument_name_that_is_sent_moves_no_kept_pattern_to_another_argument() -> None:
    weaver = weaver_of()
    await spawned(weaver)
    assert await ruling(weaver, "Bash", RM, ToolLimits(argument_names={"Bash": "note"})) is Ruling.DENY


async def test_a_parents_checkpoint_asks_in_a_turn_that_sends_it_as_its_own() -> None:
    weaver = weaver_of()
    asking = Parent("c", ToolPolicy(asks={"pay": ("release",)}))
    plan = await spawned(weaver, parent=asking)
    sent = replace(plan.limits, asks={}, own_asks=plan.limits.asks)
    assert await ruling(weaver, "pay", {}) is await ruling(weaver, "pay", {}, sent) is Ruling.ASK


async def test_what_a_sub_agent_spawns_is_held_to_its_state_by_its_id_and_by_a_forged_plan() -> None:
    weaver = weaver_of()
    plan = await spawned(weaver)
    forged = replace(plan, policy=ToolPolicy())
    for parent in ("c/s", forged):
        below = await weaver.composition.prepare_spawn(SpawnRequest("More"), parent=parent)
        assert isinstance(below, SpawnPlan)
        assert below.policy.authorize("Bash", RM).ruling is below.policy.authorize("pay").ruling is Ruling.DENY


async def test_a_sub_agent_whose_state_knows_no_limits_spawns_nothing_by_its_id() -> None:
    with pytest.raises(InvalidSpawn, match="whose limits are not in the ledger"):
        await weaver_of().composition.prepare_spawn(SpawnRequest("More"), parent="c/unknown")


async def test_a_plan_made_again_has_the_limits_of_the_latest() -> None:
    weaver = weaver_of()
    await spawned(weaver)
    plan = await spawned(weaver, parent=Parent("c", ToolPolicy(forbidden_tools=("write",))))
    assert (await weaver.ledger.state("c/s")).limits == plan.limits
    assert await ruling(weaver, "write", {}) is Ruling.DENY


async def test_a_plan_whose_limits_cannot_be_kept_is_none() -> None:
    store = FailingStore(MemoryStore())
    store.down.add("swap")
    with pytest.raises(StoreUnavailable):
        await weaver_of(store).composition.prepare_spawn(SpawnRequest("Do it"))


async def test_a_plan_costs_one_write_and_the_same_plan_again_none() -> None:
    weaver = weaver_of()
    parent = Parent("c", ToolPolicy(forbidden_tools=("pay",)))
    for _ in range(2):
        await spawned(weaver, parent=parent)
        assert (await weaver.ledger.state("c/s")).revision == 1


async def test_a_conversation_that_is_cleared_keeps_its_limits() -> None:
    weaver = weaver_of()
    plan = await spawned(weaver)
    await weaver.weave("read this", conversation="c/s")
    assert await weaver.ledger.clear("c/s")
    state = await weaver.ledger.state("c/s")
    assert state == clear(state) == State(revision=state.revision, limits=plan.limits)


def test_a_state_of_before_opens_and_one_without_limits_says_nothing_of_them() -> None:
    text = state_to_json(State(revision=3))
    assert "limits" not in json.loads(text)
    assert state_from_json(text) == State(revision=3)
    held = State(revision=4, limits=ToolLimits(("read",), ("pay",), {"read": ("release",)}, closed_skills=("x",)))
    assert state_from_json(state_to_json(held)) == held


def test_limits_that_are_damaged_are_no_state() -> None:
    data = json.loads(state_to_json(State(limits=ToolLimits(("read",)))))
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        state_from_json(json.dumps({**data, "limits": {"allowed": "read"}}))


_ENTRIES = st.lists(
    st.sampled_from(("Bash", "Bash(git:*)", "Bash(git push:*)", "Bash(rm:*)", "read", "pay")), max_size=4
)
_NAMED = st.dictionaries(st.sampled_from(("Bash", "read")), st.sampled_from(("command", "note")), max_size=2)
_LIMITS = st.builds(
    ToolLimits,
    allowed=st.none() | _ENTRIES.map(tuple),
    forbidden=_ENTRIES.map(tuple),
    asks=st.dictionaries(st.sampled_from(("Bash", "pay")), st.just(("release",)), max_size=2),
    argument_names=_NAMED,
)
_CALLS = [(tool, {"command": text, "note": text}) for tool in ("Bash", "read", "pay") for text in ("git push", "rm x")]
_CALLS += [("Bash", {"command": "rm x", "note": "git status"}), ("Bash", {"command": "git status", "note": "rm x"})]
_STRICT = {Ruling.ALLOW: 0, Ruling.ASK: 1, Ruling.DENY: 2}


@given(kept=_LIMITS, sent=_LIMITS)
def test_whatever_is_sent_no_call_is_judged_milder_than_by_what_is_kept(kept: ToolLimits, sent: ToolLimits) -> None:
    both, alone = limited(ToolPolicy(), narrower(kept, sent)), limited(ToolPolicy(), kept)
    for tool, arguments in _CALLS:
        assert _STRICT[both.authorize(tool, arguments).ruling] >= _STRICT[alone.authorize(tool, arguments).ruling]
