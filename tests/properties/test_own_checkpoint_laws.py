"""Verdicts in a sub-agent's conversation end the questions of its own skills, and nobody else's (spec 4.4)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from hypothesis import given
from hypothesis import strategies as st

from skillweave import (
    ApprovalVerdict,
    Budget,
    Checkpoint,
    MemoryStore,
    Placement,
    Registry,
    Ruling,
    Settings,
    Skill,
    SpawnRequest,
    ToolPolicy,
    ToolRules,
    Weaver,
)
from skillweave.compose.composition import limited
from skillweave.compose.spawn import prepare_spawn
from skillweave.skills import CheckpointScope
from skillweave.sources import InCode
from skillweave.tools import Parent, SpawnPlan, ToolLimits
from skillweave_testing import WordCounter
from tests.depth import tried
from tests.properties.test_limits_laws import ARGUMENTS, NAMES, PATTERNS, POLICIES, RULES, WIDTH, Arguments
from tests.related import snapshot
from tests.skills import make_skill

Call: TypeAlias = tuple[str, Arguments]

CALLS = st.lists(st.tuples(NAMES.filter(lambda name: name != "read_skill"), ARGUMENTS), min_size=1, max_size=6)
CHECKPOINTS = st.lists(
    st.builds(
        Checkpoint,
        st.sampled_from(["review", "release"]),
        before=st.none() | NAMES | PATTERNS,
        blocking=st.sampled_from([True, True, False]),
        scope=st.just(CheckpointScope.CONVERSATION),
    ),
    max_size=2,
    unique_by=lambda checkpoint: checkpoint.name,
).map(tuple)
PLACEMENTS = st.sampled_from(list(Placement))
LAWS = tried(33)
THROUGH_THE_LEDGER = tried(20)


ALIKE = st.sampled_from(["write", "Bash(git:*)"]).map(
    lambda before: (Checkpoint("release", before=before, scope=CheckpointScope.CONVERSATION),)
)
"""Skills of strangers ask under the same name before the same tools."""
BODIES = st.sampled_from(["Short.", "long " * 300])


def skills(
    least: int,
    rules: st.SearchStrategy[ToolRules | None] = RULES,
    checkpoints: st.SearchStrategy[tuple[Checkpoint, ...]] = CHECKPOINTS,
) -> st.SearchStrategy[list[Skill]]:
    return st.lists(st.tuples(rules, checkpoints, BODIES), min_size=least, max_size=3).map(
        lambda drawn: [
            make_skill(f"s{number}", tools=tools, checkpoints=points, instructions=body)
            for number, (tools, points, body) in enumerate(drawn)
        ]
    )


@LAWS
@given(POLICIES, st.lists(skills(0), min_size=2, max_size=2), CALLS)
def test_with_every_question_of_its_own_skills_answered_it_still_gets_no_more_than_any_above_it(
    root: ToolPolicy, generations: list[list[Skill]], calls: list[Call]
) -> None:
    parent, above = Parent("c", root), [root]
    for members in generations:
        plan = _plan(members, parent)
        freed = limited(ToolPolicy(), replace(plan.limits, own_asks={}))
        for tool, arguments in calls:
            assert all(_width(freed, tool, arguments) <= _width(other, tool, arguments) for other in above)
            asked = parent.policy.authorize(tool, arguments).checkpoints
            verdict = freed.authorize(tool, arguments)
            assert verdict.ruling is Ruling.DENY or set(asked) <= set(verdict.checkpoints)
        above.append(plan.policy)
        parent = plan.as_parent()


@LAWS
@given(POLICIES, skills(0))
def test_each_checkpoint_of_a_plan_is_its_parents_or_its_own_and_none_is_lost(
    root: ToolPolicy, members: list[Skill]
) -> None:
    plan = _plan(members, Parent("c", root))
    theirs, own = _pairs(plan.limits.asks), _pairs(plan.limits.own_asks)
    assert theirs == _pairs(root.asks)
    assert theirs | own == _pairs(plan.policy.asks)
    assert not theirs & own
    assert ToolLimits.from_dict(plan.limits.to_dict()) == plan.limits


@THROUGH_THE_LEDGER
@given(
    POLICIES,
    skills(2),
    PLACEMENTS,
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from(list(ApprovalVerdict))), max_size=5),
    CALLS,
)
def test_no_verdicts_in_its_conversation_give_it_more_than_its_parent(
    root: ToolPolicy,
    members: list[Skill],
    placement: Placement,
    verdicts: list[tuple[int, int, ApprovalVerdict]],
    calls: list[Call],
) -> None:
    decided = {
        (skill.id, skill.checkpoints[place].name): verdict
        for number, place, verdict in verdicts
        if number < len(members) and place < len((skill := members[number]).checkpoints)
    }
    policy = asyncio.run(_after(root, members, placement, decided))
    for tool, arguments in calls:
        assert _width(policy, tool, arguments) <= _width(root, tool, arguments)


@THROUGH_THE_LEDGER
@given(skills(2, st.none(), ALIKE), PLACEMENTS, st.sets(st.integers(0, 2)))
def test_a_verdict_on_one_skill_answers_for_no_other(
    members: list[Skill], placement: Placement, approved: set[int]
) -> None:
    decided = {(f"s{number}", "release"): ApprovalVerdict.APPROVED for number in approved if number < len(members)}
    policy = asyncio.run(_after(ToolPolicy(), members, placement, decided))
    for number, skill in enumerate(members[:-1]):
        if number not in approved:
            tool = "write" if skill.checkpoints[0].before == "write" else "Bash"
            assert policy.authorize(tool, {"command": "git push"}).ruling is Ruling.ASK


async def _after(
    root: ToolPolicy,
    members: Sequence[Skill],
    placement: Placement,
    decided: dict[tuple[str, str], ApprovalVerdict],
) -> ToolPolicy:
    """What a sub-agent may do when persons have decided so. The last skill is not of its plan: its model loads it.

    Not all skills fit into the budget.
    """
    *planned, loaded = members
    weaver = Weaver(
        Registry([InCode(*members)]),
        MemoryStore(),
        Settings(budget=Budget(total=200)),
        counter=WordCounter(),
    )
    request = SpawnRequest("Do it", tuple(skill.id for skill in planned))
    plan = await weaver.composition.prepare_spawn(request, parent=Parent("c", root))
    assert isinstance(plan, SpawnPlan)
    await weaver.weave(replace(plan.turn("Begin", "t1"), placement=placement))
    await weaver.tools.read_skill(loaded.id, conversation=plan.conversation, limits=plan.limits, placement=placement)
    for (skill_id, checkpoint), verdict in decided.items():
        await weaver.approvals.decide(plan.conversation, skill_id, checkpoint, verdict, by="Kim")
    return (await weaver.current_policy(plan.conversation, limits=plan.limits, placement=placement)).tools


def _plan(members: Sequence[Skill], parent: Parent) -> SpawnPlan:
    request = SpawnRequest("Do it", tuple(skill.id for skill in members))
    plan = prepare_spawn(request, snapshot(*members), parent, spawn_id="s")
    assert isinstance(plan, SpawnPlan)
    return plan


def _pairs(asks: object) -> set[tuple[str, str]]:
    assert hasattr(asks, "items")
    return {(tool, name) for tool, names in asks.items() for name in names}


def _width(policy: ToolPolicy, tool: str, arguments: Arguments) -> int:
    return WIDTH[policy.authorize(tool, arguments).ruling]
