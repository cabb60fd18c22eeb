"""Selection on labelled queries over thousands of public skills: what is ranked, and what is dared to be selected."""

import gzip
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import pytest

from skillweave import Skill
from skillweave.select.index import SkillIndex
from skillweave.selection import Selection
from skillweave.skill import is_skill_id, title_of
from skillweave.skills import SkillText
from tests.asking import ask, index_of

BM25_RECALL_AT_3 = 0.797
"""What BM25 over name, description and body gives on the same queries."""


@dataclass(frozen=True, slots=True)
class Library:
    index: SkillIndex
    names: dict[str, str]


@dataclass(frozen=True, slots=True)
class Answer:
    selection: Selection
    gold: frozenset[str]
    source: str
    names_skill: bool

    def ranked(self) -> list[str]:
        refused = [each.candidate.skill_id for each in self.selection.rejected]
        shown = (*self.selection.chosen, *self.selection.offered)
        return [each.skill_id for each in shown] + refused

    def recall(self, depth: int) -> float:
        return len(self.gold & set(self.ranked()[:depth])) / len(self.gold)

    def right(self) -> int:
        return sum(each.skill_id in self.gold for each in self.selection.chosen)


@pytest.fixture(scope="module")
def library(selection_data: Path) -> Library:
    with gzip.open(selection_data / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    skills: list[Skill] = []
    seen: Counter[str] = Counter()
    for number, row in enumerate(rows):
        name = row["name"]
        seen[name] += 1
        plain = is_skill_id(name) and seen[name] == 1
        skill_id = name if plain else f"skill-{number}"
        text = SkillText(instructions=row["body"])
        spelling = None if plain else name
        skills.append(Skill(skill_id, title_of(name), row["description"], text=text, spelling=spelling))
    return Library(index_of(*skills), {row["id"]: skill.id for row, skill in zip(rows, skills, strict=True)})


def answers(library: Library, file: Path, label: str) -> list[Answer]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [
        Answer(
            ask(library.index, row["query"]),
            frozenset(library.names[gold] for gold in row[label]),
            row["source"],
            row.get("names_skill", False),
        )
        for row in rows
    ]


def macro(given: Iterable[Answer], depth: int) -> float:
    sources: defaultdict[str, list[float]] = defaultdict(list)
    for answer in given:
        sources[answer.source].append(answer.recall(depth))
    return fmean(fmean(values) for values in sources.values())


def test_the_default_ranks_at_least_as_well_as_plain_bm25(
    library: Library, selection_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = answers(library, selection_data / "test.jsonl", "gold")
    must_not = answers(library, selection_data / "negatives.jsonl", "not_gold")
    unnamed = [answer for answer in asked if not answer.names_skill]
    recalls = {depth: fmean(answer.recall(depth) for answer in asked) for depth in (1, 3, 5)}
    selected = sum(len(answer.selection.chosen) for answer in asked)
    lines = (
        f"\n{len(asked)} queries over {len(library.names)} skills",
        "  ranked: " + ", ".join(f"recall@{depth} {recall:.3f}" for depth, recall in recalls.items()),
        f"  ranked, macro over sources: recall@3 {macro(asked, 3):.3f}",
        f"  ranked, skill not named ({len(unnamed)}): recall@3 {fmean(each.recall(3) for each in unnamed):.3f}",
        f"  selected: {selected / len(asked):.2f} a query",
        f"  selected: recall {fmean(bool(each.right()) for each in asked):.3f}",
        f"  selected: precision {sum(each.right() for each in asked) / selected:.3f}",
        f"  skill that must not be selected ({len(must_not)}): {fmean(bool(each.right()) for each in must_not):.3f}\n",
    )
    with capsys.disabled():
        sys.stdout.write("\n".join(lines))
    assert recalls[3] >= BM25_RECALL_AT_3
