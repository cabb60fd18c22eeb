"""Which earlier terms make later ones pointless: found through an index, not by comparing all with all."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import TypeAlias

from skillweave.graph.checkup.budget import Budget
from skillweave.graph.checkup.implied import implies, stands_in
from skillweave.graph.checkup.terms import Expression, Phrases, Terms
from skillweave.text.search import MatchMode, compile_automaton

Phrase: TypeAlias = tuple[str, MatchMode]
Handle: TypeAlias = Hashable
"""A key under which terms are kept, and under which everything that implies them looks."""

_IN_TOOL = "in tool"
_BARE = "bare"


def first_implied(wholes: Sequence[Terms | None], budget: Budget) -> Iterator[int | None]:
    """For each of the terms the place of the first before it that hold wherever it does; None for none, and for None.

    Terms that never hold are to be handed in as None.
    """
    inside = _phrases_inside(wholes)
    kept: defaultdict[Handle, list[int]] = defaultdict(list)
    for position, terms in enumerate(wholes):
        if terms is None:
            yield None
            continue

        def crowd(handles: Iterable[Handle]) -> int:
            return sum(len(kept.get(handle, ())) for handle in handles)

        candidates = merge(*(kept[handle] for handle in _looked_up(terms, inside, crowd) if handle in kept))
        yield _first(candidates, terms, wholes, budget)
        for handle in min(_keepable(terms), key=crowd):
            kept[handle].append(position)


def _first(candidates: Iterable[int], terms: Terms, wholes: Sequence[Terms | None], budget: Budget) -> int | None:
    before = None
    for candidate in candidates:
        other = wholes[candidate]
        if candidate == before or other is None:
            continue
        if not budget.take():
            return None
        if implies(terms, other):
            return candidate
        before = candidate
    return None


def _keepable(terms: Terms) -> Iterator[Sequence[Handle]]:
    """Sets of handles; terms kept under all handles of one set are found by everything that implies them."""
    if terms.points:
        yield from ([(place, point) for point in points] for place, points in terms.points.items())
        return
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield list(need.phrases) or [_BARE]
        else:
            yield [need, _IN_TOOL] if isinstance(need, Expression) and need.in_tool else [need]
    if not terms.needs:
        yield [next(iter(terms.values), _BARE)]


def _looked_up(
    terms: Terms, inside: Mapping[Phrase, Sequence[Phrase]], crowd: Callable[[Iterable[Handle]], int]
) -> Iterator[Handle]:
    """All handles under which terms may be kept that these imply.

    What is implied by one of several phrases is implied by each of them, so that one of them is enough to look under.
    """
    yield _BARE
    if terms.tools is not None:
        yield _IN_TOOL
    yield from terms.values
    yield from ((place, min(points)) for place, points in terms.points.items())
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield from min((inside[phrase] for phrase in need.phrases), key=crowd, default=())
        else:
            yield need


def _phrases_inside(wholes: Iterable[Terms | None]) -> Mapping[Phrase, Sequence[Phrase]]:
    """For each phrase those that stand in every message in which it does, itself among them."""
    needs = (need for terms in wholes if terms for need in terms.needs)
    phrases = dict.fromkeys(phrase for need in needs if isinstance(need, Phrases) for phrase in need.phrases)
    searched = [phrase for phrase in phrases if phrase[0]]
    automaton = compile_automaton(searched)
    return {
        phrase: [
            phrase,
            *(
                found
                for number in automaton.find(phrase[0])
                if (found := searched[number]) != phrase and stands_in(found, phrase)
            ),
        ]
        for phrase in phrases
    }
