"""The file of phrases beside a library: what people would type, a line for each skill (spec 2.7)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillweave.diagnostics import Diagnostic, Location
from skillweave.skill import Skill
from skillweave.sources.codes import BAD_PHRASES
from skillweave.sources.files import Refused

FILE = "skillweave.phrases.jsonl"
"""Its name, in the folder of the library."""
MOST_PHRASES = 12
LONGEST_PHRASE = 200
"""Phrases of a skill, and characters of one, that are read: who writes more gains nothing."""
MOST_BYTES = 64 * 1024 * 1024
_FIX = 'write `{"id": ..., "phrases": [...]}`, or let `skillweave phrases write` do it'


@dataclass(frozen=True, slots=True)
class Phrases:
    """The phrases by skill id, and what is wrong with their file."""

    by_id: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    findings: tuple[Diagnostic, ...] = ()

    def given_to(self, skills: Sequence[Skill]) -> tuple[Skill, ...]:
        """The skills with their phrases; one that brings its own keeps those."""
        by_id = self.by_id
        if not by_id:
            return tuple(skills)
        return tuple(
            one if one.phrases or not (own := by_id.get(one.id)) else replace(one, phrases=own) for one in skills
        )


def phrases_in(data: bytes, place: str) -> Phrases:
    """What the file says; a line that cannot be read is a finding, and the others count."""
    by_id: dict[str, tuple[str, ...]] = {}
    findings: list[Diagnostic] = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            by_id[_text(row["id"])] = tuple(_kept(row["phrases"]))
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            why = f"line {number} of '{place}' is passed over: {type(error).__name__}: {error}"
            findings.append(BAD_PHRASES.found(Location(place, number), why[:300], _FIX))
    return Phrases(by_id, tuple(findings))


def unread_phrases(refused: Refused, place: str) -> Phrases:
    """No phrases, and why the file was not read."""
    message = f"'{place}' is not read, so that no skill has its phrases: {refused.why}"
    return Phrases(findings=(BAD_PHRASES.found(Location(place), message, refused.fix),))


def _kept(phrases: object) -> Iterator[str]:
    if not isinstance(phrases, list):
        raise TypeError("`phrases` is no list of texts")
    for phrase in phrases[:MOST_PHRASES]:
        if short := " ".join(_text(phrase)[:LONGEST_PHRASE].split()):
            yield short


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.60} is no text")
    return value
