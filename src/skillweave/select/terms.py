"""The words of a skill by where they stand, as a pure function of the skill (spec 2.1)."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from skillweave.formats.host_keys import when_to_use_of
from skillweave.skill import Skill
from skillweave.text.words import STOP_WORDS, words_of

MOST_OF_BODY = 4_000
"""Characters of a body that are indexed: what a skill is about it says early, and more of it ranks no better."""
MOST_PHRASES = 64
MOST_REQUESTS = 12
"""So many examples or phrases of a skill count: who writes more gains nothing."""

_CAMEL = re.compile(r"[A-Za-z][A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*|[A-Z]{2,}[a-z][A-Za-z0-9]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHAPE = bytes(65 if 65 <= code <= 90 else 97 if chr(code).isalnum() else 32 for code in range(128)) + bytes(128)
_CHANGES = (b"aA", b"AAa")
"""Where the shape of a word in camel case goes up or down: rare in most texts, and quickly found."""
_QUOTED = re.compile(
    r"\"([^\"\n]{3,60})\"|“([^”\n]{3,60})”|‘([^’\n]{3,60})’|(?<!\w)'([^'\n]{3,60})'(?!\w)|`([^`\n]{3,60})`"
)


class SkillTerms(NamedTuple):
    """What is indexed of one skill: folded words in order.

    `phrases` are those that its description quotes, `requests` what people would type who need it.
    """

    name: tuple[str, ...]
    brief: tuple[str, ...]
    body: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    requests: tuple[tuple[str, ...], ...] = ()


def terms_of(skill: Skill) -> SkillTerms:
    """Return the words of a skill; the brief begins with those of the name."""
    names = _names(skill)
    told = "\n".join(brief_texts(skill))
    body = "\n".join(body_texts(skill))[:MOST_OF_BODY]
    quoted = [words_of(phrase) for phrase in _quoted(f"{skill.description}\n{when_to_use_of(skill) or ''}")]
    phrases = dict.fromkeys(tuple(dict.fromkeys(words)) for words in quoted if words)
    return SkillTerms(
        tuple(words_of("\n".join(names))),
        (*words_of(told), *humps_of(told)),
        (*words_of(body), *humps_of(body)),
        tuple(phrases)[:MOST_PHRASES],
        tuple(tuple(dict.fromkeys(words_of(request))) for request in requests_of(skill)),
    )


def requests_of(skill: Skill) -> tuple[str, ...]:
    """What people might type who need the skill: its author's examples, then the phrases written for the library."""
    return (*skill.triggers.examples, *skill.phrases)[:MOST_REQUESTS]


def humps_of(text: str) -> list[str]:
    """The folded parts of words in camel case: `useState` and `HTTPServer` have two each."""
    shape = text.encode("ascii", "replace").translate(_SHAPE)
    runs = sorted({run for change in _CHANGES for run in _runs_with(change, shape)})
    return [part for start, end in runs for part in _humps_of_run(text[start:end])]


def _runs_with(change: bytes, shape: bytes) -> Iterator[tuple[int, int]]:
    """The spans of the runs of letters and digits that have the change."""
    at = shape.find(change)
    while at >= 0:
        end = shape.find(b" ", at)
        end = len(shape) if end < 0 else end
        yield shape.rfind(b" ", 0, at) + 1, end
        at = shape.find(change, end)


@lru_cache(maxsize=8_192)
def _humps_of_run(run: str) -> tuple[str, ...]:
    """The parts of the words in camel case of one run of letters and digits."""
    parts = (part.lower() for word in _CAMEL.findall(run) for part in _HUMP.split(word))
    return tuple(part for part in parts if len(part) > 1 and part not in STOP_WORDS)


def brief_texts(skill: Skill) -> tuple[str, ...]:
    """What a skill says of itself in short: name, description, when to use it, declared triggers, phrases, tags."""
    triggers = skill.triggers
    return (
        *_names(skill),
        skill.description,
        *((use,) if (use := when_to_use_of(skill)) else ()),
        *triggers.keywords,
        *triggers.verbs,
        *requests_of(skill),
        *skill.domain_tags,
    )


def body_texts(skill: Skill) -> tuple[str, ...]:
    """The tier 2 text of a skill."""
    text = skill.text
    parts = (text.details, text.instructions, *text.steps, *text.requirements, *text.postconditions, text.output_format)
    return tuple(part for part in parts if part)


def _names(skill: Skill) -> tuple[str, ...]:
    spelled = skill.spelling or skill.id
    return (skill.name,) if set(words_of(spelled)) <= set(words_of(skill.name)) else (skill.name, spelled)


def _quoted(text: str) -> list[str]:
    return [next(group for group in match.groups() if group) for match in _QUOTED.finditer(text)]
