"""Print what is ranked, given and offered for labelled messages, with intervals, and what each part brings.

    SKILLWEAVE_SELECTION=... SKILLWEAVE_REQUESTS=... SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/selection_quality.py

The requests are development data, that is, fitted on; `test` of the selection data is not. Intervals are paired
bootstraps of 95%.
"""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean
from types import MappingProxyType

import numpy as np
from selection_pools import load_corpus

from skillweave import Message, Role, Skill, Turn
from skillweave.registry import Registry, Snapshot
from skillweave.select import asked as asking
from skillweave.select import ranking as ranking_room
from skillweave.select.index import SkillIndex, build_index
from skillweave.select.lexical_index import RANKED, Channel
from skillweave.select.selection import select
from skillweave.selection import Selection
from skillweave.sources.folder import Folder

DRAWS = 2_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, what was said before, the ids that are right, that do no harm, and that must not be given."""

    text: str
    before: Sequence[str]
    gold: frozenset[str]
    fine: frozenset[str]
    bad: frozenset[str]
    source: str


def main() -> None:
    skills = asyncio.run(_sample(Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"])))
    library = index_of(skills)
    requests = [
        Asked(row["message"], row.get("before", ()), *map(frozenset, (row["gold"], row["also_fine"], ())), row["kind"])
        for row in _read(Path(os.environ["SKILLWEAVE_REQUESTS"]) / "dev.jsonl")
    ]
    folder = Path(os.environ["SKILLWEAVE_SELECTION"])
    corpus = load_corpus(folder)
    ids = {key: corpus.skills[place].id for key, place in corpus.positions.items()}
    large = index_of(corpus.skills)
    splits = {
        name: [
            Asked(
                row["query"],
                (),
                frozenset(ids[one] for one in row.get("gold", ())),
                frozenset(),
                frozenset(ids[one] for one in row.get("not_gold", ())),
                row.get("source", ""),
            )
            for row in _read(folder / f"{name}.jsonl")
        ]
        for name in ("dev", "test", "negatives")
    }
    print("requests, development data")
    for name, values in of_requests(requests, library).items():
        print(f"  {name:32} {interval(values)}")
    for split in ("dev", "test"):
        print(f"authors' prompts, {split}")
        for name, values in of_prompts(splits[split], large).items():
            print(f"  {name:32} {interval(values)}")
    given = [float(bool(asked.bad & _ids(answer(large, asked).chosen))) for asked in splits["negatives"]]
    print(f"negatives\n  forbidden skill given             {interval(given)}")
    ablate(requests, library, splits["dev"], large)


def of_requests(messages: Sequence[Asked], library: SkillIndex) -> Mapping[str, Sequence[float]]:
    """By measure one number a message."""
    answers = [(asked, answer(library, asked)) for asked in messages]
    gold = [(asked, found) for asked, found in answers if asked.gold]
    wrong = [_ids(found.chosen) - asked.gold - (asked.fine if asked.gold else frozenset()) for asked, found in answers]
    return {
        "right skill given": [float(bool(asked.gold & _ids(found.chosen))) for asked, found in gold],
        "right skill given or offered": [
            float(bool(asked.gold & _ids((*found.chosen, *found.offered)))) for asked, found in gold
        ],
        "wrong skill given, of all": [float(bool(each)) for each in wrong],
        "given though none is right": [float(bool(found.chosen)) for asked, found in answers if not asked.gold],
        "lines offered": [float(len(found.offered)) for _, found in answers],
    }


def of_prompts(messages: Sequence[Asked], library: SkillIndex) -> Mapping[str, Sequence[float]]:
    """By measure one number a message, or one a given skill."""
    answers = [(asked, answer(library, asked)) for asked in messages]
    return {
        "nDCG@10": [gain(_order(found), asked.gold) for asked, found in answers],
        "given or offered": [
            len(asked.gold & _ids((*found.chosen, *found.offered))) / len(asked.gold) for asked, found in answers
        ],
        "right skill given": [float(bool(asked.gold & _ids(found.chosen))) for asked, found in answers],
        "precision of what is given": [
            float(one.skill_id in asked.gold) for asked, found in answers for one in found.chosen
        ],
    }


def ablate(requests: Sequence[Asked], library: SkillIndex, prompts: Sequence[Asked], large: SkillIndex) -> None:
    """Print what ranking loses without each part: among the first five of requests, and nDCG@10 of prompts."""

    def measure() -> tuple[list[float], list[float]]:
        first = [float(bool(asked.gold & set(_order(answer(library, asked))[:5]))) for asked in requests if asked.gold]
        return first, [gain(_order(answer(large, asked)), asked.gold) for asked in prompts]

    whole = measure()
    print(f"ranking\n  {'all parts':32} {fmean(whole[0]):.3f} {fmean(whole[1]):.3f}")
    for name, without in PARTS.items():
        with without():
            less = measure()
        losses = [interval([a - b for a, b in zip(*pair, strict=True)]) for pair in zip(less, whole, strict=True)]
        print(f"  {'without ' + name:32} {losses[0]}   {losses[1]}")


@contextmanager
def _without_channel(channel: Channel) -> Iterator[None]:
    weight = ranking_room.CHANNEL_WEIGHTS[channel]
    before = ranking_room.RANKED_WEIGHTS.copy()
    ranking_room.CHANNEL_WEIGHTS[channel] = 0.0
    if channel in RANKED:
        ranking_room.RANKED_WEIGHTS[RANKED.index(channel)] = 0.0
    yield
    ranking_room.CHANNEL_WEIGHTS[channel] = weight
    ranking_room.RANKED_WEIGHTS[:] = before


@contextmanager
def _with_constant(room: object, name: str, value: object) -> Iterator[None]:
    before = getattr(room, name)
    setattr(room, name, value)
    yield
    setattr(room, name, before)


PARTS: Mapping[str, Callable[[], object]] = {
    "words": lambda: _without_channel(Channel.WORDS),
    "stems of the brief": lambda: _without_channel(Channel.BRIEF),
    "stems of the whole": lambda: _without_channel(Channel.FULL),
    "pairs": lambda: _without_channel(Channel.PAIRS),
    "quoted phrases": lambda: _without_channel(Channel.PHRASE),
    "near words": lambda: _with_constant(asking, "MOST_UNKNOWN", 0),
    "earlier messages": lambda: _with_constant(asking, "EARLIER_WEIGHT", 0.0),
    "half weight of everyday words": lambda: _with_constant(asking, "LIGHT_WEIGHT", 1.0),
}


def answer(library: SkillIndex, asked: Asked) -> Selection:
    """What a fresh conversation gets for the message."""
    said = tuple(Message(Role.USER, text) for text in (*asked.before, asked.text))
    return select(library, Turn("turn", "conversation", said[-1], transcript=said))


def index_of(skills: Sequence[Skill]) -> SkillIndex:
    """The index of a library of these skills."""
    return build_index(Snapshot(MappingProxyType({skill.id: skill for skill in skills}), generation=1))


def gain(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """The nDCG@10 of a ranking."""
    found = sum(1 / log2(place + 2) for place, one in enumerate(ranked[:10]) if one in gold)
    return found / sum(1 / log2(place + 2) for place in range(min(10, len(gold))))


def interval(values: Sequence[float]) -> str:
    """The mean of values with its bootstrap interval."""
    rng = np.random.default_rng(7)
    each = np.array(values)
    means = each[rng.integers(0, len(each), (DRAWS, len(each)))].mean(axis=1)
    return f"{each.mean():6.3f} [{np.quantile(means, 0.025):.3f}, {np.quantile(means, 0.975):.3f}]"


def _ids(candidates: Sequence[object]) -> frozenset[str]:
    return frozenset(one.skill_id for one in candidates)


def _order(found: Selection) -> list[str]:
    shown = [one.skill_id for one in (*found.chosen, *found.offered)]
    return shown + [one.candidate.skill_id for one in found.rejected]


async def _sample(folder: Path) -> Sequence[Skill]:
    registry = Registry([Folder(folder)])
    await registry.refresh()
    return registry.snapshot.active()


def _read(file: Path) -> list[dict[str, list[str]]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
