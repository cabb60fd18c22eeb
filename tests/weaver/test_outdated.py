"""Texts that were given, evicted and given again: what a host has to take out, and how much is kept about it."""

from skillweave import Budget, CatalogMode, Injection, Outcome, Settings, Weaver
from skillweave.turn.make_room import MOST_OUTDATED
from tests.observing import weaver_of
from tests.skills import make_skill

SKILL = make_skill("some-skill", keywords=["go"], instructions="word " * 200)
SMALL = make_skill("small-skill", keywords=["go"], instructions="word")
ROOM_FOR_FOUR = Settings(catalog=CatalogMode.NEVER, budget=Budget(total=1000, per_skill=400))


async def _given_again(weaver: Weaver, times: int, skill_id: str, *, append_only: bool = False) -> list[Injection]:
    """The turns of a host without a transcript, after each of which the text is evicted."""
    found = []
    for number in range(times):
        turn = await weaver.weave("go", conversation="c", turn_id=f"t{number}", append_only=append_only)
        found.append(turn)
        await weaver.evict("c", skill_id)
    return found


async def test_all_outdated_texts_are_named_at_once_when_room_is_needed() -> None:
    turns = await _given_again(weaver_of(SKILL, settings=ROOM_FOR_FOUR), 9, "some-skill")
    assert [injection.skills for injection in turns] == [("some-skill",)] * 9
    given = [injection.messages[0].id for injection in turns]
    dropped = [[drop.message_id for drop in injection.drop] for injection in turns]
    assert dropped == [[], [], [], [], given[:4], [], [], [], given[4:8]]


async def test_what_is_kept_of_outdated_texts_does_not_grow_with_the_conversation() -> None:
    weaver = weaver_of(SMALL, settings=Settings(catalog=CatalogMode.NEVER))
    turns = await _given_again(weaver, 3 * MOST_OUTDATED, "small-skill")
    assert all(injection.skills == ("small-skill",) for injection in turns)
    assert max(len(injection.drop) for injection in turns) == MOST_OUTDATED + 1
    assert len((await weaver.ledger.state("c")).superseded) <= MOST_OUTDATED + 1


async def test_a_host_that_can_take_nothing_out_is_not_asked_to() -> None:
    turns = await _given_again(weaver_of(SKILL, settings=ROOM_FOR_FOUR), 6, "some-skill", append_only=True)
    assert all(injection.drop == () for injection in turns)
    assert turns[-1].decisions[0].outcome is Outcome.OVER_BUDGET
