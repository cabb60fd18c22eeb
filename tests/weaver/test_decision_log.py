"""What is logged of a turn is what is new in it; with what was logged before it says everything that was decided."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from skillweave import Budget, CatalogMode, Decision, Injection, MemoryStore, Outcome, Settings, Weaver
from skillweave.state.port import Logged
from skillweave.weaver.engine import DecisionDeduplicator
from tests.observing import weaver_of
from tests.skills import make_skill

SKILLS = [make_skill(f"skill-{n}", keywords=[f"word{n}"], requires=["needed"] if n == 0 else []) for n in range(4)]
NEEDED = make_skill("needed", instructions="Long. " * 40)
TIGHT = Settings(catalog=CatalogMode.NEVER, budget=Budget(total=120, per_skill=100))


def _weavers(store: MemoryStore) -> tuple[Weaver, Weaver]:
    one, other = (weaver_of(*SKILLS, NEEDED, store=store, settings=TIGHT, matchers=("triggers",)) for _ in range(2))
    return one, other


_MESSAGES = st.lists(st.sampled_from([f"word{n}" for n in range(4)]) | st.just("else"), max_size=2).map(" ".join)


@given(turns=st.lists(st.tuples(st.integers(0, 1), _MESSAGES), max_size=10))
def test_the_latest_that_was_logged_of_a_skill_is_what_was_decided_in_the_turn(turns: list[tuple[int, str]]) -> None:
    store = MemoryStore()
    weavers = _weavers(store)

    async def play() -> tuple[list[Injection], tuple[Logged, ...]]:
        found = [await weavers[at].weave(text, conversation="c", turn_id=f"t{n}") for n, (at, text) in enumerate(turns)]
        return found, await store.read("c")

    injections, log = asyncio.run(play())
    for number, injection in enumerate(injections):
        until = [entry for entry in log if int(entry.turn_id[1:]) <= number]
        for skill_id in {decision.skill_id for decision in injection.decisions}:
            own = [entry for entry in until if entry.decision.skill_id == skill_id]
            latest = [entry.decision for entry in own if entry.turn_id == own[-1].turn_id]
            assert latest == [decision for decision in injection.decisions if decision.skill_id == skill_id]


async def test_skills_that_only_stay_are_not_logged_in_every_turn() -> None:
    many = [make_skill(f"skill-{n}", keywords=[f"word{n}"]) for n in range(30)]
    settings = Settings(catalog=CatalogMode.NEVER, max_skills=30)
    weaver = weaver_of(*many, settings=settings, matchers=("triggers",))
    await weaver.weave(" ".join(f"word{n}" for n in range(30)), conversation="c", turn_id="t0")
    for turn in range(1, 20):
        injection = await weaver.weave("go on", conversation="c", turn_id=f"t{turn}")
        assert len(injection.decisions) == 30
    told = [(entry.turn_id, entry.decision.outcome) for entry in await weaver.why("c")]
    assert told == [("t0", Outcome.INJECTED)] * 30 + [("t1", Outcome.ALREADY_PRESENT)] * 30


async def test_what_a_message_matched_is_logged_although_it_stands_as_before() -> None:
    weaver, _ = _weavers(MemoryStore())
    for turn in range(3):
        await weaver.weave("word1", conversation="c", turn_id=f"t{turn}")
    assert [entry.turn_id for entry in await weaver.why("c")] == ["t0", "t1", "t2"]


def test_only_so_many_conversations_are_remembered() -> None:
    log, stays = DecisionDeduplicator(remember=2), (Decision("a", Outcome.ALREADY_PRESENT, "disclose", "there"),)
    for conversation in ("c1", "c2", "c3"):
        log.logged("", conversation, 1, stays)
    assert [log.new_in("", one, 1, stays) for one in ("c1", "c2", "c3")] == [stays, (), ()]
