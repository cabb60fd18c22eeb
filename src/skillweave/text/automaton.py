"""All phrases of all skills, found in one pass over the text (spec 2.2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ahocorasick_rs import AhoCorasick, MatchKind

from skillweave.text.boundary import edges_of, fits

WINDOW = 16_384
"""Folded characters searched at a time: bounds what the raw hits of one pass take in memory."""


class MatchMode(StrEnum):
    """`word`: between boundaries, as people read; `substring`: anywhere, also inside a word."""

    WORD = "word"
    SUBSTRING = "substring"


@dataclass(frozen=True, slots=True)
class Automaton:
    """Phrases by number, in the order in which they were given; frozen, safe to share between threads."""

    matcher: AhoCorasick | None
    edges: bytes
    lengths: tuple[int, ...]
    longest: int

    def find(self, text: str) -> dict[int, tuple[int, int]]:
        """The phrases that occur in the folded text, each with the span of its first occurrence."""
        if self.matcher is None:
            return {}
        found: dict[int, tuple[int, int]] = {}
        window = max(WINDOW, 4 * self.longest)
        if len(text) <= 2 * window:
            _keep_first(self.matcher.find_matches_as_indexes(text, overlapping=True), text, self.edges, 0, found)
            return found
        for begin in range(0, len(text), window):
            stretch = text[begin : begin + window + self.longest]
            hits = self.matcher.find_matches_as_indexes(stretch, overlapping=True)
            _keep_first(hits, text, self.edges, begin, found)
        return found


def compile_automaton(phrases: Iterable[tuple[str, MatchMode]]) -> Automaton:
    """An automaton over folded, non-empty phrases; memory grows with their total length (never the DFA kind)."""
    texts: list[str] = []
    edges = bytearray()
    for text, mode in phrases:
        texts.append(text)
        edges.append(edges_of(text) if mode is MatchMode.WORD else 0)
    lengths = tuple(map(len, texts))
    matcher = AhoCorasick(texts, matchkind=MatchKind.Standard, store_patterns=False) if texts else None
    return Automaton(matcher, bytes(edges), lengths, max(lengths, default=0))


def _keep_first(
    hits: list[tuple[int, int, int]], text: str, edges: bytes, offset: int, found: dict[int, tuple[int, int]]
) -> None:
    for phrase, start, end in hits:
        if phrase in found:
            continue
        start += offset
        end += offset
        if fits(text, start, end, edges[phrase]):
            found[phrase] = (start, end)
