"""One whole turn: select, compose, budget, render, ledger; without embeddings, on memory and on SQLite (spec 11)."""

import itertools
import random
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from made import Made
from results import Effort, Row, Target, figure, single
from rivals import AdrProvider, FlatCatalog, Rival
from stage import MESSAGES, Stage, make_stage, message_for, new_name, ready_weaver
from timing import Batch, Timing, interleaved, timing_of

from skillweave.dialogue import Message, Role
from skillweave.injection import Injection
from skillweave.stores.sqlite import SqliteStore
from skillweave.tokens.counter import Tiktoken
from skillweave.weaver import Weaver

HIT, MISS, AGAIN = "a skill matches", "nothing matches", "follow-up, skill present"
TRANSCRIPT = "follow-up with 20 messages of transcript"
FIRST = "a skill matches for the first time ever"
KINDS = (HIT, MISS, AGAIN)
LIMITS = {"memory": 1e-3, "SQLite": 3e-3}
LIMITED_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversation that is ready for its timed turn; `present` is the skill that it was given before."""

    conversation: str
    message: str
    present: Made | None = None
    transcript: tuple[Message, ...] | None = None


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Each kind of turn at growing numbers of skills, with both ledgers; then the tokens of the calls."""
    sizes = (100, 1_000) if effort is Effort.QUICK else (100, 1_000, 10_000)
    samples = 9 if effort is Effort.QUICK else 61
    counter = Tiktoken()
    counter.warm_up()
    for size in sizes:
        stage = make_stage(size, counter)
        with tempfile.TemporaryDirectory() as folder:
            weavers = {
                "memory": await ready_weaver(stage),
                "SQLite": await ready_weaver(stage, Path(folder, "ledger.db")),
            }
            for weaver in weavers.values():
                await _check(stage, weaver)
            async for row in _timed(stage, weavers, samples):
                yield row
            yield await _first_time(stage)
            async for row in _tokens(stage, weavers["memory"]):
                yield row
            await _closed(weavers["SQLite"].ledger.store)


def _rivals(stage: Stage) -> dict[str, Rival]:
    """The other ways, over the same skills."""
    return {"provider of the ADR": AdrProvider(stage.made), "catalog + load_skill": FlatCatalog(stage.made)}


async def _closed(store: object) -> None:
    if isinstance(store, SqliteStore):
        await store.close()


async def _timed(stage: Stage, weavers: Mapping[str, Weaver], samples: int) -> AsyncIterator[Row]:
    rivals = _rivals(stage)
    for kind in KINDS:
        batches = {ledger: turns(stage, weaver, kind) for ledger, weaver in weavers.items()}
        batches |= {name: _rival_turns(stage, rival, kind) for name, rival in rivals.items()}
        times = await interleaved(batches, samples=samples)
        for ledger, rival in itertools.product(weavers, rivals):
            ours, target = figure(times[ledger]), _target(stage, ledger, times[ledger])
            yield Row(f"whole turn, {ledger}", f"{kind}, {stage.size}", ours, rival, figure(times[rival]), target)
    batches = {ledger: turns(stage, weaver, TRANSCRIPT) for ledger, weaver in weavers.items()}
    for ledger, timing in (await interleaved(batches, samples=samples)).items():
        target = _target(stage, ledger, timing)
        yield Row(f"whole turn, {ledger}", f"{TRANSCRIPT}, {stage.size}", figure(timing), target=target)


async def _first_time(stage: Stage) -> Row:
    """Turns whose skill was never rendered and counted before: each skill is good for one measurement."""
    weaver = await ready_weaver(stage)
    rnd = random.Random(9)
    await weaver.weave(message_for(stage.made[0], rnd), conversation="warm")
    seconds = []
    for made in stage.made[1:200]:
        message = message_for(made, rnd)
        begin = time.perf_counter()
        await weaver.weave(message, conversation=made.name)
        seconds.append(time.perf_counter() - begin)
    timing = timing_of(seconds)
    return Row("whole turn, memory", f"{FIRST}, {stage.size}", figure(timing), target=_target(stage, "memory", timing))


