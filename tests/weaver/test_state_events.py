from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from skillweave import Checkpoint, MemoryStore, State, ToolRules
from skillweave.events import CheckpointDecided, SkillEvicted
from skillweave.skills import ArtifactRef, SkillText
from skillweave.state.state import CLAIM_SECONDS
from skillweave_testing import ManualClock, Recorder
from tests.observing import watched, weaver_of
from tests.skills import make_skill

GREET = make_skill("greet-people", keywords=["hello"])
FILING = make_skill("file-form", keywords=["file"], checkpoints=[Checkpoint("pre_filing")])


def gone(recorder: Recorder) -> list[tuple[str, str, str | None]]:
    events = recorder.of("skill.evicted")
    return [(e.payload.skill_id, e.payload.cause, e.turn_id) for e in events if isinstance(e.payload, SkillEvicted)]


def verdicts(recorder: Recorder) -> list[tuple[str, str, str]]:
    events = recorder.of("checkpoint.decided")
    payloads = [event.payload for event in events if isinstance(event.payload, CheckpointDecided)]
    return [(payload.checkpoint, payload.verdict, payload.by) for payload in payloads]


async def test_an_evicted_skill_is_told_with_the_message_that_carried_it() -> None:
    weaver, recorder = watched(GREET)
    injection = await weaver.weave("hello", conversation="c")
    assert await weaver.evict("c", "greet-people")
    (block,) = injection.blocks
    event = recorder.events[-1]
    assert event.payload == SkillEvicted("greet-people", GREET.digest, "full", block.tokens, block.id, "evicted")
    assert (event.conversation, event.turn_id) == ("c", None)


async def test_the_tokens_are_those_of_the_whole_message() -> None:
    ref = ArtifactRef("rules.md", "rules.md", "text/markdown", 0)
    weaver, recorder = watched(GREET)
    weaver.skills.registry.register(replace(GREET, artifacts=(ref,)), {"rules.md": "one two three"})
    injection = await weaver.weave("hello", conversation="c")
    assert len((await weaver.ledger.state("c")).records) == 2
    await weaver.evict("c", "greet-people")
    assert recorder.events[-1].payload.tokens == injection.blocks[0].tokens  # type: ignore[attr-defined]


async def test_evicting_what_was_never_given_tells_nothing() -> None:
    weaver, recorder = watched(GREET)
    assert not await weaver.evict("c", "greet-people")
    assert recorder.events == ()


async def test_every_skill_of_a_cleared_conversation_is_told() -> None:
    weaver, recorder = watched(GREET, FILING)
    await weaver.weave("hello, file it", conversation="c")
    await weaver.ledger.clear("c")
    assert sorted(gone(recorder)) == [("file-form", "cleared", None), ("greet-people", "cleared", None)]


async def test_a_delivery_that_raises_is_told_as_released_in_its_turn() -> None:
    weaver, recorder = watched(GREET)
    with suppress(RuntimeError):
        async with weaver.delivery("hello", conversation="c", turn_id="t"):
            raise RuntimeError("no answer")
    assert gone(recorder) == [("greet-people", "released", "t")]


async def test_a_delivery_that_is_confirmed_tells_nothing_more() -> None:
    weaver, recorder = watched(GREET)
    async with weaver.delivery("hello", conversation="c"):
        pass
    assert recorder.types == ["turn.decided", "skill.injected"]


async def test_a_released_replacement_is_told_although_the_earlier_text_stands_again() -> None:
    weaver, recorder = watched()
    weaver.skills.registry.register(GREET)
    await weaver.weave("hello", conversation="c")
    changed = make_skill("greet-people", keywords=["hello"], instructions="New.")
    weaver.skills.registry.register(changed)
    with suppress(RuntimeError):
        async with weaver.delivery("hello", conversation="c"):
            raise RuntimeError("no answer")
    (event,) = recorder.of("skill.evicted")
    assert event.payload.digest == changed.digest  # type: ignore[attr-defined]
    assert event.payload.block == recorder.of("skill.refreshed")[0].payload.block  # type: ignore[attr-defined]


async def test_a_text_that_is_given_and_evicted_twice_in_a_turn_is_told_under_two_ids() -> None:
    weaver, recorder = watched(GREET)
    for _ in range(2):
        await weaver.weave("hello", conversation="c", turn_id="t")
        await weaver.evict("c", "greet-people")
    first, second = recorder.of("skill.evicted")
    assert first.payload == second.payload
    assert first.id != second.id


