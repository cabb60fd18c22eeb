"""What is wrong with triggers and descriptions, found by asking for each skill with its own words (spec 9)."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import log, sqrt
from typing import TYPE_CHECKING

from skillweave import Diagnostic, Message, Role, Turn
from skillweave.selection import LIGHT_WORDS, STOP_WORDS, BrokenPattern, compile_pattern, fold, words_of
from skillweave.skills import invocation_of, when_to_use_of
from skillweave.values import Code, Location
from skillweave_eval import codes
from skillweave_eval.answers import Answer, Level
from skillweave_eval.cases import CONVERSATION, Case
from skillweave_eval.ranking import Pair

if TYPE_CHECKING:
    from skillweave import Skill, Weaver
    from skillweave.selection import Selection

    AsyncFindings = AsyncIterator[Diagnostic]

ALIKE_FROM = 0.8
"""The cosine of two descriptions' words, rare ones counting more, from which they are told to be alike."""
FEWEST_WORDS = 3
"""Distinct words beside everyday ones that a description needs to be told from others."""
MOST_COMMON = 0.5
"""A word that stands in more than this share of all descriptions says nothing about one of them..."""
COMMON_FROM = 10
"""...where there are at least so many skills."""
NEAR_THE_TOP = 3
"""An own description leads to its skill when that is among so many of the ranking."""
LONGEST_SHOWN = 80
_NAMES = re.compile(r"[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)+")

OF_TRIGGERS = frozenset(
    {"broken-pattern", "empty-keyword", "long-keyword", "too-many-keywords", "too-many-patterns", "ascii-pattern"}
)
"""The codes that reading triggers already finds."""


async def findings_on(weaver: "Weaver", cases: Iterable[Case] = ()) -> tuple[Diagnostic, ...]:
    """Everything wrong with the triggers and descriptions of the active skills, whether a test is about it or not."""
    skills = [skill for skill in (await weaver.skills.snapshot()).active() if invocation_of(skill).by_model]
    found = [one for one in await weaver.skills.diagnostics() if one.code in OF_TRIGGERS]
    expected: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        for skill_id in case.expect or ():
            expected[skill_id].append(case.query)
    for skill in skills:
        found += [one async for one in _broken(weaver, skill)]
        found += _unproven(skill, expected[skill.id])
    frequencies = _frequencies(skills)
    ids = frozenset(skill.id for skill in skills)
    for skill in skills:
        if (why := _unspecific(skill, frequencies, len(skills))) is not None:
            found.append(_about(codes.UNSPECIFIC, skill, why, _SAY_MORE))
        elif (rivals := await _dead(weaver, skill, ids)) is not None:
            found.append(_dead_description(skill, rivals))
    return (*found, *_shared(skills), *alike(skills))


_SAY_MORE = "say what the skill does and when it is wanted, in the words of those who will ask for it"


async def _broken(weaver: "Weaver", skill: "Skill") -> "AsyncFindings":
    triggers = skill.triggers
    declared = (("keyword", triggers.keywords), ("verb", triggers.verbs), ("example", triggers.examples))
    for kind, phrases in declared:
        for phrase in phrases:
            if not fold(phrase).strip():
                continue  # reading it has said so
            selection = await weaver.skills.match(_said(phrase))
            level = _level(selection, skill.id)
            if level is Level.GIVEN or (level is Level.OFFERED and kind == "example"):
                continue
            why = _why(selection, skill.id)
            fix = f"change the {kind}, or what stands in its way; whoever says it is meant to get the skill"
            yield _about(
                codes.BROKEN_TRIGGER, skill, f"the {kind} {_shown(phrase)} does not select {skill.id!r}: {why}", fix
            )


def _said(text: str) -> Turn:
    return Turn("finding", CONVERSATION, Message(Role.USER, text))


def _level(selection: "Selection", skill_id: str) -> Level:
    if any(one.skill_id == skill_id for one in selection.chosen):
        return Level.GIVEN
    return Level.OFFERED if any(one.skill_id == skill_id for one in selection.offered) else Level.SILENT


def _why(selection: "Selection", skill_id: str) -> str:
    """Why a skill was not chosen, and who was in its place."""
    reasons = [one.reason for one in selection.rejected if one.candidate.skill_id == skill_id]
    others = [one.skill_id for one in selection.chosen]
    told = [reasons[0] if reasons else "nothing in it speaks for the skill"]
    if others:
        told.append(f"it selects {', '.join(map(repr, others[:3]))}")
    return "; ".join(told)


def _unproven(skill: "Skill", queries: Sequence[str]) -> Iterator[Diagnostic]:
    """Patterns that nothing shows to work, where there is something that could show it."""
    phrases = (*skill.triggers.examples, *queries)
    for source in skill.triggers.patterns if phrases else ():
        try:
            pattern = compile_pattern(source)
        except BrokenPattern:
            continue
        if not any(pattern.search(phrase.encode()) for phrase in phrases):
            message = (
                f"the pattern {_shown(source)} of {skill.id!r} matches none of its {len(phrases)} examples and tests"
            )
            yield _about(codes.UNPROVEN_PATTERN, skill, message, "correct it, or add an example that it is for")


def _unspecific(skill: "Skill", frequencies: Mapping[str, int], skills: int) -> str | None:
    words = _telling(skill)
    if not words:
        return f"the description of {skill.id!r} is empty or has everyday words only: {_shown(skill.description)}"
    common = skills * MOST_COMMON if skills >= COMMON_FROM else skills
    own = [word for word in words if frequencies[word] <= common]
    if len(own) >= FEWEST_WORDS:
        return None
    only = f"only {', '.join(sorted(own))}" if own else "nothing"
    return f"the description of {skill.id!r} has {only} that tells it from others: {_shown(skill.description)}"


