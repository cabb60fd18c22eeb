"""Skills that all lead to each other, found without recursion and in linear time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

Links: TypeAlias = Mapping[str, Sequence[str]]
"""Names and the names that each leads to, all of them keys."""


def knots(links: Links) -> list[list[str]]:
    """The strongly connected components, those that are led to before those that lead there (Tarjan 1972)."""
    search = _Search(links)
    for name in links:
        if name not in search.number:
            search.run(name)
    return search.found


@dataclass(slots=True, eq=False)
class _Search:
    links: Links
    number: dict[str, int] = field(default_factory=dict)
    low: dict[str, int] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    found: list[list[str]] = field(default_factory=list)

    def run(self, start: str) -> None:
        path = [(start, self._enter(start))]
        while path:
            name, others = path[-1]
            new = next((other for other in others if self._is_new(name, other)), None)
            if new is not None:
                path.append((new, self._enter(new)))
                continue
            path.pop()
            if path:
                above = path[-1][0]
                self.low[above] = min(self.low[above], self.low[name])
            if self.low[name] == self.number[name]:
                self._close(name)

    def _enter(self, name: str) -> Iterator[str]:
        self.number[name] = self.low[name] = len(self.number)
        self.open[name] = None
        return iter(self.links[name])

    def _is_new(self, name: str, other: str) -> bool:
        if other not in self.number:
            return True
        if other in self.open:
            self.low[name] = min(self.low[name], self.number[other])
        return False

    def _close(self, name: str) -> None:
        knot: list[str] = []
        while not knot or knot[-1] != name:
            knot.append(self.open.popitem()[0])
        self.found.append(knot[::-1])
