"""What grows: memory with the number of skills, a conversation with its turns, and the time of a turn with both."""

import asyncio
import gc
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from memory import resident, traced, tracing
from results import Effort, Figure, Row, figure, single
from stage import MESSAGES, Stage, make_stage, new_name, open_weaver, ready_weaver
from timing import timing_of

from skillweave.dialogue import Message, Role
from skillweave.state.codec import decision_to_json, state_to_json
from skillweave.tokens.counter import Tiktoken
from skillweave.weaver import Weaver

SKILLS = 1_000
EVERY = {"a new skill every 5th turn": 5, "a new skill in every turn": 1}
"""How often a turn of a long conversation calls for a skill that no turn before it called for."""
WATCHED = {Effort.QUICK: (2, 20), Effort.FULL: (2, 20, 100)}
CONVERSATIONS = {Effort.QUICK: 3, Effort.FULL: 15}


@dataclass(frozen=True, slots=True)
class Seen:
    """What was measured after one turn number of several like conversations: seconds, and bytes."""

    seconds: list[float] = field(default_factory=list)
    state: list[int] = field(default_factory=list)
    decisions: list[int] = field(default_factory=list)


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Memory of fresh processes at growing sizes, then conversations of 100 turns (20 in a quick run)."""
    for size in (SKILLS,) if effort is Effort.QUICK else (SKILLS, 10_000):
        for how in ("resident", "live Python objects"):
            texts, ready = _grown(size, how)
            yield Row("memory of one process", f"definitions of {size:,} skills, {how}", texts)
            yield Row("memory of one process", f"ready to select among {size:,} skills, {how}", ready)
    counter = Tiktoken()
    counter.warm_up()
    stage = make_stage(SKILLS, counter)
    for name, every in EVERY.items():
        for told in ("no transcript", "whole transcript"):
            weaver = await ready_weaver(stage)
            seen = await _conversations(stage, weaver, every, effort, with_transcript=told == "whole transcript")
            for row in _rows(f"{name}, {told}", seen):
                yield row


def _rows(case: str, seen: dict[int, Seen]) -> list[Row]:
    first, *later = seen
    begin = figure(timing_of(seen[first].seconds))
    rows = [
        Row(
            "a turn late in one conversation",
            f"turn {turn}, {case}",
            figure(timing_of(seen[turn].seconds)),
            f"turn {first}",
            begin,
        )
        for turn in later
    ]
    if "no transcript" in case:
        for turn, found in seen.items():
            rows.append(Row("kept of one conversation, its State", f"{turn} turns, {case}", _bytes(found.state)))
            rows.append(Row("kept of one conversation, decisions", f"{turn} turns, {case}", _bytes(found.decisions)))
    return rows


def _bytes(found: Sequence[int]) -> Figure:
    return figure(timing_of([float(size) for size in found]), unit="B")


async def _conversations(
    stage: Stage, weaver: Weaver, every: int, effort: Effort, *, with_transcript: bool
) -> dict[int, Seen]:
    seen: dict[int, Seen] = {turn: Seen() for turn in WATCHED[effort]}
    gc.collect()
    gc.freeze()
    try:
        for number in range(CONVERSATIONS[effort]):
            await _conversation(stage, weaver, every, number, seen, with_transcript=with_transcript)
    finally:
        gc.unfreeze()
    return seen


async def _conversation(
    stage: Stage, weaver: Weaver, every: int, number: int, seen: dict[int, Seen], *, with_transcript: bool
) -> None:
    conversation = new_name("long")
    transcript: list[Message] = []
    for turn in range(1, max(seen) + 1):
        text = _text(stage, turn, every, number)
        told = tuple(transcript) if with_transcript else None
        begin = time.perf_counter()
        given = await weaver.weave(text, conversation=conversation, transcript=told)
        seconds = time.perf_counter() - begin
        reply = stage.misses[(turn + 7) % MESSAGES]
        transcript += [
            Message(Role.USER, text, f"u{turn}"),
            *given.messages,
            Message(Role.ASSISTANT, reply, f"a{turn}"),
        ]
        if turn in seen:
            seen[turn].seconds.append(seconds)
            await _weighed(weaver, conversation, seen[turn])


async def _weighed(weaver: Weaver, conversation: str, into: Seen) -> None:
    """The bytes of what a store keeps, in the form in which it is stored."""
    into.state.append(len(state_to_json(await weaver.ledger.state(conversation))))
    kept = await weaver.why(conversation)
    into.decisions.append(sum(len(decision_to_json(logged.decision)) for logged in kept))


def _text(stage: Stage, turn: int, every: int, number: int) -> str:
    if (turn - 1) % every == 0:
        return stage.hits[((turn - 1) // every + number) % MESSAGES][0]
    return stage.misses[turn % MESSAGES]


def _grown(size: int, how: str) -> tuple[Figure, Figure]:
    """What a fresh process holds for the definitions of so many skills, and with all that a turn needs."""
    command = [sys.executable, __file__, str(size), how]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    texts, ready = json.loads(answer.stdout)
    return single(texts, "MB"), single(ready, "MB")


async def _growth(size: int, how: str) -> tuple[float, float]:
    held = resident if how == "resident" else traced
    counter = Tiktoken()
    counter.warm_up()
    small = make_stage(MESSAGES, counter)
    await ready_weaver(small)
    if held is traced:
        tracing()
    before = held()
    stage = make_stage(size, counter)
    texts = held() - before
    weaver = open_weaver(stage)
    await weaver.weave(stage.misses[0], conversation="one")
    grown = held() - before
    del weaver
    return texts, grown


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_growth(int(sys.argv[1]), sys.argv[2]))))
