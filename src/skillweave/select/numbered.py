"""The words of skills as numbers: each skill is read once, however often the set of skills changes (spec 1.3)."""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from threading import Lock

import numpy as np

from skillweave.select.terms import SkillTerms, terms_of
from skillweave.skill import Skill

_AT_ONCE = 250_000
"""Numbers that are made narrow at once, so that no copy of all is made on the way."""


@dataclass(slots=True, eq=False)
class Texts:
    """Texts one after the other as the numbers of their words, and where each begins, with the end of the last."""

    numbers: "array[int]" = field(default_factory=lambda: array("i"))
    bounds: "array[int]" = field(default_factory=lambda: array("i", (0,)))

    def add(self, numbers: list[int]) -> None:
        """One more text."""
        self.numbers.fromlist(numbers)  # twice as quick as `extend`
        self.bounds.append(len(self.numbers))

    def take(self, other: "Texts", first: int, last: int) -> None:
        """Those texts of others from the first up to the last, which is not taken."""
        begin, end = other.bounds[first], other.bounds[last]
        bounds = np.array(other.bounds[first + 1 : last + 1], dtype=np.int32) + (len(self.numbers) - begin)
        for own, taken in ((self.numbers, other.numbers[begin:end]), (self.bounds, bounds)):
            own.frombytes(np.asarray(taken, dtype=np.int32).tobytes())

    def narrow(self, code: str) -> "Texts":
        """These texts with numbers of another type."""
        if code == self.numbers.typecode:
            return self
        numbers = array(code)
        for begin in range(0, len(self.numbers), _AT_ONCE):
            numbers.frombytes(np.array(self.numbers[begin : begin + _AT_ONCE], dtype=code).tobytes())
        return Texts(numbers, self.bounds)


@dataclass(slots=True, eq=False)
class Numbered:
    """The texts of skills by position, the phrases that they quote with their owners, and the words by number.

    `requests` are what people would type, `askers` whose each is. In `told` the brief of each skill stands before its
    body. Other words than those of the texts may have numbers too.
    """

    words: Sequence[str] = ()
    name: Texts = field(default_factory=Texts)
    told: Texts = field(default_factory=Texts)
    phrases: Texts = field(default_factory=Texts)
    requests: Texts = field(default_factory=Texts)
    owners: "array[int]" = field(default_factory=lambda: array("i"))
    askers: "array[int]" = field(default_factory=lambda: array("i"))

    @property
    def size(self) -> int:
        """How many skills there are."""
        return len(self.name.bounds) - 1

    def add(self, terms: SkillTerms, numbers: "defaultdict[str, int]") -> None:
        """One more skill."""
        self.owners.extend([self.size] * len(terms.phrases))
        self.askers.extend([self.size] * len(terms.requests))
        columns = ((self.phrases, terms.phrases), (self.requests, terms.requests))
        for texts, given in ((self.name, terms[:1]), (self.told, terms[1:3]), *columns):
            for words in given:
                texts.add(list(map(numbers.__getitem__, words)))

    def take(self, other: "Numbered", first: int, last: int) -> None:
        """Those skills of others from the first up to the last, which is not taken."""
        shift = self.size - first
        quoted, asked = self.phrases, self.requests
        for texts, own, given, theirs in (
            (quoted, self.owners, other.phrases, other.owners),
            (asked, self.askers, other.requests, other.askers),
        ):
            begin, end = bisect_left(theirs, first), bisect_left(theirs, last)
            own.extend(shift + owner for owner in theirs[begin:end])
            texts.take(given, begin, end)
        self.name.take(other.name, first, last)
        self.told.take(other.told, 2 * first, 2 * last)

    def narrow(self) -> "Numbered":
        """The texts in the least memory."""
        code = "H" if len(self.words) <= 1 << 16 else "i"
        name, told, phrases, requests = (
            each.narrow(code) for each in (self.name, self.told, self.phrases, self.requests)
        )
        return Numbered(self.words, name, told, phrases, requests, self.owners, self.askers)


def _numbering() -> "defaultdict[str, int]":
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


@dataclass(slots=True, eq=False)
class TermStore:
    """The words of the skills that were numbered last, so that only what is new or changed is read; for any thread."""

    _numbers: "defaultdict[str, int]" = field(default_factory=_numbering)
    _known: dict[Skill, int] = field(default_factory=dict)
    _kept: Numbered = field(default_factory=Numbered)
    _working: Lock = field(default_factory=Lock)

    def numbered(self, skills: Sequence[Skill]) -> Numbered:
        """The words of these skills; those of all others are forgotten."""
        with self._working:
            kept, numbered = self._kept, Numbered()
            if len(self._numbers) > _MOST_LEFT_OVER * (1 + len(kept.told.numbers)):
                self._numbers, self._known = _numbering(), {}
            places = [self._known.get(skill, -1) for skill in skills]
            runs = groupby(range(len(skills)), lambda at: place - at if (place := places[at]) >= 0 else None)
            for shift, run in runs:  # what stands together stays together
                here = list(run)
                if shift is not None:
                    numbered.take(kept, here[0] + shift, here[-1] + shift + 1)
                    continue
                for at in here:
                    numbered.add(terms_of(skills[at]), self._numbers)
            numbered.words = tuple(self._numbers)
            self._known, self._kept = {skill: place for place, skill in enumerate(skills)}, numbered.narrow()
            return self._kept


_MOST_LEFT_OVER = 2
"""When a store knows so many times as many words as its skills have in all, most are left over from others."""


def number_terms(terms: Iterable[SkillTerms]) -> Numbered:
    """The words of skills of which the terms are known, with nothing kept."""
    numbers, numbered = _numbering(), Numbered()
    for one in terms:
        numbered.add(one, numbers)
    numbered.words = tuple(numbers)
    return numbered
