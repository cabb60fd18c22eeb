import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from skillweave import Budget, Checkpoint, Event, MemoryStore, Message, Placement, Role, Settings
from skillweave.events import CheckpointPending, SkillInjected, SkillRefreshed, TurnDecided
from skillweave.events.payloads import Given
from skillweave.weaver import contention
from skillweave_testing import FailingStore, KnownContext, Recorder
from tests.observing import watched, weaver_of
from tests.skills import make_skill

GREET = replace(make_skill("greet-people", keywords=["hello"]), version="1.2.0")
BLOCKING = Checkpoint("pre_filing", reviewer="a landman", asks="May it go out?")
FILING = make_skill("file-form", keywords=["file"], checkpoints=[BLOCKING, Checkpoint("alert", blocking=False)])
TURN = ["turn.decided", "skill.injected"]


def decided(event: Event) -> TurnDecided:
    assert isinstance(event.payload, TurnDecided)
    return event.payload


def given(event: Event) -> Given:
    assert isinstance(event.payload, Given)
    return event.payload


def pending(recorder: Recorder) -> list[tuple[str | None, str]]:
    events = recorder.of("checkpoint.pending")
    return [
        (event.turn_id, event.payload.checkpoint) for event in events if isinstance(event.payload, CheckpointPending)
    ]


async def test_a_turn_is_told_with_each_text_that_it_gives() -> None:
    weaver, recorder = watched(GREET)
    injection = await weaver.weave("hello", conversation="c", turn_id="t")
    turn, text = recorder.events
    assert (turn.event_type, turn.conversation, turn.turn_id) == ("turn.decided", "c", "t")
    assert decided(turn) == TurnDecided(
        revision=1,
        generation=1,
        placement="history",
        delivery="given",
        skills=("greet-people",),
        outcomes={"injected": 1},
        tokens={
            "catalog": injection.tokens.catalog,
            "tail": injection.tokens.tail,
            "injected": injection.tokens.injected,
            "left": injection.tokens.left,
        },
        diagnostics=(),
        duration_ms=decided(turn).duration_ms,
    )
    (block,) = injection.blocks
    (decision,) = injection.decisions
    assert text.payload == SkillInjected(
        skill_id="greet-people",
        version="1.2.0",
        digest=GREET.digest,
        outcome="injected",
        rung="full",
        tokens=block.tokens,
        matcher="triggers",
        score=decision.score,
        block=block.id,
        keys=("skill:greet-people",),
        delivery="given",
    )


async def test_a_turn_that_gives_nothing_is_told_once() -> None:
    weaver, recorder = watched(GREET)
    await weaver.weave("what a day", conversation="c")
    assert recorder.types == ["turn.decided"]
    assert decided(recorder.events[0]).skills == ()


async def test_what_is_there_already_is_named_but_not_given() -> None:
    weaver, recorder = watched(GREET)
    await weaver.weave("hello", conversation="c")
    await weaver.weave("hello again", conversation="c")
    assert recorder.types == [*TURN, "turn.decided"]
    last = decided(recorder.events[-1])
    assert (last.skills, dict(last.outcomes)) == (("greet-people",), {"already-present": 1})


async def test_a_changed_skill_is_refreshed() -> None:
    weaver, recorder = watched()
    weaver.skills.registry.register(GREET)
    await weaver.weave("hello", conversation="c")
    changed = make_skill("greet-people", keywords=["hello"], instructions="New words.")
    weaver.skills.registry.register(changed)
    await weaver.weave("hello", conversation="c")
    event = recorder.events[-1]
    assert isinstance(event.payload, SkillRefreshed)
    assert (event.event_type, event.payload.outcome, event.payload.digest) == (
        "skill.refreshed",
        "refreshed",
        changed.digest,
    )


async def test_a_skill_of_which_more_fits_now_is_upgraded() -> None:
    long = make_skill("greet-people", keywords=["hello"], instructions="word " * 100)
    store = MemoryStore()
    small, _ = watched(long, store=store, settings=Settings(budget=Budget(total=60)))
    await small.weave("hello", conversation="c")
    large, recorder = watched(long, store=store)
    await large.weave("hello", conversation="c")
    assert [given(event).outcome for event in recorder.of("skill.refreshed")] == ["upgraded"]


async def test_what_stands_in_for_a_skill_that_does_not_fit_says_so() -> None:
    long = make_skill("greet-people", keywords=["hello"], instructions="word " * 100)
    weaver, recorder = watched(long, settings=Settings(budget=Budget(total=60)))
    await weaver.weave("hello", conversation="c")
    (event,) = recorder.of("skill.injected")
    assert (given(event).rung, given(event).outcome) == ("catalog", "over-budget")


async def test_entity_context_that_comes_later_is_given_by_its_keys() -> None:
    skill = make_skill("greet-people", keywords=["hello"], domain_tags=["well"])
    context = KnownContext({"W1": {"well": "API 42"}})
    weaver, recorder = watched(skill, context=context)
    await weaver.weave("hello", conversation="c")
    await weaver.weave("hello", conversation="c", memory={"entity_id": "W1"})
    last = given(recorder.of("skill.injected")[-1])
    assert (last.keys, last.outcome) == (("context:W1:well",), "injected")