async def _tokens(stage: Stage, weaver: Weaver) -> AsyncIterator[Row]:
    """What of the coming call is skill text, in tokens of one public vocabulary for all three."""
    for kind in KINDS:
        ready = await _prepared(stage, weaver, kind, 0)
        injection = await weaver.weave(ready.message, conversation=ready.conversation)
        ours = single(weaver.settings.budget.usable - injection.tokens.left, "tokens")
        for name, rival in _rivals(stage).items():
            text = await rival.turn(ready.message, _loaded(stage, ready, kind, 0))
            theirs = single(stage.counter.count(text), "tokens")
            yield Row("skill text in the call", f"{kind}, {stage.size}", ours, name, theirs)


def _target(stage: Stage, ledger: str, timing: Timing) -> Target | None:
    if len(stage.made) != LIMITED_SIZE:
        return None
    return Target(f"<{LIMITS[ledger] * 1000:.0f} ms", timing.median < LIMITS[ledger])


def turns(stage: Stage, weaver: Weaver, kind: str) -> Batch:
    """A batch of turns of one kind, each in a conversation that is made ready before the clock runs."""
    numbers = itertools.count()

    async def batch(times: int) -> float:
        ready = [await _prepared(stage, weaver, kind, number) for number in itertools.islice(numbers, times)]
        begin = time.perf_counter()
        for turn in ready:
            await _woven(weaver, turn)
        return time.perf_counter() - begin

    return batch


def _woven(weaver: Weaver, turn: Prepared) -> Coroutine[None, None, Injection]:
    return weaver.weave(turn.message, conversation=turn.conversation, transcript=turn.transcript)


def _rival_turns(stage: Stage, rival: Rival, kind: str) -> Batch:
    turns = itertools.cycle(_rival_messages(stage, kind))

    async def batch(times: int) -> float:
        ready = list(itertools.islice(turns, times))
        begin = time.perf_counter()
        for message, present in ready:
            await rival.turn(message, present)
        return time.perf_counter() - begin

    return batch


def _rival_messages(stage: Stage, kind: str) -> Iterator[tuple[str, Made | None]]:
    for miss, (hit, made) in zip(stage.misses, stage.hits, strict=True):
        yield (hit if kind == HIT else miss), (None if kind == MISS else made)


def _loaded(stage: Stage, ready: Prepared, kind: str, number: int) -> Made | None:
    """What a model with a catalog would have loaded by then: the skill that the message needs, or the one before."""
    return stage.hits[number % MESSAGES][1] if kind == HIT else ready.present


async def _prepared(stage: Stage, weaver: Weaver, kind: str, number: int) -> Prepared:
    conversation = new_name("c")
    hit, made = stage.hits[number % MESSAGES]
    miss = stage.misses[number % MESSAGES]
    if kind in (HIT, MISS):
        return Prepared(conversation, hit if kind == HIT else miss)
    given = await weaver.weave(hit, conversation=conversation)
    if kind == AGAIN:
        return Prepared(conversation, miss, made)
    small_talk = [
        Message(Role.ASSISTANT if place % 2 else Role.USER, stage.misses[place], f"m{place}") for place in range(19)
    ]
    return Prepared(conversation, miss, made, (*small_talk[:9], *given.messages, *small_talk[9:]))


async def _check(stage: Stage, weaver: Weaver) -> None:
    """That the kinds of turn are what they are called, for us and for the others."""
    for number in range(min(10, MESSAGES)):
        hit, made = stage.hits[number]
        conversation = new_name("check")
        given = await weaver.weave(hit, conversation=conversation)
        _require([block.skill_id for block in given.blocks] == [made.name], f"{hit!r} gives {given.blocks}")
        again = await weaver.weave(stage.misses[number], conversation=conversation)
        _require(not again.messages, f"the follow-up gives {[block.skill_id for block in again.blocks]}")
        none = await weaver.weave(stage.misses[number], conversation=new_name("check"))
        _require(not none.messages, f"{stage.misses[number]!r} gives {[block.skill_id for block in none.blocks]}")
        with_transcript = await _prepared(stage, weaver, TRANSCRIPT, number)
        seen = await _woven(weaver, with_transcript)
        _require(not seen.messages, f"{with_transcript.message!r} gives again what the transcript holds")
        for name, rival in _rivals(stage).items():
            _require(made.body in await rival.turn(hit, made), f"{name} does not give {made.name}")


def _require(holds: bool, otherwise: str) -> None:  # noqa: FBT001
    if not holds:
        raise SystemExit(f"the turns are not as meant: {otherwise}")
