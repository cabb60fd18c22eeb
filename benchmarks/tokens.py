"""Tokens over real skills: what a turn puts before the model, against everything in every call (seed 004, spec 11)."""

import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import fmean, median
from typing import TypeVar

from real_skills import SAMPLE, SELECTION, Asked, Pool, corpus_and_queries, folder_of, macro, whole_files
from results import Effort, Figure, Row, Target, single

from skillweave.dialogue import Message, Role
from skillweave.disclose.block import Rung
from skillweave.disclose.fit import CountedOnce
from skillweave.injection import Injection
from skillweave.registry import Registry
from skillweave.settings import CatalogMode, Settings
from skillweave.sources.code import InCode
from skillweave.stores.memory import MemoryStore
from skillweave.tokens.counter import Tiktoken
from skillweave.weaver import Weaver

POOLS = {
    Effort.QUICK: {18: 5, 100: 4},
    Effort.FULL: {18: 20, 100: 20, 1_000: 4},
}
"""How many pools are drawn, by the number of their skills; for whole files as many as for the judged size."""
JUDGED = 100
"""The size that the targets are for."""
MODES = {CatalogMode.ALWAYS: "catalog in every call", CatalogMode.FALLBACK: "catalog as fallback"}
SAVED = {CatalogMode.ALWAYS: 90.0, CatalogMode.FALLBACK: 95.0}
RIGHT = 80.0
TURNS = 5
CONVERSATIONS = 20
"""Conversations of five turns in each pool."""
EVERYTHING = "everything in every call"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fresh:
    """What one question got in a conversation of its own."""

    asked: Asked
    tokens: int
    everything: int
    right: bool
    wrong: int


@dataclass(frozen=True, slots=True)
class Talk:
    """What the calls of a conversation held together, and in how many of them the right skill stood."""

    tokens: int
    everything: int
    right: int


class Host(Enum):
    """What a host does with blocks that are in the history: nothing, or it takes out what `Injection.drop` names."""

    KEEPS = "host keeps all"
    DROPS = "host drops what is named"


@dataclass(frozen=True, slots=True)
class Library:
    """Pools of one size, and the kinds of host that their conversations have."""

    name: str
    size: int
    pools: Sequence[Pool]
    hosts: Sequence[Host]


