"""Which names of a graph lead to each other, for skills and for the wiring of skill graphs."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Links: TypeAlias = Mapping[str, Sequence[str]]
"""Names and the names that each leads to, all of them keys."""


def strong_components(links: Links) -> list[list[str]]:
    """The strongly connected components in the order of the keys; linear, and without recursion (Kosaraju)."""
    back: dict[str, list[str]] = {name: [] for name in links}
    for name, others in links.items():
        for other in others:
            back[other].append(name)
    finished: list[str] = []
    seen: set[str] = set()
    for start in links:
        walk(start, links, seen, finished)
    component_of: dict[str, str] = {}
    seen.clear()
    for start in reversed(finished):
        members: list[str] = []
        walk(start, back, seen, members)
        component_of.update(dict.fromkeys(members, start))
    components: dict[str, list[str]] = {}
    for name in links:
        components.setdefault(component_of[name], []).append(name)
    return list(components.values())


def walk(start: T, links: Mapping[T, Sequence[T]], seen: set[T], finished: list[T]) -> None:
    """Visit what was not seen yet, depth first; names are added to `finished` when the walk leaves them."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(links[start]))]
    while path:
        new = next((other for other in path[-1][1] if other not in seen), None)
        if new is None:
            finished.append(path.pop()[0])
        else:
            seen.add(new)
            path.append((new, iter(links[new])))
