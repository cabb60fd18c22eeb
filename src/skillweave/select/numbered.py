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


@dataclass(slots=True, eq=False)
class Texts:
    """Texts one after the other as the numbers of their words, and how many words each has."""

    numbers: "array[int]" = field(default_factory=lambda: array("i"))
    lengths: "array[int]" = field(default_factory=lambda: array("i"))

    def add(self, numbers: "array[int]") -> None:
        """One more text."""
        self.numbers.extend(numbers)
        self.lengths.append(len(numbers))


@dataclass(slots=True, eq=False)
class Numbered:
    """The texts of skills by position, the phrases with their owners, and the words by number.

    In `told` the brief of each skill stands before its body. Other words than those of the texts may have numbers too.
    """

    words: Sequence[str] = ()
    name: Texts = field(default_factory=Texts)
    told: Texts = field(default_factory=Texts)
    phrases: Texts = field(default_factory=Texts)
    owners: "array[int]" = field(default_factory=lambda: array("i"))

    def add(self, skill: SkillNumbers) -> None:
        """One more skill."""
        position = len(self.name.lengths)
        self.name.add(skill.name)
        self.told.add(skill.brief)
        self.told.add(skill.body)
        for phrase in skill.phrases:
            self.phrases.add(phrase)
            self.owners.append(position)


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
            numbered = Numbered(tuple(numbers))
            for skill in skills:
                numbered.add(self._known[skill])
            return numbered


_MOST_LEFT_OVER = 2
"""When a store knows so many times as many words as its skills have in all, most are left over from others."""


def number_terms(terms: Iterable[SkillTerms]) -> Numbered:
    """The words of skills of which the terms are known, with nothing kept."""
    numbers, numbered = _numbering(), Numbered()
    for one in terms:
        numbered.add(_numbers_of(one, numbers))
    numbered.words = tuple(numbers)
    return numbered


def _numbers_of(terms: SkillTerms, numbers: "defaultdict[str, int]") -> SkillNumbers:
    def numbered(words: Iterable[str]) -> "array[int]":
        found = array("i")
        found.fromlist(list(map(numbers.__getitem__, words)))  # twice as quick as `extend`
        return found

    return SkillNumbers(
        numbered(terms.name), numbered(terms.brief), numbered(terms.body), tuple(map(numbered, terms.phrases))
    )