@dataclass(frozen=True, slots=True)
class Found:
    """Everything measured in one pool in one mode."""

    fresh: Sequence[Fresh]
    talks: Mapping[Host, Sequence[Talk]]


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Rows for each library and mode; none without the labelled questions, whose folder a variable must name."""
    counter = CountedOnce(Tiktoken())
    async for library in _libraries(effort):
        for mode in MODES:
            found = [await _in_pool(pool, library, mode, counter, number) for number, pool in enumerate(library.pools)]
            for row in _rows(library, mode, found):
                yield row


async def _libraries(effort: Effort) -> AsyncIterator[Library]:
    selection, sample = folder_of(SELECTION), folder_of(SAMPLE)
    if selection is None:
        print(f"  left out: {SELECTION} names no folder with labelled questions", file=sys.stderr)
        return
    labelled, corpus = corpus_and_queries(selection)
    for size, count in POOLS[effort].items():
        yield Library(f"{size:,} skills", size, labelled.pools(size, count), (Host.KEEPS,))
    if sample is None:
        print(f"  whole files are left out: {SAMPLE} names no folder with skills", file=sys.stderr)
        return
    whole = await whole_files(sample, labelled, corpus)
    yield Library(f"{JUDGED} whole files", JUDGED, whole.pools(JUDGED, POOLS[effort][JUDGED]), tuple(Host))


async def _in_pool(pool: Pool, library: Library, mode: CatalogMode, counter: CountedOnce, number: int) -> Found:
    weaver = Weaver(Registry([InCode(*pool.skills)]), MemoryStore(), Settings(catalog=mode), counter=counter)
    fresh = [await _fresh(weaver, asked, f"turn-{place}") for place, asked in enumerate(pool.asked)]
    rng = random.Random(number)
    drawn = [rng.sample(pool.asked, TURNS) for _ in range(CONVERSATIONS)] if len(pool.asked) >= TURNS else []
    talks = {
        host: [await _talk_with(host)(weaver, asked, f"{host.value}-{place}") for place, asked in enumerate(drawn)]
        for host in library.hosts
    }
    return Found(fresh, talks)


async def _fresh(weaver: Weaver, asked: Asked, conversation: str) -> Fresh:
    injection = await weaver.weave(asked.text, conversation=conversation)
    given, tokens = _given(injection), injection.tokens
    return Fresh(
        asked=asked,
        tokens=tokens.catalog + tokens.injected,
        everything=await weaver.skills.tokens_of_everything(),
        right=bool(given & asked.gold),
        wrong=len(given - asked.gold),
    )


def _talk_with(host: Host) -> Callable[[Weaver, Sequence[Asked], str], Awaitable[Talk]]:
    return _talk if host is Host.KEEPS else _talk_with_room


async def _talk(weaver: Weaver, questions: Sequence[Asked], conversation: str) -> Talk:
    """Blocks stay in the history, so each call holds those of the turns before it again."""
    total = everything = right = 0
    present: set[str] = set()
    for asked in questions:
        injection = await weaver.weave(asked.text, conversation=conversation)
        present |= _given(injection)
        total += weaver.settings.budget.usable - injection.tokens.left
        everything += await weaver.skills.tokens_of_everything()
        right += bool(present & asked.gold)
    return Talk(total, everything, right)


async def _talk_with_room(weaver: Weaver, questions: Sequence[Asked], conversation: str) -> Talk:
    """The same with a host that takes out of its transcript what it may, and asks once more where it did."""
    total = everything = right = 0
    transcript: dict[str, Message] = {}
    skills: dict[str, str] = {}
    for number, asked in enumerate(questions):
        injection = await weaver.weave(asked.text, conversation=conversation, transcript=tuple(transcript.values()))
        if injection.drop:
            _append(injection, transcript, skills)
            for drop in injection.drop:
                transcript.pop(drop.message_id, None)
            injection = await weaver.weave(asked.text, conversation=conversation, transcript=tuple(transcript.values()))
        _append(injection, transcript, skills)
        total += weaver.settings.budget.usable - injection.tokens.left
        everything += await weaver.skills.tokens_of_everything()
        right += any(skills.get(place) in asked.gold for place in transcript)
        transcript[f"user-{number}"] = Message(Role.USER, asked.text, f"user-{number}")
    return Talk(total, everything, right)


def _append(injection: Injection, transcript: dict[str, Message], skills: dict[str, str]) -> None:
    given = _given(injection)
    transcript.update((message.id, message) for message in injection.messages if message.id)
    skills.update((block.id, block.skill_id) for block in injection.blocks if block.skill_id in given)


def _given(injection: Injection) -> frozenset[str]:
    """The skills whose instructions are given; an outline or a catalog line does not count."""
    return frozenset(block.skill_id for block in injection.blocks if block.rung >= Rung.INSTRUCTIONS)


def _rows(library: Library, mode: CatalogMode, found: Sequence[Found]) -> Iterator[Row]:
    asked = [each for each in found if each.fresh]
    case = f"{library.name}, {MODES[mode]}"
    yield from _of_one_turn(case, library.size, mode, asked)
    for host in library.hosts:
        yield from _of_talks(f"{case}, {host.value}", [each.talks[host] for each in asked if each.talks[host]])
    if mode is CatalogMode.FALLBACK:
        yield from _apart(library.name, asked)


def _of_one_turn(case: str, size: int, mode: CatalogMode, found: Sequence[Found]) -> Iterator[Row]:
    ours = _over(found, lambda each: fmean(turn.tokens for turn in each.fresh), "tokens")
    theirs = _over(found, lambda each: fmean(turn.everything for turn in each.fresh), "tokens")
    yield Row("tokens, one turn of a new conversation", case, ours, EVERYTHING, theirs)
    saved = _over(found, lambda each: fmean(100 * (1 - turn.tokens / turn.everything) for turn in each.fresh), "%")
    yield Row("saved in one turn", case, saved, target=_at_least(SAVED[mode], saved, size))
    right = _over(found, lambda each: 100 * fmean(turn.right for turn in each.fresh), "%")
    yield Row("turns given the right skill", case, right, target=_at_least(RIGHT, right, size))
    wrong = _over(found, lambda each: fmean(turn.wrong for turn in each.fresh), "a turn")
    yield Row("skills given that no label names", case, wrong)


def _apart(name: str, found: Sequence[Found]) -> Iterator[Row]:
    """The share of turns with the right skill again, where one large source and helpful questions don't decide."""
    turns = [turn for each in found for turn in each.fresh]
    sources = single(100 * macro((turn.asked.source, float(turn.right)) for turn in turns), "%")
    yield Row("turns given the right skill", f"{name}, mean over sources", sources)
    unnamed = [float(turn.right) for turn in turns if not turn.asked.names_skill]
    yield Row("turns given the right skill", f"{name}, skill not named", single(100 * fmean(unnamed), "%"))


def _of_talks(case: str, talking: Sequence[Sequence[Talk]]) -> Iterator[Row]:
    ours = _over(talking, lambda talks: fmean(talk.tokens for talk in talks), "tokens")
    theirs = _over(talking, lambda talks: fmean(talk.everything for talk in talks), "tokens")
    yield Row(f"tokens, {TURNS} turns of one conversation", case, ours, EVERYTHING, theirs)
    saved = _over(talking, lambda talks: fmean(100 * (1 - talk.tokens / talk.everything) for talk in talks), "%")
    yield Row(f"saved in {TURNS} turns", case, saved)
    right = _over(talking, lambda talks: 100 * fmean(talk.right / TURNS for talk in talks), "%")
    yield Row(f"calls of {TURNS} turns that hold the right skill", case, right)


def _over(pools: Sequence[T], of_one: Callable[[T], float], unit: str) -> Figure:
    """The median over pools, with the lowest and the highest."""
    values = [of_one(each) for each in pools]
    return Figure(median(values), min(values), max(values), unit)


def _at_least(percent: float, reached: Figure, size: int) -> Target | None:
    return Target(f">={percent:.0f}%", reached.median >= percent) if size == JUDGED else None