async def test_an_unloaded_skill_is_told() -> None:
    weaver, recorder = watched(GREET)
    await weaver.weave("hello", conversation="c")
    await weaver.ledger.unload("c", "greet-people")
    assert gone(recorder) == [("greet-people", "unloaded", None)]


async def test_a_claim_that_ran_out_is_nobodys_doing_and_is_not_told() -> None:
    clock = ManualClock()
    recorder = Recorder()
    weaver = weaver_of(GREET, observers=[recorder], store=MemoryStore(clock=clock))
    async with weaver.delivery("hello", conversation="c", turn_id="t"):
        clock.advance(CLAIM_SECONDS + 1)
        await weaver.weave("hello", conversation="c")
    assert gone(recorder) == []


async def test_a_verdict_is_told_with_the_person_and_without_the_remark() -> None:
    weaver, recorder = watched(FILING)
    await weaver.approvals.decide("c", "file-form", "pre_filing", "approved", by="Alice", note="looks-right-to-me")
    (event,) = recorder.events
    assert event.payload == CheckpointDecided("file-form", "pre_filing", FILING.digest, "approved", "Alice")
    assert "looks-right-to-me" not in str(event.to_dict())


async def test_a_rejection_is_told_with_the_text_that_goes_with_it() -> None:
    weaver, recorder = watched(FILING)
    await weaver.weave("file it", conversation="c")
    await weaver.approvals.decide("c", "file-form", "pre_filing", "rejected", by="Alice")
    assert [event.event_type for event in recorder.batches[-1]] == ["checkpoint.decided", "skill.evicted"]
    assert gone(recorder) == [("file-form", "rejected", None)]


async def test_the_same_verdict_again_tells_nothing_and_another_one_does() -> None:
    weaver, recorder = watched(FILING)
    for verdict in ("approved", "approved", "modified"):
        await weaver.approvals.decide("c", "file-form", "pre_filing", verdict, by="Alice")
    assert verdicts(recorder) == [("pre_filing", "approved", "Alice"), ("pre_filing", "modified", "Alice")]


async def test_a_verdict_that_is_taken_back_is_told_as_withdrawn() -> None:
    weaver, recorder = watched(FILING)
    await weaver.approvals.decide("c", "file-form", "pre_filing", "approved", by="Alice")
    await weaver.approvals.reconsider("c", "file-form", "pre_filing")
    assert verdicts(recorder) == [("pre_filing", "approved", "Alice"), ("pre_filing", "withdrawn", "Alice")]
    assert len({event.id for event in recorder.events}) == 2


async def test_consent_to_preapproved_tools_is_told_like_a_verdict() -> None:
    skill = make_skill("reader", tools=ToolRules(preapproved=("read",)))
    weaver, recorder = watched(skill)
    await weaver.approvals.consent("c", "reader", by="Alice")
    assert verdicts(recorder) == [("preapproved-tools", "approved", "Alice")]


async def test_clearing_a_conversation_does_not_take_back_what_people_said() -> None:
    weaver, recorder = watched(FILING)
    await weaver.approvals.decide("c", "file-form", "pre_filing", "approved", by="Alice")
    await weaver.ledger.clear("c")
    assert verdicts(recorder) == [("pre_filing", "approved", "Alice")]


@pytest.mark.parametrize("observers", [[], [Recorder(failure=OSError("down"))]])
async def test_without_an_observer_or_with_a_broken_one_the_change_is_made_all_the_same(
    observers: Sequence[Recorder],
) -> None:
    weaver = weaver_of(GREET, observers=observers)
    await weaver.weave("hello", conversation="c")
    assert await weaver.evict("c", "greet-people")
    assert await weaver.ledger.clear("c")
    assert replace(await weaver.ledger.state("c"), revision=0) == State()


async def test_a_long_text_in_sections_is_evicted_as_one_skill() -> None:
    body = SkillText(instructions="\n".join(f"## Part {n}\n" + "word " * 40 for n in range(3)))
    weaver, recorder = watched(make_skill("long", keywords=["long"], text=body))
    await weaver.weave("long", conversation="c")
    await weaver.tools.read_skill("long", "1", conversation="c")
    await weaver.ledger.unload("c", "long")
    assert gone(recorder) == [("long", "unloaded", None)]
