"""Labelled queries against libraries of several sizes, drawn from the selection benchmark's public skills."""

import gzip
import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from off_topic import MESSAGES

from skillweave.select.lexical_index import LexicalIndex, build_lexical_index
from skillweave.select.query import read_query
from skillweave.select.ranking import Ranking, rank
from skillweave.skill import Skill, SkillText, is_skill_id, title_of
from skillweave.text.search import fold_message

SIZES = {20: 60, 100: 30, 1_000: 8, 0: 1}
"""Skills in a library, 0 for all, and how many libraries of that size are drawn."""
SHARE_OF_GOLD = 0.3
"""How much of a drawn library may be skills that some query is labelled with, so that there is something to find."""
LARGE_REPOSITORIES = ("NVIDIA/skills", "coreyhaines31/marketingskills")
LONGEST_OF_A_PAIR = 200
PAIRS_PER_LIBRARY = 60
SMALL_SOURCE = 10
"""Sources with fewer queries are counted as one."""


@dataclass(frozen=True, slots=True)
class Query:
    """A labelled query; `gold` are positions in the corpus.

    `kind` is right, two (asks for two things), none (no right skill) or wrong (its gold must not be selected).
    """

    text: str
    gold: frozenset[int]
    source: str
    kind: str
    names_skill: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One query in one library: its ranking, with positions of the corpus."""

    size: int
    query: Query
    ranking: Ranking
    positions: Sequence[int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The benchmark's skills, their repositories, and positions by the benchmark's ids."""

    skills: tuple[Skill, ...]
    repositories: tuple[str, ...]
    positions: dict[str, int]


def load_corpus(folder: Path) -> Corpus:
    skills: list[Skill] = []
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows):
        name = row["name"]
        seen[name] += 1
        plain = is_skill_id(name) and seen[name] == 1
        skills.append(
            Skill(
                id=name if plain else f"skill-{number}",
                name=title_of(name),
                description=row["description"],
                spelling=None if plain else name,
                text=SkillText(instructions=row["body"]),
            )
        )
    return Corpus(tuple(skills), tuple(row["repo"] for row in rows), {row["id"]: n for n, row in enumerate(rows)})


def load_queries(folder: Path, split: str, corpus: Corpus) -> list[Query]:
    rows = [json.loads(line) for line in (folder / f"{split}.jsonl").read_text(encoding="utf-8").splitlines()]
    counts = Counter(row["source"] for row in rows)
    return [
        Query(
            row["query"],
            frozenset(corpus.positions[gold] for gold in row.get("gold") or row["not_gold"]),
            row["source"] if counts[row["source"]] >= SMALL_SOURCE else "others",
            "right" if "gold" in row else "wrong",
            row.get("names_skill", False),
        )
        for row in rows
    ]


def draw_cases(corpus: Corpus, queries: list[Query], negatives: list[Query], limit: int, seed: int) -> list[Case]:
    """Every query in every library where it has a right skill, and in libraries without its authors' skills."""
    rng = random.Random(seed)
    everything = list(range(len(corpus.skills)))
    off_topic = [Query(text, frozenset(), "off-topic", "none") for text in MESSAGES]
    cases: list[Case] = []
    for size, times in SIZES.items():
        for _ in range(times):
            library = draw_library(everything, sorted(set().union(*(query.gold for query in queries))), size, rng)
            inside = [query for query in queries if query.gold & set(library)]
            asked = [*inside, *_pairs(inside, rng), *negatives, *off_topic]
            cases += _cases(corpus, library, asked, size, limit)
        for authors in _author_groups(corpus, queries):
            strangers = [position for position in everything if corpus.repositories[position] not in authors]
            lost = [
                Query(query.text, frozenset(), query.source, "none")
                for query in queries
                if any(corpus.repositories[gold] in authors for gold in query.gold)
            ]
            for _ in range(max(1, times // 6)):
                library = sorted(rng.sample(strangers, min(size or len(strangers), len(strangers))))
                cases += _cases(corpus, library, lost, size, limit)
    return cases


def _author_groups(corpus: Corpus, queries: list[Query]) -> list[set[str]]:
    """Whose skills to leave out together: those of the two large authors, and those of all others with a query."""
    large = [{repository} for repository in LARGE_REPOSITORIES]
    return [*large, {corpus.repositories[gold] for query in queries for gold in query.gold}.difference(*large)]


def _pairs(queries: list[Query], rng: random.Random) -> list[Query]:
    """Short queries of different sources, two in one message."""
    short = [query for query in queries if len(query.text) < LONGEST_OF_A_PAIR]
    drawn = [rng.sample(short, 2) for _ in short[:PAIRS_PER_LIBRARY]] if len(short) > 1 else []
    return [
        Query(f"{first.text} Also, {second.text}", first.gold | second.gold, "pairs", "two")
        for first, second in drawn
        if first.source != second.source
    ]


def draw_library(everything: list[int], golden: list[int], size: int, rng: random.Random) -> list[int]:
    """So many positions in order, at most the share of gold among them from `golden`; all for size 0."""
    if not size:
        return everything
    inside = set(rng.sample(golden, min(len(golden), int(size * SHARE_OF_GOLD))))
    rest = [position for position in everything if position not in inside]
    return sorted(inside | set(rng.sample(rest, size - len(inside))))


def _cases(corpus: Corpus, library: list[int], queries: Iterable[Query], size: int, limit: int) -> list[Case]:
    index = build_lexical_index(corpus.skills[position] for position in library)
    return [Case(size, query, _ranked(index, query.text, limit), library) for query in queries]


def _ranked(index: LexicalIndex, text: str, limit: int) -> Ranking:
    return rank(index, read_query(fold_message(text)), limit)
