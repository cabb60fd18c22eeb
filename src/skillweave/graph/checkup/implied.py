"""Proofs that one whole of terms never holds without another; what is not proved may still be so."""

from functools import lru_cache

from skillweave.graph.checkup.terms import Expression, Need, Phrases, Terms
from skillweave.text.search import MatchMode, edges_of, fits


def implies(terms: Terms, other: Terms) -> bool:
    """Whether wherever `terms` hold, `other` surely hold too."""
    for place, wanted in other.values.items():
        values = terms.values.get(place)
        if values is None or not values.within(wanted):
            return False
    return all(_has(terms, need) for need in other.needs)


def stands_in(phrase: tuple[str, MatchMode], longer: tuple[str, MatchMode]) -> bool:
    """Whether a message that has the longer phrase has the phrase too."""
    text, mode = phrase
    whole, whole_mode = longer
    if phrase == longer or (mode is MatchMode.SUBSTRING and text in whole):
        return True
    return whole_mode is MatchMode.WORD and mode is MatchMode.WORD and _as_word(text, whole)


def _has(terms: Terms, need: Need) -> bool:
    if need in terms.needs:
        return True
    if isinstance(need, Expression) and need.in_tool:
        tools = terms.tools
        return tools is not None and all(map(need.finds, tools))
    if isinstance(need, Phrases):
        own = (one.phrases for one in terms.needs if isinstance(one, Phrases))
        return any(all(any(stands_in(short, long) for short in need.phrases) for long in longs) for longs in own)
    return False


@lru_cache(maxsize=4096)
def _as_word(text: str, whole: str) -> bool:
    # Where the phrase ends with the longer one, both ask the same of the text around them: the last letters are equal.
    edges = edges_of(text)
    start = whole.find(text) if text else -1
    while start >= 0:
        if fits(whole, start, start + len(text), edges):
            return True
        start = whole.find(text, start + 1)
    return False
