"""Skills that require each other in a circle, which is usually a slip; a mutual pair is not (spec 4.1)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

Links: TypeAlias = Mapping[str, Sequence[str]]
"""Names and the names that each points to, all of them keys."""

_SMALLEST = 3


def circles(links: Links) -> tuple[tuple[str, ...], ...]:
    """The sets of names on circles of three or more, each in the order of the keys; linear in names and links."""
    knots: dict[str, list[str]] = {}
    for name, knot in _knots(links).items():
        knots.setdefault(knot, []).append(name)
    return tuple(tuple(knot) for knot in knots.values() if len(knot) >= _SMALLEST and not _only_pairs(knot, links))


def _knots(links: Links) -> dict[str, str]:
    # Kosaraju, without recursion: a chain of 10,000 skills must not end at the interpreter's stack limit.
    back: dict[str, list[str]] = {name: [] for name in links}
    for name, others in links.items():
        for other in others:
            back[other].append(name)
    knot_of: dict[str, str] = {}
    seen: set[str] = set()
    finished = [name for start in links for name in _finished_first(start, links, seen)]
    for start in reversed(finished):
        for name in _reached(start, back, knot_of):
            knot_of[name] = start
    return {name: knot_of[name] for name in links}


def _finished_first(start: str, links: Links, seen: set[str]) -> Iterator[str]:
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(links[start]))]
    while path:
        name, others = path[-1]
        new = next((other for other in others if other not in seen), None)
        if new is None:
            path.pop()
            yield name
        else:
            seen.add(new)
            path.append((new, iter(links[new])))


def _reached(start: str, links: Links, taken: Mapping[str, str]) -> list[str]:
    if start in taken:
        return []
    reached = {start: None}
    waiting = [start]
    while waiting:
        for other in links[waiting.pop()]:
            if other not in reached and other not in taken:
                reached[other] = None
                waiting.append(other)
    return list(reached)


def _only_pairs(knot: Sequence[str], links: Links) -> bool:
    # Names that hang together by mutual pairs alone have no longer circle only when those pairs form a tree.
    members = set(knot)
    inner = {(name, other) for name in knot for other in links[name] if other in members and other != name}
    return len(inner) == 2 * (len(members) - 1) and all((other, name) in inner for name, other in inner)
