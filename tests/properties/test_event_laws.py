"""What holds for every event, whatever the skills, the messages and the way the turns are run."""

import asyncio
import json
from dataclasses import dataclass, replace

from hypothesis import example, given
from hypothesis import strategies as st

from skillweave import Budget, Checkpoint, Event, Injection, Message, Placement, Role, Settings, Triggers
from skillweave.events import Announced, SkillInjected, SkillRefreshed, TurnDecided
from skillweave.events.payloads import Given
from skillweave.frozen import freeze_mapping
from skillweave_testing import Recorder
from tests.observing import watched
from tests.skills import make_skill
from tests.strategies import json_mappings

MARKER = "zq7x"
KEYS = ["id", "event_type", "conversation", "turn_id", "payload"]
SKILLS = [
    replace(
        make_skill(f"skill-{n}", instructions=f"{'word ' * size}$ARGUMENTS", requires=["skill-1"] if n == 0 else []),
        triggers=Triggers(keywords=(f"key-{n}",), patterns=(rf"number [a-z0-9]+ {n}",)),
        checkpoints=(Checkpoint("review", asks="May it?"),) if n == 2 else (),
    )
    for n, size in enumerate((5, 20, 60, 200))
]
words = st.sampled_from(
    [
        *(f"key-{n}" for n in range(4)),
        *(f"number {MARKER} {n}" for n in range(4)),
        *(f"/skill-{n} {MARKER} and more" for n in range(4)),
        f"SKILL_SELECT: {MARKER}",
        f"SKILL_SELECT: skill-0 {MARKER}",
        f"use the {MARKER} skill",
        f"/{MARKER}",
        MARKER,
        "what can you do?",
    ]
)


@dataclass(frozen=True)
class Step:
    words: tuple[str, ...]
    role: Role
    placement: Placement
    tells: bool
    delivers: bool
    replays: bool


steps = st.builds(
    Step,
    st.lists(words, min_size=1, max_size=3).map(tuple),
    st.sampled_from([Role.USER, Role.ASSISTANT]),
    st.sampled_from(Placement),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


async def ran(script: list[Step], budget: int) -> tuple[Recorder, list[Injection]]:
    weaver, recorder = watched(*SKILLS, settings=Settings(budget=Budget(total=budget)))
    history: list[Message] = []
    injections = []
    for n, step in enumerate(script):
        text = f"{' '.join(step.words)} {MARKER}"
        fields = {"conversation": "c", "turn_id": f"t{n}", "role": step.role, "placement": step.placement}
        fields["transcript"] = [*history] if step.tells else None
        if step.delivers:
            async with weaver.delivery(text, **fields) as injection:  # type: ignore[arg-type]
                pass
        else:
            injection = await weaver.weave(text, **fields)  # type: ignore[arg-type]
        injections.append(injection)
        if step.replays:
            injections.append(await weaver.weave(text, **fields))  # type: ignore[arg-type]
        history += [Message(Role.USER, text), *injection.messages]
    return recorder, injections


def told(script: list[Step], budget: int) -> tuple[Recorder, list[Injection]]:
    return asyncio.run(ran(script, budget))


scripts = st.lists(steps, min_size=1, max_size=5)
budgets = st.sampled_from([0, 40, 120, 1000])


@given(script=scripts, budget=budgets)
def test_every_event_is_json_in_the_one_envelope_and_holds_no_word_of_a_message(
    script: list[Step], budget: int
) -> None:
    recorder, _ = told(script, budget)
    for event in recorder.events:
        written = event.to_dict()
        assert list(written) == KEYS
        assert json.loads(json.dumps(written, allow_nan=False)) == written
        assert MARKER not in json.dumps(written).lower()


@given(script=scripts, budget=budgets)
def test_every_turn_is_told_by_one_decision_and_one_event_for_each_block(script: list[Step], budget: int) -> None:
    recorder, injections = told(script, budget)
    assert len(recorder.batches) == len(injections)
    for batch, injection in zip(recorder.batches, injections, strict=True):
        assert [event.event_type for event in batch].count("turn.decided") == 1
        assert isinstance(batch[0].payload, TurnDecided)
        assert sum(batch[0].payload.outcomes.values()) == len(injection.decisions)
        texts = [event.payload for event in batch if isinstance(event.payload, Given)]
        assert [(text.block, text.tokens) for text in texts] == [(b.id, b.tokens) for b in injection.blocks]
        assert all(isinstance(text, SkillInjected | SkillRefreshed) for text in texts)


@given(script=scripts, budget=budgets)
def test_ids_tell_what_is_new_from_what_is_repeated(script: list[Step], budget: int) -> None:
    recorder, injections = told(script, budget)
    by_turn: dict[str | None, set[str]] = {}
    for batch in recorder.batches:
        ids = [event.id for event in batch]
        assert len(set(ids)) == len(ids)
        turn_id = batch[0].turn_id
        others = [seen for turn, seen in by_turn.items() if turn != turn_id]
        assert not set(ids) & set().union(*others)
        by_turn.setdefault(turn_id, set()).update(ids)
    assert len({event.id for event in recorder.of("turn.decided")}) == len({i.turn_id for i in injections})


@given(data=json_mappings, conversation=st.text(), turn_id=st.none() | st.text())
@example(data=freeze_mapping({"a": ["\u2028", None, 1.5]}), conversation="\x00", turn_id="")
def test_what_a_skill_announces_survives_json_unchanged(
    data: dict[str, object], conversation: str, turn_id: str | None
) -> None:
    event = Event("e", "X", conversation, turn_id, Announced("skill", data))  # type: ignore[arg-type]
    written = event.to_dict()
    assert json.loads(json.dumps(written)) == written
    assert freeze_mapping(written["payload"]) == data  # type: ignore[arg-type]
