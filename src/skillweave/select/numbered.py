"""The words of skills as numbers: each skill is read once, however often the set of skills changes (spec 1.3)."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from skillweave.select.terms import SkillTerms, terms_of
from skillweave.skill import Skill


class SkillNumbers(NamedTuple):
    """The words of one skill by where they stand, each as its number; see `SkillTerms`."""

    name: "array[int]"
    brief: "array[int]"
    body: "array[int]"
    phrases: "tuple[array[int], ...]"


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """Skills by position, and the words by number; other words than theirs may have numbers too."""

    words: Sequence[str]
    skills: Sequence[SkillNumbers]


def _numbering() -> "defaultdict[str, int]":
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(slots=True, eq=False)
class TermStore:
    """The words of the skills that were numbered last, so that only what is new or changed is read; for any thread."""

    _numbers: "defaultdict[str, int]" = field(default_factory=_numbering)
    _known: dict[Skill, SkillNumbers] = field(default_factory=dict)
    _working: Lock = field(default_factory=Lock)

    def numbered(self, skills: Sequence[Skill]) -> Numbered:
        """The words of these skills; those of all others are forgotten."""
        with self._working:
            known = self._known
            if len(self._numbers) > _MOST_LEFT_OVER * (1 + sum(len(one.body) for one in known.values())):
                self._numbers, known = _numbering(), {}
            numbers = self._numbers
            self._known = {skill: known.get(skill) or _numbers_of(terms_of(skill), numbers) for skill in skills}
            return Numbered(tuple(numbers), [self._known[skill] for skill in skills])


_MOST_LEFT_OVER = 2
"""When a store knows so many times as many words as its skills have in all, most are left over from others."""


def number_skills(skills: Iterable[Skill]) -> Numbered:
    """The words of these skills, with nothing kept."""
    return number_terms(map(terms_of, skills))


def number_terms(terms: Iterable[SkillTerms]) -> Numbered:
    """The words of skills of which the terms are known."""
    numbers = _numbering()
    skills = [_numbers_of(one, numbers) for one in terms]
    return Numbered(tuple(numbers), skills)


def _numbers_of(terms: SkillTerms, numbers: "defaultdict[str, int]") -> SkillNumbers:
    number = numbers.__getitem__
    return SkillNumbers(
        array("i", map(number, terms.name)),
        array("i", map(number, terms.brief)),
        array("i", map(number, terms.body)),
        tuple(array("i", map(number, phrase)) for phrase in terms.phrases),
    )
