"""Stems of words, so that `invoice`, `invoices` and `invoicing` meet, and how common each is among public skills."""

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from math import log1p
from threading import local
from typing import NamedTuple

from Stemmer import Stemmer

from skillweave.text.words import LIGHT_WORDS

LANGUAGE = "english"
"""What nearly all public skills are written in; words of other languages mostly stay as they are."""
DOCUMENTS = 5_656
"""Over so many public skills the common stems were counted (`benchmarks/count_stems.py`)."""
UNSEEN = 0.5
"""In how many of these a stem counts as standing that stands in fewer than were listed."""
LIGHT = 0.3
"""What part of its weight an everyday word keeps where it is asked whether a skill is meant."""

_DOUBLED = re.compile("[^aeiou][aeiou][^aeiouhwxy]$")
"""Verbs that may double their last letter, as `stop` does and `visit` does not."""
_HISSING = re.compile("(?:[sxzo]|ch|sh)$")
_own = local()


def stems_of(words: Sequence[str]) -> list[str]:
    """Return the stem of each folded word."""
    stemmer = getattr(_own, "stemmer", None)
    if stemmer is None:  # one per thread: it is not made to be shared. Looking up what it had before takes longer
        stemmer = _own.stemmer = Stemmer(LANGUAGE, 0)
    stems: list[str] = stemmer.stemWords(words)
    return stems


def inflected(verb: str) -> tuple[str, ...]:
    """Return how English inflects a folded verb, or the first word of several, where the stemmer knows the rule.

    `greet` also stands for `greets`, `greeted`, `greeting` and `greetings`; of a verb that is not written in plain
    letters there are no other forms.
    """
    first, *others = verb.split()
    if len(first) < 3 or not (first.isascii() and first.isalpha()):
        return ()
    cut = first[:-1]
    if first[-1] == "e":
        forms = [
            f"{first}s",
            f"{first}d",
            *(f"{first if cut[-1] == 'e' else cut}{ending}" for ending in ("ing", "ings")),
        ]
    elif first[-1] == "y" and cut[-1] not in "aeiou":
        forms = [f"{cut}ies", f"{cut}ied", f"{first}ing", f"{first}ings"]
    else:
        bases = (first, first + first[-1]) if _DOUBLED.search(first) else (first,)
        forms = [f"{first}{'es' if _HISSING.search(first) else 's'}"]
        forms += [f"{base}{ending}" for base in bases for ending in ("ed", "ing", "ings")]
    stem, *stems = stems_of([first, *forms])
    alike = (form for form, found in zip(forms, stems, strict=True) if found == stem and form != first)
    return tuple(" ".join((form, *others)) for form in alike)


class Commonness(NamedTuple):
    """In how many of DOCUMENTS public skills a stem stands, and in how many of their names and descriptions."""

    full: float
    brief: float


NEVER_SEEN = Commonness(UNSEEN, UNSEEN)


@lru_cache(maxsize=1)
def common_stems() -> dict[str, Commonness]:
    """The stems that stand in several public skills; read from a file at the first call, a few milliseconds."""
    found: dict[str, Commonness] = {}
    text = files("skillweave.text").joinpath("common_stems.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            full, brief, *stems = line.split()
            each = Commonness(2 ** (int(full) / 2), 2 ** (int(brief) / 2) if brief != "-" else UNSEEN)
            found.update(dict.fromkeys(stems, each))
    return found


@lru_cache(maxsize=1)
def light_stems() -> frozenset[str]:
    """The stems of everyday English words."""
    return frozenset(stems_of(sorted(LIGHT_WORDS)))


@lru_cache(maxsize=65_536)
def telling(stem: str) -> float:
    """How much a stem says by itself, from 0 to 1, whatever the library: the rarer among public skills the more."""
    share = rarity(common_stems().get(stem, NEVER_SEEN).full, DOCUMENTS) / _MOST
    return share * LIGHT if stem in light_stems() else share


def rarity(documents: float, among: float) -> float:
    """The inverse document frequency of what stands in so many documents."""
    return log1p((among - documents + 0.5) / (documents + 0.5))


_MOST = rarity(UNSEEN, DOCUMENTS)