async def test_in_call_placement_every_turn_gives_everything_in_force() -> None:
    weaver, recorder = watched(GREET)
    for turn in ("t1", "t2"):
        await weaver.weave("hello", conversation="c", turn_id=turn, placement=Placement.CALL)
    assert recorder.types == TURN * 2
    assert decided(recorder.events[0]).placement == "call"
    assert len({event.id for event in recorder.events}) == 4


async def test_a_delivery_says_that_its_text_is_only_claimed() -> None:
    weaver, recorder = watched(GREET)
    async with weaver.delivery("hello", conversation="c"):
        assert [event.payload.delivery for event in recorder.events] == ["claimed", "claimed"]  # type: ignore[attr-defined]
    assert recorder.types == TURN


async def test_a_preview_and_a_match_tell_nothing() -> None:
    weaver, recorder = watched(GREET)
    await weaver.preview("hello", conversation="c")
    await weaver.skills.match("hello", conversation="c")
    assert recorder.events == ()


async def test_a_replay_has_the_same_ids() -> None:
    weaver, recorder = watched(GREET, FILING)
    for _ in range(2):
        await weaver.weave("hello, file it", conversation="c", turn_id="t")
    first, again = recorder.batches
    assert [event.id for event in first] == [event.id for event in again]
    assert len({event.id for event in first}) == len(first) == 4


async def test_another_turn_has_other_ids_and_so_has_another_conversation() -> None:
    weaver, recorder = watched(GREET)
    for conversation, turn in (("c", "t"), ("c", "u"), ("d", "t")):
        await weaver.weave("hello", conversation=conversation, turn_id=turn)
    assert len({event.id for event in recorder.events}) == len(recorder.events) == 5


async def test_the_revisions_order_the_turns_of_a_conversation() -> None:
    weaver, recorder = watched(GREET, FILING)
    for message in ("hello", "file it", "hello"):
        await weaver.weave(message, conversation="c")
    revisions = [decided(event).revision for event in recorder.of("turn.decided")]
    assert revisions == sorted(revisions, key=lambda revision: revision or 0)
    assert revisions[0] == 1
    assert revisions[-1] == (await weaver.ledger.state("c")).revision


async def test_a_turn_that_changes_nothing_keeps_the_revision() -> None:
    weaver, recorder = watched(GREET)
    for _ in range(2):
        await weaver.weave("hello", conversation="c", turn_id="t")
    assert [decided(event).revision for event in recorder.of("turn.decided")] == [1, 1]


async def test_while_the_ledger_does_not_answer_a_turn_is_told_without_a_revision() -> None:
    store = FailingStore(MemoryStore())
    weaver, recorder = watched(GREET, store=store)
    store.down = {"load"}
    await weaver.weave("hello", conversation="c")
    assert recorder.types == TURN
    turn = decided(recorder.events[0])
    assert (turn.revision, turn.diagnostics) == (None, ("ledger-unavailable",))


async def test_a_turn_that_is_not_decided_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contention, "PATIENCE_SECONDS", 0.05)

    class Losing(MemoryStore):
        async def swap(self, *_: object, **__: object) -> bool:
            return False

    weaver, recorder = watched(GREET, store=Losing())
    with pytest.raises(Exception, match="was changed by others"):
        await weaver.weave("hello", conversation="c")
    assert recorder.events == ()


async def test_a_failing_observer_is_a_finding_of_the_turn_and_no_more() -> None:
    weaver = weaver_of(GREET, observers=[Recorder(failure=OSError("down"), name="webhook")])
    injection = await weaver.weave("hello", conversation="c")
    assert injection.skills == ("greet-people",)
    assert [finding.code for finding in injection.diagnostics] == ["observer-failed"]
    assert "webhook" in injection.diagnostics[0].message


async def test_a_hanging_observer_holds_a_turn_up_no_longer_than_agreed() -> None:
    weaver = weaver_of(GREET, observers=[Recorder(delay=3600)], observer_seconds=0.01)
    injection = await asyncio.wait_for(weaver.weave("hello", conversation="c"), 30)
    assert [finding.code for finding in injection.diagnostics] == ["observer-failed"]


async def test_a_turn_that_is_cancelled_while_it_is_told_is_told_all_the_same() -> None:
    begun, may_go_on, told = asyncio.Event(), asyncio.Event(), asyncio.Event()
    seen: list[str] = []

    class Slow:
        async def observe(self, events: Sequence[Event]) -> None:
            begun.set()
            await may_go_on.wait()
            seen.extend(event.event_type for event in events)
            told.set()

    weaver = weaver_of(GREET, observers=[Slow()], observer_seconds=30)
    weaving = asyncio.ensure_future(weaver.weave("hello", conversation="c"))
    await begun.wait()
    weaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await weaving
    may_go_on.set()
    await told.wait()
    assert seen == TURN


