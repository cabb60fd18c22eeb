"""The hash of given skills, which other programs read and write."""

from collections.abc import AsyncIterator, Iterator

import pytest
from redis import Redis

import skillweave
from skillweave import CatalogMode, Event, Message, Outcome, Registry, Role, Settings, State, Turn, Weaver
from skillweave.events import Callback
from skillweave.ledger import Writes
from skillweave.state.sharing import given_keys
from skillweave.state.state import CLAIM_SECONDS
from skillweave_stores import RedisStore
from skillweave_testing import ManualClock, WordCounter

HASH = "skill:ledger:conv-001"
SPACING, OFFSET = "skill:spacing-calculation", "skill:offset-well-analysis"
SKILLS = [
    {
        "id": skill_id,
        "description": "d",
        "text": {"instructions": f"How to do {skill_id}."},
        "artifacts": [{"id": "a.md", "content": "A document."}] if skill_id == "spacing-calculation" else [],
    }
    for skill_id in ("spacing-calculation", "offset-well-analysis")
]


@pytest.fixture
def other(redis_url: str) -> Iterator[Redis]:
    """Another program on the same Redis."""
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def weaver(redis_url: str, clock: ManualClock) -> AsyncIterator[Weaver]:
    registry = Registry()
    for skill in SKILLS:
        registry.register(skill)
    async with RedisStore(redis_url, clock=clock) as store:
        yield Weaver(registry, store, Settings(catalog=CatalogMode.NEVER), counter=WordCounter())


async def turn(weaver: Weaver, name: str = "spacing-calculation") -> tuple[str, ...]:
    return (await weaver.weave("go", conversation="conv-001", named=[name])).skills


async def test_what_is_given_stands_there_as_other_programs_expect_it(weaver: Weaver, other: Redis) -> None:
    await turn(weaver)
    await turn(weaver, "offset-well-analysis")
    assert other.hgetall(HASH) == {SPACING: "injected", OFFSET: "injected"}


async def test_what_is_only_claimed_does_not_stand_there(weaver: Weaver, other: Redis) -> None:
    async with weaver.delivery("go", conversation="conv-001", named=["spacing-calculation"]):
        assert other.hgetall(HASH) == {}
    assert other.hgetall(HASH) == {SPACING: "injected"}


