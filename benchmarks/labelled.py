"""Labelled messages over public skills, and the features of what is ranked for them, to fit and to judge selection."""

import asyncio
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from off_topic import MESSAGES
from selection_pools import Corpus, load_corpus

from skillweave.embedders import embedder_of
from skillweave.registry import Registry
from skillweave.select.hybrid import whole_text, windows_of
from skillweave.select.lexical_index import LexicalIndex, index_terms
from skillweave.select.query import Query, read_query
from skillweave.select.ranking import ALIKE, Ranking, rank
from skillweave.select.terms import SkillTerms, requests_of, terms_of
from skillweave.skill import Skill
from skillweave.sources.folder import Folder
from skillweave.text.search import fold_message

LIMIT, LIMIT_OF_SMALL = 14, 5
"""So many of the best ranked are labelled, and in a library that was drawn at random."""
POOLS = {20: 40, 100: 12, 1_000: 2}
"""Skills in a random library, and how many such libraries are drawn from the selection corpus."""
REQUEST_POOLS = {20: 20, 100: 8, 400: 3}


@dataclass(frozen=True, slots=True)
class Message:
    """A message with the positions of the skills that are right for it, and of those that do no harm.

    `group` is equal for messages about the same skill; `bad` are skills that must not be given. `asked` are the vectors
    of its windows, None without an embedder.
    """

    query: Query
    gold: frozenset[int]
    fine: frozenset[int]
    bad: frozenset[int]
    source: str
    group: str
    text: str = ""
    asked: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """Skills, their terms, messages about them, and the vectors of each skill, None without an embedder."""

    skills: Sequence[Skill]
    terms: Sequence[SkillTerms]
    messages: Sequence[Message]
    vectors: Sequence[NDArray[np.float32]] | None = None

    def embedded(self, embedder: str) -> "Labelled":
        """The same with the vectors that an embedder gives."""
        return replace(
            self,
            messages=embedded(self.messages, embedder),
            vectors=[_vectors(embedder, [whole_text(skill), *requests_of(skill)]) for skill in self.skills],
        )


@dataclass(frozen=True, slots=True)
class Row:
    """One ranked skill for one message: its features and whether it is right; None where nobody can say."""

    features: tuple[float, ...]
    right: bool | None
    message: Message
    place: int
    position: int


def requests(folder: Path, sample: Path, phrases: int = 0) -> Labelled:
    """Messages in everyday words over whole skill files, with so many phrases of each skill."""
    skills = sample_of(folder, sample, phrases)
    places = {skill.id: place for place, skill in enumerate(skills)}
    rows = _read(folder / "dev.jsonl")
    messages = [
        Message(
            read_query(fold_message(row["message"]), row.get("before", [])),
            frozenset(places[one] for one in row["gold"] if one in places),
            frozenset(places[one] for one in row["also_fine"] if one in places),
            frozenset(),
            row["kind"],
            row["gold"][0] if row["gold"] else row["id"],
            row["message"],
        )
        for row in rows
    ]
    return Labelled(skills, [terms_of(skill) for skill in skills], messages)


def sample_of(folder: Path, sample: Path, phrases: int) -> Sequence[Skill]:
    """The skills of the sample, with so many of the phrases of each."""

    async def load() -> Sequence[Skill]:
        registry = Registry([Folder(sample)])
        await registry.refresh()
        return registry.snapshot.active()

    written = {str(row["id"]): tuple(row["requests"][:phrases]) for row in _read(folder / "phrases.jsonl")}
    return [replace(skill, phrases=written.get(skill.id, ())) for skill in asyncio.run(load())]


def authors(labelled: Labelled, folder: Path, *splits: str) -> Labelled:
    """The authors' prompts whose skill, known by its description, is one of the labelled."""
    texts = {one.description: place for place, one in enumerate(load_corpus(folder).skills)}
    here = {texts[one.description]: place for place, one in enumerate(labelled.skills) if one.description in texts}
    messages = [
        replace(message, gold=gold, fine=frozenset(), bad=frozenset())
        for message in selection(folder, *splits).messages
        if (gold := frozenset(here[one] for one in message.gold if one in here))
    ]
    return replace(labelled, messages=messages)


