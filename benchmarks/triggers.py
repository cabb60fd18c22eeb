"""Trigger match: which skills one message of 500 characters calls for, among growing numbers of triggers."""

import itertools
import random
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from made import made_message, made_phrases, with_other_scripts
from results import Effort, Row, Target, figure
from timing import Timing, interleaved, plain

from skillweave.dialogue import Message, Role, Turn
from skillweave.registry import Snapshot
from skillweave.select.index import SkillIndex, build_index
from skillweave.select.selection import select
from skillweave.skill import Skill, Triggers

PER_SKILL = 5
PLANTED = 3
MESSAGES = 20
MIXED_SIZE = 10_000
LOOP, KIND_LOOP, REGEXES = "plain loop", "that loop, lower-cased before", "regex per skill"

Match: TypeAlias = Callable[[str], set[str]]


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """skillweave's match beside the ways in use: `trigger in message`, and a compiled regex per skill."""
    sizes = (100, 1_000, 10_000) if effort is Effort.QUICK else (100, 1_000, 10_000, 100_000)
    samples = 9 if effort is Effort.QUICK else 41
    timings: dict[int, Timing] = {}
    for size in sizes:
        skills = _skills(size)
        messages = _messages(skills)
        contenders = _contenders(skills)
        _check(contenders, messages)
        times = await _timed(contenders, messages, samples)
        ours = timings[size] = times.pop("skillweave")
        for name, timing in times.items():
            target = _target(size, name, ours.median, timing.median)
            yield Row("trigger match", f"{size:,} triggers", figure(ours), name, figure(timing), target)
        if size == MIXED_SIZE:
            mixed = [with_other_scripts(message) for message in messages]
            _check(contenders, mixed)
            times = await _timed(contenders, mixed, samples)
            ours = times.pop("skillweave")
            for name, timing in times.items():
                yield Row("trigger match", f"{size:,} triggers, mixed scripts", figure(ours), name, figure(timing))
    yield _growth(timings[1_000], timings[sizes[-1]], sizes[-1])


async def _timed(contenders: Mapping[str, Match], messages: Sequence[str], samples: int) -> dict[str, Timing]:
    batches = {name: plain(_each(match, messages)) for name, match in contenders.items()}
    return await interleaved(batches, samples=samples, seconds=8.0)


def _contenders(skills: Sequence[Skill]) -> dict[str, Match]:
    return {
        "skillweave": _skillweave(skills),
        LOOP: _loop(skills),
        KIND_LOOP: _kind_loop(skills),
        REGEXES: _regexes(skills),
    }


def _target(size: int, rival: str, ours: float, theirs: float) -> Target | None:
    if size == 1_000:
        return Target("<50 µs", ours < 50e-6)
    if size == 10_000 and rival == LOOP:
        return Target("100x", theirs >= 100 * ours)
    if size == 100_000:
        return Target("<1 ms", ours < 1e-3)
    return None


def _growth(small: Timing, large: Timing, size: int) -> Row:
    factor = size // 1_000
    target = Target(f"<{factor}x the time", large.median < factor * small.median)
    return Row("trigger match", f"{size:,} beside 1,000", figure(large), "skillweave, 1,000", figure(small), target)


def _skills(triggers: int) -> list[Skill]:
    phrases = made_phrases(triggers)
    return [
        Skill(
            id=f"made-skill-{number:06}",
            name=f"Made Skill {number}",
            description="A skill that is only matched.",
            triggers=Triggers(keywords=tuple(phrases[number * PER_SKILL : (number + 1) * PER_SKILL])),
        )
        for number in range(triggers // PER_SKILL)
    ]


def _messages(skills: Sequence[Skill]) -> list[str]:
    rnd = random.Random(2)
    latin = [skill for skill in skills if skill.triggers.keywords[0].isascii()]
    return [
        made_message(rnd, [skill.triggers.keywords[0] for skill in rnd.sample(latin, PLANTED)]) for _ in range(MESSAGES)
    ]


def _each(match: Match, messages: Sequence[str]) -> Callable[[], object]:
    """One call matches one message, another one each time."""
    turns = itertools.cycle(messages)
    return lambda: match(next(turns))


def _skillweave(skills: Sequence[Skill]) -> Match:
    index: SkillIndex = build_index(Snapshot(MappingProxyType({skill.id: skill for skill in skills}), generation=1))

    def match(message: str) -> set[str]:
        turn = Turn("t", "c", Message(Role.USER, message))
        return {candidate.skill_id for candidate in select(index, turn, matchers=("triggers",)).chosen}

    return match


def _loop(skills: Sequence[Skill]) -> Match:
    def match(message: str) -> set[str]:
        text = message.lower()
        found = set()
        for skill in skills:
            for trigger in skill.triggers.keywords:
                if trigger.lower() in text:
                    found.add(skill.id)
                    break
        return found

    return match


def _kind_loop(skills: Sequence[Skill]) -> Match:
    lowered = [(skill.id, [trigger.lower() for trigger in skill.triggers.keywords]) for skill in skills]

    def match(message: str) -> set[str]:
        text = message.lower()
        found = set()
        for skill_id, triggers in lowered:
            for trigger in triggers:
                if trigger in text:
                    found.add(skill_id)
                    break
        return found

    return match


def _regexes(skills: Sequence[Skill]) -> Match:
    compiled = [
        (skill.id, re.compile(rf"\b(?:{'|'.join(map(re.escape, skill.triggers.keywords))})\b", re.IGNORECASE))
        for skill in skills
    ]

    def match(message: str) -> set[str]:
        return {skill_id for skill_id, pattern in compiled if pattern.search(message)}

    return match


def _check(contenders: Mapping[str, Match], messages: Sequence[str]) -> None:
    """That all find what was planted: skillweave exactly what regexes find, the loop at least that."""
    for message in messages[:3]:
        found = {name: match(message) for name, match in contenders.items()}
        if not (found["skillweave"] == found[REGEXES] <= found[LOOP]) or len(found["skillweave"]) < PLANTED:
            raise SystemExit(f"the trigger matches differ: { {name: len(ids) for name, ids in found.items()} }")