async def test_a_skill_that_another_program_gave_is_not_given_again(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    injection = await weaver.weave("go", conversation="conv-001", named=["spacing-calculation"])
    assert (injection.skills, injection.messages) == ((), ())
    (decision,) = injection.decisions
    assert decision.outcome is Outcome.ALREADY_PRESENT
    assert decision.reason.endswith("another program entered it as given, in words that nobody recorded")
    assert "spacing-calculation" in injection.present


async def test_it_is_not_given_again_when_its_text_changes_either(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    assert await turn(weaver) == ()
    weaver.skills.registry.register({**SKILLS[0], "text": {"instructions": "Another way."}})
    assert await turn(weaver) == ()


async def test_it_is_given_when_the_transcript_does_not_show_it(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    message = Message(Role.USER, "go")
    told = Turn("t", "conv-001", message, transcript=(message,), named=("spacing-calculation",))
    assert (await weaver.weave(told)).skills == ("spacing-calculation",)


async def test_what_the_transcript_does_not_show_leaves_the_hash_too(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    message = Message(Role.USER, "go")
    await weaver.weave(Turn("t", "conv-001", message, transcript=(message,), named=("offset-well-analysis",)))
    assert other.hgetall(HASH) == {OFFSET: "injected"}


async def test_a_value_of_another_kind_counts_as_given_too_and_stays(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "yes")
    assert await turn(weaver) == ()
    await turn(weaver, "offset-well-analysis")
    assert other.hgetall(HASH) == {SPACING: "yes", OFFSET: "injected"}


async def test_a_skill_that_another_program_removes_is_given_again(weaver: Weaver, other: Redis) -> None:
    await turn(weaver)
    other.hdel(HASH, SPACING)
    assert await turn(weaver) == ("spacing-calculation",)
    assert other.hgetall(HASH) == {SPACING: "injected"}
    assert await turn(weaver) == ()


async def test_all_are_given_again_where_the_hash_is_deleted(weaver: Weaver, other: Redis) -> None:
    await turn(weaver)
    await turn(weaver, "offset-well-analysis")
    other.delete(HASH)
    # An engaged skill comes back without being named.
    assert set(await turn(weaver)) == {"spacing-calculation", "offset-well-analysis"}


async def test_a_skill_that_is_removed_and_entered_again_counts_as_given(weaver: Weaver, other: Redis) -> None:
    await turn(weaver)
    other.hdel(HASH, SPACING)
    await weaver.ledger.state("conv-001")
    other.hset(HASH, SPACING, "injected")
    assert await turn(weaver) == ()


async def test_an_edit_is_a_revision_so_that_a_turn_that_did_not_see_it_runs_again(
    weaver: Weaver, other: Redis
) -> None:
    await turn(weaver)
    before, _ = await weaver.ledger.store.load("conv-001")
    other.hdel(HASH, SPACING)
    seen, _ = await weaver.ledger.store.load("conv-001")
    assert seen.revision == before.revision + 1
    assert not await weaver.ledger.store.swap("conv-001", before.revision, Writes(before))
    assert (await weaver.ledger.store.load("conv-001"))[0] == seen


@pytest.mark.parametrize("gone", [SPACING, OFFSET])
async def test_an_edit_between_a_load_and_its_swap_is_seen_by_the_next_load(
    weaver: Weaver, other: Redis, gone: str
) -> None:
    await turn(weaver)
    await turn(weaver, "offset-well-analysis")
    before, _ = await weaver.ledger.store.load("conv-001")
    other.hdel(HASH, gone)
    other.hset(HASH, "skill:third", "injected")
    assert await weaver.ledger.store.swap("conv-001", before.revision, Writes(State(records=before.records)))
    state, _ = await weaver.ledger.store.load("conv-001")
    assert given_keys(state) == ({SPACING, OFFSET} - {gone}) | {"skill:third"}


async def test_no_write_of_ours_is_taken_for_one_of_another_program(
    weaver: Weaver, other: Redis, clock: ManualClock
) -> None:
    async def revision() -> int:
        (state, _), (again, _) = await weaver.ledger.store.load("conv-001"), await weaver.ledger.store.load("conv-001")
        assert state == again
        return state.revision

    await turn(weaver)
    assert await revision() == 1
    delivery = weaver.delivery("go", conversation="conv-001", named=["offset-well-analysis"])
    await delivery.__aenter__()
    assert await revision() == 2
    clock.advance(CLAIM_SECONDS + 1)  # the claim is over, and nobody wrote since
    assert await revision() == 2
    await turn(weaver, "offset-well-analysis")
    assert await revision() == 3
    await weaver.evict("conv-001", "spacing-calculation")
    assert await revision() == 4
    await weaver.ledger.clear("conv-001")
    assert await revision() == 5
    await delivery.__aexit__(None, None, None)
    assert await revision() == 5
    assert not other.exists(HASH)
    assert (await weaver.ledger.state("conv-001")) == State(revision=5)


async def test_what_we_evict_of_another_programs_skills_is_gone_for_it_too(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    assert await weaver.evict("conv-001", "spacing-calculation")
    assert not other.exists(HASH)
    assert await turn(weaver) == ("spacing-calculation",)


async def test_observers_are_told_when_we_evict_what_another_program_gave(
    redis_url: str, other: Redis, clock: ManualClock
) -> None:
    events: list[Event] = []
    other.hset(HASH, SPACING, "injected")
    async with RedisStore(redis_url, clock=clock) as store:
        weaver = skillweave.open(*SKILLS, ledger=store, counter=WordCounter(), observers=[Callback(events.append)])
        await weaver.evict("conv-001", "spacing-calculation")
    assert [one.event_type for one in events] == ["skill.evicted"]


async def test_clearing_forgets_what_other_programs_entered(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, mapping={SPACING: "injected", "skill:elsewhere": "injected"})
    assert await weaver.ledger.clear("conv-001")
    assert not other.exists(HASH)


async def test_unloading_a_skill_that_another_program_gave_asks_to_drop_nothing(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, SPACING, "injected")
    left = await weaver.ledger.unload("conv-001", "spacing-calculation")
    assert (left.evicted, left.drops) == ((SPACING,), ())


async def test_a_skill_that_no_registry_has_is_kept_as_given(weaver: Weaver, other: Redis) -> None:
    other.hset(HASH, "skill:of-another-team", "injected")
    await turn(weaver)
    assert other.hgetall(HASH) == {"skill:of-another-team": "injected", SPACING: "injected"}
    assert "skill:of-another-team" in {one.key for one in (await weaver.ledger.state("conv-001")).records}


@pytest.mark.parametrize("field", ["context:well-1:status", "artifact:a", "skill:", "skill:two words", "skill:ü", "x"])
async def test_what_is_no_skill_is_left_alone(weaver: Weaver, other: Redis, field: str) -> None:
    other.hset(HASH, field, "injected")
    await turn(weaver)
    await weaver.ledger.clear("conv-001")
    assert other.hgetall(HASH) == {field: "injected"}


async def test_the_hash_of_another_tenant_has_its_name_in_its_key(
    redis_url: str, other: Redis, clock: ManualClock
) -> None:
    registry = Registry()
    registry.register(SKILLS[0])
    async with RedisStore(redis_url, clock=clock) as store:
        weaver = Weaver(registry, store, Settings(catalog=CatalogMode.NEVER), counter=WordCounter())
        await turn(weaver.variant(tenant="a:b/c"))
        await turn(weaver.variant(tenant="default"))
    assert {key for key in other.scan_iter() if key.startswith("skill:")} == {HASH, "skill:ledger:a%3Ab%2Fc:conv-001"}
