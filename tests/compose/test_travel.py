"""What may be called travels: to another process by pickle, and as a copy of its own."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace

import pytest

from skillweave import Checkpoint, Ruling, SpawnRequest, ToolPolicy, ToolRules
from skillweave.compose.composition import ActiveSkill, HumanVerdicts, closed, limited, limits_of, policy_of
from skillweave.compose.spawn import prepare_spawn
from skillweave.tools import Parent, SpawnPlan, ToolOwners, ToolScope
from tests.related import snapshot
from tests.skills import make_skill

PAYER = replace(
    make_skill(
        "payer",
        tools=ToolRules(allowed=("Bash(git:*)", "pay"), forbidden=("rm",), preapproved=("pay",)),
        checkpoints=[Checkpoint("release", before="pay")],
    ),
    digest="d",
)
OWNERS = ToolOwners.among([("refund", "closing"), ("mcp__*", "closing"), ("shared", "closing")], ["shared", "web*"])
POLICY = policy_of(
    [ActiveSkill(PAYER, deliberate=True)],
    HumanVerdicts(frozenset({"d"}), rejected={"send": "Ada said no"}),
    grant=("Bash", "pay", "send"),
    argument_names={"Bash": "script"},
)
COPIES = [copy.deepcopy, copy.copy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.fixture(params=COPIES, ids=["deepcopy", "copy", "pickle"])
def copied(request: pytest.FixtureRequest) -> Callable[[object], object]:
    function: Callable[[object], object] = request.param
    return function


def test_a_policy_travels(copied: Callable[[ToolPolicy], ToolPolicy]) -> None:
    there = ToolScope(OWNERS, frozenset({"payer"}), "at `payer`")
    for policy in (POLICY, closed(POLICY, "the ledger is away"), ToolPolicy(elsewhere=there)):
        again = copied(policy)
        assert again == policy
        for tool in ("Bash", "pay", "send", "refund", "mcp__x", "mcp__web", "web_search", "read_skill"):
            assert again.authorize(tool, {"script": "git log"}) == policy.authorize(tool, {"script": "git log"})


def test_owners_know_their_patterns_again(copied: Callable[[ToolOwners], ToolOwners]) -> None:
    assert copied(OWNERS).of("mcp__files") == ("closing",)
    assert copied(OWNERS).of("web_search") == copied(OWNERS).of("shared") == ()


def test_limits_travel(copied: Callable[[object], object]) -> None:
    limits = limits_of(POLICY)
    assert copied(limits) == limits


def test_a_plan_travels_and_starts_the_same_turns(copied: Callable[[SpawnPlan], SpawnPlan]) -> None:
    parent = Parent("c", limited(ToolPolicy(asks={"send": ("review",)}), limits_of(POLICY)))
    plan = prepare_spawn(SpawnRequest("Pay it", ("payer",)), snapshot(PAYER), parent, spawn_id="s")
    assert isinstance(plan, SpawnPlan)
    again = copied(plan)
    assert (again, again.limits) == (plan, plan.limits)
    assert again.policy.authorize("pay").ruling is Ruling.ASK