def selection(folder: Path, *splits: str) -> Labelled:
    """The authors' own prompts over the selection corpus; what must not be selected is `bad`."""
    corpus: Corpus = load_corpus(folder)
    messages = [
        Message(
            read_query(fold_message(row["query"])),
            frozenset(corpus.positions[one] for one in row.get("gold", ())),
            frozenset(),
            frozenset(corpus.positions[one] for one in row.get("not_gold", ())),
            row.get("source", split),
            corpus.repositories[corpus.positions[(row.get("gold") or row["not_gold"])[0]]],
            row["query"],
        )
        for split in splits
        for row in _read(folder / f"{split}.jsonl")
    ]
    return Labelled(corpus.skills, [terms_of(skill) for skill in corpus.skills], messages)


def off_topic() -> list[Message]:
    """Messages that call for no skill."""
    return [
        Message(read_query(fold_message(text)), frozenset(), frozenset(), frozenset(), "off-topic", text, text)
        for text in MESSAGES
    ]


def rows_of(
    labelled: Labelled, index: LexicalIndex, library: Sequence[int], messages: Iterable[Message], limit: int = LIMIT
) -> list[Row]:
    """The best ranked of a library for each message; `library` are positions, ascending."""
    places = {position: place for place, position in enumerate(library)}
    rows: list[Row] = []
    for message in messages:
        gold = {places[one] for one in message.gold if one in places}
        best = rank(index, message.query, limit, None, _nearness(labelled, library, message)).best
        for place, ranked in enumerate(best):
            position = library[ranked.position]
            like = any(index.likeness(ranked.position, one) >= ALIKE for one in gold)
            rows.append(Row(ranked.features, _right(message, position, like=like), message, place, position))
    return rows


def embedded(messages: Iterable[Message], embedder: str) -> list[Message]:
    """The messages with the vectors that an embedder gives of their windows."""
    return [replace(one, asked=_vectors(embedder, list(windows_of(one.text)))) for one in messages]


def _vectors(embedder: str, texts: Sequence[str]) -> NDArray[np.float32]:
    found = asyncio.run(embedder_of(embedder).embed(texts))
    return np.asarray(found, dtype=np.float32)


def _nearness(labelled: Labelled, library: Sequence[int], message: Message) -> NDArray[np.float32] | None:
    if labelled.vectors is None or message.asked is None:
        return None
    rows = [labelled.vectors[position] for position in library]
    begins = np.array([0, *map(len, rows[:-1])]).cumsum()
    near: NDArray[np.float32] = np.maximum.reduceat((np.concatenate(rows) @ message.asked.T).max(axis=1), begins)
    return near


def _right(message: Message, position: int, *, like: bool) -> bool | None:
    if position in message.gold:
        return True
    if message.bad:
        return False if position in message.bad else None
    return None if like or (position in message.fine and message.gold) else False


def pools(labelled: Labelled, sizes: dict[int, int], seed: int) -> Iterable[tuple[int, list[int]]]:
    """Random libraries; three tenths at most are somebody's right skill."""
    rng = random.Random(seed)
    everything = list(range(len(labelled.skills)))
    golden = sorted(set().union(*(message.gold | message.bad for message in labelled.messages)))
    for size, times in sizes.items():
        for _ in range(times):
            inside = set(rng.sample(golden, min(len(golden), int(size * 0.3))))
            rest = [position for position in everything if position not in inside]
            yield size, sorted(inside | set(rng.sample(rest, size - len(inside))))


def index_of(labelled: Labelled, library: Sequence[int]) -> LexicalIndex:
    """The index of a library of positions."""
    return index_terms([labelled.terms[position] for position in library])


def best_of(ranking: Ranking) -> list[int]:
    """The positions in a ranking, best first."""
    return [ranked.position for ranked in ranking.best]


def _read(file: Path) -> list[dict[str, list[str]]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