async def test_turns_at_the_same_time_are_told_in_the_order_in_which_they_were_stored() -> None:
    skills = [make_skill(f"skill-{n}", keywords=[f"word-{n}"]) for n in range(8)]
    recorder = Recorder(delay=0.001)
    weaver = weaver_of(*skills, observers=[recorder], settings=Settings(max_skills=20))
    await asyncio.gather(*(weaver.weave(f"word-{n}", conversation="c") for n in range(8)))
    revisions = [decided(event).revision for event in recorder.of("turn.decided")]
    assert revisions == list(range(1, 9))
    assert [len(batch) for batch in recorder.batches] == [2] * 8


async def test_a_blocking_checkpoint_is_pending_once_its_skill_is_in_force() -> None:
    weaver, recorder = watched(FILING)
    await weaver.weave("file it", conversation="c", turn_id="t1")
    (event,) = recorder.of("checkpoint.pending")
    assert event.payload == CheckpointPending(
        "file-form", "pre_filing", FILING.digest, None, "a landman", "May it go out?"
    )
    assert recorder.types == [*TURN, "checkpoint.pending"]


@pytest.mark.parametrize("placement", Placement)
async def test_a_checkpoint_that_waits_already_is_not_told_again(placement: Placement) -> None:
    weaver, recorder = watched(FILING)
    for turn in ("t1", "t2", "t3"):
        await weaver.weave("file it", conversation="c", turn_id=turn, placement=placement)
    assert pending(recorder) == [("t1", "pre_filing")]


@pytest.mark.parametrize("placement", Placement)
async def test_the_checkpoint_of_a_companion_is_told_once_too(placement: Placement) -> None:
    head = make_skill("greet-people", keywords=["hello"], requires=["file-form"])
    weaver, recorder = watched(head, FILING)
    for turn in ("t1", "t2"):
        await weaver.weave("hello", conversation="c", turn_id=turn, placement=placement)
    assert pending(recorder) == [("t1", "pre_filing")]


@pytest.mark.parametrize("placement", Placement)
async def test_a_changed_skill_waits_anew_and_under_another_id(placement: Placement) -> None:
    weaver, recorder = watched()
    weaver.skills.registry.register(FILING)
    await weaver.weave("file it", conversation="c", turn_id="t1", placement=placement)
    changed = make_skill("file-form", keywords=["file"], instructions="New.", checkpoints=[BLOCKING])
    weaver.skills.registry.register(changed)
    await weaver.weave("file it", conversation="c", turn_id="t2", placement=placement)
    assert pending(recorder) == [("t1", "pre_filing"), ("t2", "pre_filing")]
    assert len({event.id for event in recorder.of("checkpoint.pending")}) == 2


async def test_a_checkpoint_is_not_told_again_because_of_a_compaction() -> None:
    weaver, recorder = watched(FILING)
    await weaver.weave("file it", conversation="c", turn_id="t1")
    summary = [Message(Role.SYSTEM, "a summary")]
    await weaver.weave("go on", conversation="c", turn_id="t2", transcript=summary)
    assert recorder.batches[1][1].event_type == "skill.injected"
    assert pending(recorder) == [("t1", "pre_filing")]


@pytest.mark.parametrize("placement", Placement)
async def test_a_replay_tells_the_pending_checkpoint_again_under_the_same_id(placement: Placement) -> None:
    weaver, recorder = watched(FILING)
    for _ in range(2):
        await weaver.weave("file it", conversation="c", turn_id="t", placement=placement)
    first, again = recorder.of("checkpoint.pending")
    assert first == again


async def test_a_replay_does_not_tell_what_waited_before_its_turn() -> None:
    weaver, recorder = watched(FILING, GREET)
    for turn, message in (("t1", "file it"), ("t2", "hello"), ("t2", "hello")):
        await weaver.weave(message, conversation="c", turn_id=turn)
    assert pending(recorder) == [("t1", "pre_filing")]


async def test_an_approved_checkpoint_is_not_pending() -> None:
    weaver, recorder = watched(FILING)
    await weaver.weave("hello", conversation="c")
    await weaver.approvals.decide("c", "file-form", "pre_filing", "approved", by="Alice")
    await weaver.weave("file it", conversation="c")
    assert pending(recorder) == []


async def test_a_rejected_skill_that_may_return_waits_anew_and_under_another_id() -> None:
    weaver, recorder = watched(FILING)
    await weaver.weave("file it", conversation="c", turn_id="t1")
    await weaver.approvals.decide("c", "file-form", "pre_filing", "rejected", by="Alice")
    await weaver.approvals.decide("c", "file-form", "pre_filing", "approved", by="Alice")
    await weaver.approvals.reconsider("c", "file-form", "pre_filing")
    await weaver.weave("file it", conversation="c", turn_id="t2")
    assert len({event.id for event in recorder.of("checkpoint.pending")}) == 2
    assert pending(recorder) == [("t1", "pre_filing"), ("t2", "pre_filing")]
