"""What a wanted skill forbids holds, whether or not there is room for its text or a place for it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

import skillweave
from skillweave import (
    Budget,
    CatalogMode,
    Checkpoint,
    Message,
    Placement,
    Role,
    Ruling,
    Settings,
    Skill,
    ToolPolicy,
    ToolRules,
    Turn,
    Weaver,
)
from skillweave.skills import CheckpointScope
from skillweave.state.codec import state_from_json, state_to_json
from skillweave.turns import Rung
from skillweave_testing import WordCounter
from tests.skills import make_skill

GUARD = make_skill(
    "guard-it",
    keywords=["invoice"],
    instructions="w " * 50,
    tools=ToolRules(allowed=("read",), forbidden=("shell",), preapproved=("read",)),
    checkpoints=[Checkpoint("release", before="pay")],
)
DECOYS = [make_skill(f"decoy-{n}", keywords=[f"decoy number {n}"], instructions="w " * 50) for n in range(3)]
CROWD = "decoy number 0, decoy number 1, decoy number 2 and the invoice"


def weaver_of(*skills: Skill, total: int = 5_000, max_skills: int = 3) -> Weaver:
    settings = Settings(Budget(total=total, per_skill=total), max_skills=max_skills, catalog=CatalogMode.NEVER)
    return skillweave.open(*skills, counter=WordCounter(), settings=settings)


def rulings(tools: ToolPolicy) -> Sequence[Ruling]:
    return [tools.authorize(name).ruling for name in ("shell", "pay", "read", "other")]


GUARDED = [Ruling.DENY, Ruling.ASK, Ruling.ALLOW, Ruling.ALLOW]
FREE = [Ruling.ALLOW] * 4


@pytest.mark.parametrize("placement", Placement)
async def test_a_skill_without_room_forbids_and_asks_and_permits_nothing(placement: Placement) -> None:
    weaver = weaver_of(GUARD, *DECOYS, total=140, max_skills=9)
    injection = await weaver.weave(CROWD, conversation="c", placement=placement)
    assert all(block.rung is Rung.CATALOG for block in injection.blocks if block.skill_id == "guard-it")
    assert rulings(injection.tools) == GUARDED
    assert [one.name for one in injection.checkpoints] == ["release"]
    assert rulings((await weaver.current_policy("c", placement=placement)).tools) == GUARDED


@pytest.mark.parametrize("placement", Placement)
async def test_a_skill_without_a_place_forbids_and_asks_now_and_afterwards(placement: Placement) -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    injection = await weaver.weave(CROWD, conversation="c", placement=placement)
    assert "guard-it" not in injection.skills
    later = await weaver.weave("go on", conversation="c", placement=placement)
    between = await weaver.current_policy("c", placement=placement)
    assert [rulings(one.tools) for one in (injection, later, between)] == [GUARDED] * 3


async def test_what_a_skill_without_a_place_needs_restrains_too() -> None:
    head = make_skill("guard-head", keywords=["invoice"], requires=["guard-it"])
    quiet = replace(GUARD, triggers=replace(GUARD.triggers, keywords=()))
    injection = await weaver_of(*DECOYS, head, quiet).weave(CROWD, conversation="c")
    assert rulings(injection.tools) == GUARDED


async def test_it_ends_when_the_skill_would_not_be_engaged_any_more() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    await weaver.weave(CROWD, conversation="c", placement=Placement.CALL)
    found = [rulings((await weaver.weave("go on", conversation="c", placement=Placement.CALL)).tools) for _ in range(4)]
    assert found == [GUARDED, GUARDED, GUARDED, FREE]


async def test_a_skill_that_gives_way_to_later_ones_restrains_as_long_as_it_would_stay() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    await weaver.weave("the invoice", conversation="c", placement=Placement.CALL)
    injection = await weaver.weave(CROWD.partition(" and ")[0], conversation="c", placement=Placement.CALL)
    assert "guard-it" not in injection.skills
    assert rulings(injection.tools) == GUARDED


async def test_a_skill_whose_text_leaves_to_make_room_restrains_on() -> None:
    weaver = weaver_of(*DECOYS, GUARD, total=150)
    await weaver.weave("the invoice", conversation="c")
    for message in ("hello", "and so on", "decoy number 0, please", "decoy number 1, please", "decoy number 2, please"):
        injection = await weaver.weave(message, conversation="c")
    assert "guard-it" not in injection.present
    assert rulings(injection.tools) == GUARDED


async def test_a_skill_that_the_host_disengages_restrains_no_more() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    await weaver.weave(CROWD, conversation="c")
    left = await weaver.ledger.disengage("c", "guard-it")
    assert left.disengaged
    assert rulings((await weaver.weave("go on", conversation="c")).tools) == FREE


async def test_a_skill_that_gets_its_place_later_is_engaged_and_permits() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    await weaver.weave(CROWD, conversation="c")
    injection = await weaver.weave("go on", conversation="c", named=["guard-it"])
    assert "guard-it" in injection.skills
    assert rulings(injection.tools) == [Ruling.DENY, Ruling.DENY, Ruling.ALLOW, Ruling.DENY]
    assert (await weaver.ledger.state("c")).restraining == ()


async def test_a_replay_finds_the_same_restraints() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    turn = Turn("t1", "c", Message(Role.USER, CROWD))
    first, second = await weaver.weave(turn), await weaver.weave(turn)
    assert first.tools == second.tools


async def test_what_restrains_is_stored_and_a_state_of_before_still_opens() -> None:
    weaver = weaver_of(*DECOYS, GUARD)
    await weaver.weave(CROWD, conversation="c")
    state = await weaver.ledger.state("c")
    assert [entry.skill_id for entry in state.restraining] == ["guard-it"]
    assert state_from_json(state_to_json(state)) == state
    old = state_to_json(replace(state, restraining=(), said=""))
    assert "restraining" not in old
    assert state_from_json(old).restraining == ()


@pytest.mark.parametrize("placement", Placement)
async def test_other_words_under_the_same_id_take_no_rule_away(placement: Placement) -> None:
    weaver = weaver_of(GUARD, *DECOYS)
    first = Turn("t1", "c", Message(Role.USER, "the invoice"), placement=placement)
    await weaver.weave(first)
    injection = await weaver.weave(replace(first, message=Message(Role.USER, "decoy number 0, please")))
    between = await weaver.current_policy("c", placement=placement)
    for tools in (injection.tools, between.tools):
        assert rulings(tools)[:2] == [Ruling.DENY, Ruling.ASK]


async def test_other_words_under_the_same_id_bring_their_own_rules_too() -> None:
    weaver = weaver_of(GUARD, *DECOYS)
    first = Turn("t1", "c", Message(Role.USER, "decoy number 0, please"))
    await weaver.weave(first)
    await weaver.weave(replace(first, message=Message(Role.USER, "the invoice")))
    assert rulings((await weaver.current_policy("c")).tools) == GUARDED


async def test_other_words_under_the_id_of_an_earlier_turn_take_no_rule_away() -> None:
    weaver = weaver_of(GUARD, *DECOYS)
    first = Turn("t1", "c", Message(Role.USER, "the invoice"))
    await weaver.weave(first)
    await weaver.weave("go on", conversation="c")
    await weaver.weave(replace(first, message=Message(Role.USER, "decoy number 0, please")))
    assert rulings((await weaver.current_policy("c")).tools) == GUARDED


async def test_other_words_under_the_same_id_do_not_give_a_text_again() -> None:
    weaver = weaver_of(GUARD, *DECOYS)
    first = Turn("t1", "c", Message(Role.USER, "the invoice"))
    await weaver.weave(first)
    injection = await weaver.weave(replace(first, message=Message(Role.USER, "decoy number 0, please")))
    assert injection.skills == ("decoy-0",)


async def test_a_person_can_let_through_what_a_skill_without_a_place_asks_about() -> None:
    checkpoint = Checkpoint("release", before="pay", scope=CheckpointScope.CONVERSATION)
    weaver = weaver_of(*DECOYS, replace(GUARD, checkpoints=(checkpoint,)))
    await weaver.weave(CROWD, conversation="c")
    await weaver.approvals.decide("c", "guard-it", "release", "approved", by="Ann")
    assert rulings((await weaver.current_policy("c")).tools) == [Ruling.DENY, *[Ruling.ALLOW] * 3]
