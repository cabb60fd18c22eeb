"""Pools of real skills with the questions that their authors wrote for them, from the folders that a variable names."""

import os
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selection_pools import Corpus, Query, draw_library, load_corpus, load_queries

from skillweave.registry import Registry
from skillweave.skill import Skill
from skillweave.sources.folder import Folder

SELECTION, SAMPLE = "SKILLWEAVE_SELECTION", "SKILLWEAVE_SKILLS_SAMPLE"


@dataclass(frozen=True, slots=True)
class Asked:
    """One labelled question: the ids of the skills that its author meant."""

    text: str
    gold: frozenset[str]
    source: str
    names_skill: bool


@dataclass(frozen=True, slots=True)
class Pool:
    """A library, and the questions whose right skills are all in it."""

    skills: Sequence[Skill]
    asked: Sequence[Asked]


@dataclass(frozen=True, slots=True)
class Labelled:
    """Skills to draw pools from; `queries` name their right skills by position."""

    skills: Sequence[Skill]
    queries: Sequence[Query]

    def pools(self, size: int, count: int) -> list[Pool]:
        """So many seeded random pools of that size, at most three tenths of each somebody's right answer."""
        rng = random.Random(size)
        everything = list(range(len(self.skills)))
        golden = sorted(set().union(*(query.gold for query in self.queries)))
        return [self._pool(draw_library(everything, golden, size, rng)) for _ in range(count)]

    def _pool(self, library: Sequence[int]) -> Pool:
        inside = frozenset(library)
        asked = [
            Asked(query.text, frozenset(self.skills[gold].id for gold in query.gold), query.source, query.names_skill)
            for query in self.queries
            if query.gold <= inside
        ]
        return Pool([self.skills[position] for position in library], asked)


def folder_of(variable: str) -> Path | None:
    """The folder that the environment names, None where it names none that is there."""
    named = os.environ.get(variable)
    return Path(named) if named and Path(named).is_dir() else None


def corpus_and_queries(selection: Path) -> tuple[Labelled, Corpus]:
    """All skills of the selection data with the questions of its test split; bodies end after 4,000 characters."""
    corpus = load_corpus(selection)
    return Labelled(corpus.skills, load_queries(selection, "test", corpus)), corpus


async def whole_files(sample: Path, labelled: Labelled, corpus: Corpus) -> Labelled:
    """The skills of the sample as their files are, with the questions whose right skills are among them."""
    registry = Registry([Folder(sample)])
    await registry.refresh()
    skills = tuple(registry.snapshot.values())
    places = {_origin(skill, sample): place for place, skill in enumerate(skills)}
    here: dict[int, int] = {}
    for corpus_id, position in corpus.positions.items():
        repository, _, path = corpus_id.partition(":")
        if (place := places.get((repository, path.rpartition("/")[2]))) is not None:
            here[position] = place
    queries = [_moved(query, here) for query in labelled.queries if query.gold <= here.keys()]
    return Labelled(skills, queries)


def _moved(query: Query, here: dict[int, int]) -> Query:
    gold = frozenset(here[position] for position in query.gold)
    return Query(query.text, gold, query.source, query.kind, query.names_skill)


def _origin(skill: Skill, sample: Path) -> tuple[str, str]:
    """The repository and the folder that a skill of the sample comes from (`owner__name/folder/SKILL.md`)."""
    location = Path(skill.origin.location) if skill.origin else sample
    parts = location.parts[-3:-1]
    return (parts[0].replace("__", "/", 1), parts[1]) if len(parts) == 2 else ("", "")


def macro(shares: Iterable[tuple[str, float]]) -> float:
    """The mean over sources of the mean of each, so that one large source does not decide."""
    found: dict[str, list[float]] = {}
    for source, share in shares:
        found.setdefault(source, []).append(share)
    return sum(sum(values) / len(values) for values in found.values()) / max(1, len(found))
