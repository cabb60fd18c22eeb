"""How well the shipped embedder ranks alone: requests in everyday words, and queries of authors."""

import asyncio
import gzip
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skillweave.registry import Registry
from skillweave.select.hybrid import whole_text, windows_of
from skillweave.skill import Skill
from skillweave.sources.folder import Folder
from skillweave_multilingual.multilingual import open_multilingual


async def nearness(skills: Sequence[Skill], messages: Sequence[str]) -> np.ndarray:
    """The cosine of each message's nearest window with each skill."""
    embedder = open_multilingual()
    rows = await embedder.embed([whole_text(skill) for skill in skills])
    return np.stack([(rows @ (await embedder.embed(list(windows_of(text)))).T).max(axis=1) for text in messages])


def report(name: str, scores: np.ndarray, gold: Sequence[Sequence[int]]) -> None:
    """Print recall at several depths."""
    best = [1 + int((row > max(row[place] for place in right)).sum()) for row, right in zip(scores, gold, strict=True)]
    shares = [f"R@{depth} {np.mean(np.array(best) <= depth):.3f}" for depth in (1, 3, 5, 8)]
    print(f"{name} ({len(best)}):", *shares)


async def main() -> None:
    """Print a line for each labelled set, and how long a short text takes."""
    registry = Registry([Folder(Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"]))])
    await registry.refresh()
    skills = registry.snapshot.active()
    place = {skill.id: number for number, skill in enumerate(skills)}
    rows = [json.loads(row) for row in (Path(os.environ["SKILLWEAVE_REQUESTS"]) / "dev.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["gold"]]
    gold = [[place[skill] for skill in row["gold"] if skill in place] for row in rows]
    scores = await nearness(skills, [row["message"] for row in rows])
    report("requests", scores, gold)
    other = [number for number, row in enumerate(rows) if row["language"] != "en"]
    report("requests in other languages", scores[other], [gold[number] for number in other])
    selection = Path(os.environ["SKILLWEAVE_SELECTION"])
    with gzip.open(selection / "corpus.jsonl.gz", "rt") as file:
        corpus = [json.loads(row) for row in file]
    many = [Skill(f"s{number}", row["name"], row["description"] or "") for number, row in enumerate(corpus)]
    place = {row["id"]: number for number, row in enumerate(corpus)}
    for split in ("dev", "test"):
        asked = [json.loads(row) for row in (selection / f"{split}.jsonl").read_text().splitlines()]
        found = await nearness(many, [row["query"] for row in asked])
        report(f"queries, {split}", found, [[place[skill] for skill in row["gold"]] for row in asked])
    embedder, times = open_multilingual(), []
    for row in rows:
        if len(row["message"]) < 150:
            begun = time.perf_counter()
            await embedder.embed([row["message"]])
            times.append(time.perf_counter() - begun)
    print(f"a short message: {np.median(times) * 1000:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