def _telling(skill: "Skill") -> set[str]:
    """The distinct words of a description beside everyday ones."""
    text = f"{skill.description}\n{when_to_use_of(skill) or ''}"
    return {word for word in words_of(text) if word not in STOP_WORDS and word not in LIGHT_WORDS and len(word) > 1}


def _frequencies(skills: Iterable["Skill"]) -> Mapping[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for skill in skills:
        for word in _telling(skill):
            counts[word] += 1
    return counts


async def _dead(weaver: "Weaver", skill: "Skill", ids: frozenset[str]) -> list[str] | None:
    """The skills that an own description leads to instead of its own; None where it leads there.

    Where it sends a reader to another skill by its id, that is no word about what it is for.
    """
    others = ids - {skill.id}
    text = _NAMES.sub(lambda name: "" if name[0] in others else name[0], skill.description)
    selection = await weaver.skills.match(_said(text))
    ranked = [*selection.chosen, *selection.offered, *(one.candidate for one in selection.rejected)]
    first = list(dict.fromkeys(one.skill_id for one in ranked))[:NEAR_THE_TOP]
    found = _level(selection, skill.id) is not Level.SILENT or skill.id in first
    return None if found else first


def _dead_description(skill: "Skill", rivals: Sequence[str]) -> Diagnostic:
    instead = f"it leads to {', '.join(map(repr, rivals))}" if rivals else "it leads nowhere"
    message = f"the description of {skill.id!r} does not lead to it: {instead}"
    return _about(codes.DEAD_DESCRIPTION, skill, message, _SAY_MORE)


def _shared(skills: Sequence["Skill"]) -> Iterator[Diagnostic]:
    owners: dict[str, dict[str, Skill]] = defaultdict(dict)
    for skill in skills:
        for phrase in (*skill.triggers.keywords, *skill.triggers.verbs):
            owners[" ".join(fold(phrase).split())][skill.id] = skill
    for phrase, sharing in owners.items():
        if phrase and len(sharing) > 1:
            first = next(iter(sharing.values()))
            message = f"the keyword {_shown(phrase)} is declared by {', '.join(map(repr, sharing))}: all of them fire"
            yield _about(codes.SHARED_TRIGGER, first, message, "keep it where it belongs, or say more in each")


def alike(skills: Sequence["Skill"], least: float = ALIKE_FROM) -> Iterator[Diagnostic]:
    """Pairs of skills whose descriptions have nearly the same words, the most alike first."""
    for cosine, first, second in sorted(_cosines(skills, least), key=lambda found: -found[0]):
        message = f"the descriptions of {first.id!r} and {second.id!r} are alike ({cosine:.0%} by their words)"
        fix = "say in each what the other is not for, or make one skill of them"
        yield _about(codes.ALIKE, first, message, fix)


def _cosines(skills: Sequence["Skill"], least: float) -> Iterator[tuple[float, "Skill", "Skill"]]:
    """Only skills with a word in common that not everybody has are compared."""
    frequencies = _frequencies(skills)
    weights = [{word: log(1 + len(skills) / frequencies[word]) for word in _telling(skill)} for skill in skills]
    lengths = [sqrt(sum(weight**2 for weight in each.values())) for each in weights]
    holders: dict[str, list[int]] = defaultdict(list)
    for number, each in enumerate(weights):
        # The rarest words make up most of the length: two that are alike share one of them.
        for word in sorted(each, key=lambda word: (-each[word], word))[: len(each) // 2 + 1]:
            holders[word].append(number)
    pairs = {pair for held in holders.values() if len(held) <= MOST_HOLDERS for pair in combinations(held, 2)}
    for first, second in sorted(pairs):
        one, other = weights[first], weights[second]
        product = sum(weight * other[word] for word, weight in one.items() if word in other)
        if product >= least * lengths[first] * lengths[second]:
            yield product / (lengths[first] * lengths[second]), skills[first], skills[second]


MOST_HOLDERS = 200
"""A word that more descriptions have among their rarest is not looked at: it would pair them all."""


def in_tests(skills: Mapping[str, "Skill"], answers: Sequence[Answer], pairs: Sequence[Pair]) -> Iterator[Diagnostic]:
    """What the tests show: skills that compete, that are never found, queries that nothing claims."""
    for pair in pairs:
        if pair.first in skills:
            count = "1 query" if len(pair.queries) == 1 else f"{len(pair.queries)} queries"
            message = f"{pair.first!r} and {pair.second!r} compete: {count}"
            fix = "say in each description what the other is for, or declare `never` phrases"
            yield _about(codes.COMPETING, skills[pair.first], message, fix)
    asked: dict[str, list[Level]] = defaultdict(list)
    for answer in answers:
        for skill_id in answer.case.expect or ():
            asked[skill_id].append(answer.level(skill_id))
    for skill_id, levels in asked.items():
        if skill_id in skills and set(levels) == {Level.SILENT}:
            message = f"none of the tests that expect {skill_id!r} finds it ({len(levels)})"
            yield _about(codes.NEVER_FOUND, skills[skill_id], message, _SAY_MORE)
    for answer in answers:
        if answer.case.expect and not answer.given and not answer.offered:
            message = f"nothing claims {_shown(answer.case.query)}, which expects {', '.join(answer.case.expect)}"
            found = codes.UNCLAIMED.found(answer.case.place or Location(answer.case.id), message, _SAY_MORE)
            yield found


def _about(code: Code, skill: "Skill", message: str, fix: str) -> Diagnostic:
    place = Location(skill.origin.location if skill.origin else skill.id)
    return replace(code.found(place, message, fix), skill=skill.id)


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")
