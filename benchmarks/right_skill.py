"""Print whether the right skill is given or listed, without phrases and with them, against an earlier checkout.

    SKILLWEAVE_SELECTION=... SKILLWEAVE_REQUESTS=... SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/right_skill.py
    ... python benchmarks/right_skill.py --embedder multilingual --before ../checkout-of-the-commit-before

The requests are development data: what was fitted saw them, and `fit_selection.py` prints what it predicts for
those that it has not seen. `test` of the selection data was not fitted on. Intervals are bootstraps
of 95% over messages.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from math import log2
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np
from selection_pools import load_corpus

import skillweave
from skillweave import Message, Registry, Role, Skill, Turn, Weaver
from skillweave.sources import InCode, source_of

DRAWS = 2_000
REQUESTS, AUTHORS, SELECTION = "requests", "authors' prompts", "selection test"
Row = Mapping[str, object]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--embedder")
    options.add_argument("--before", help="a checkout of an earlier commit")
    options.add_argument("--rows", help="write the rows to this file and print nothing")
    asked = options.parse_args()
    rows = asyncio.run(measured(asked.embedder))
    if asked.rows:
        Path(asked.rows).write_text(json.dumps(rows), encoding="utf-8")
        return
    earlier = before(asked.before, asked.embedder) if asked.before else []
    print(f"matchers: {'words' if asked.embedder is None else asked.embedder}; n, value, interval, before")
    for name in dict.fromkeys((row["set"], row["phrases"]) for row in rows):
        own = [row for row in rows if (row["set"], row["phrases"]) == name]
        past = [row for row in earlier if (row["set"], row["phrases"]) == (name[0], False)]
        print(f"{name[0]}, {'with' if name[1] else 'without'} phrases")
        for measure in dict.fromkeys(key for row in own for key in row):
            if measure not in ("set", "phrases"):
                print(f"  {measure:34} {figures(own, measure):38} {figures(past, measure) if past else ''}")


def before(checkout: str, embedder: str | None) -> Sequence[Row]:
    """The rows of an earlier commit, measured by this program in a process of its own."""
    with TemporaryDirectory() as folder:
        file = f"{folder}/rows.json"
        more = ["--embedder", embedder] if embedder else []
        path = os.pathsep.join((f"{checkout}/src", *sys.path))
        subprocess.run(
            [sys.executable, __file__, "--rows", file, *more], check=True, env={**os.environ, "PYTHONPATH": path}
        )
        rows: Sequence[Row] = json.loads(Path(file).read_text(encoding="utf-8"))
        return rows


async def measured(embedder: str | None) -> list[Row]:
    """One row a message, for each set without phrases, and where there are some with them."""
    registry = Registry([source_of(os.environ["SKILLWEAVE_SKILLS_SAMPLE"])])
    await registry.refresh()
    skills = registry.snapshot.active()
    folder, corpus = Path(os.environ["SKILLWEAVE_REQUESTS"]), Path(os.environ["SKILLWEAVE_SELECTION"])
    written = {row["id"]: tuple(row["requests"]) for row in _read(folder / "phrases.jsonl")}
    asked = [row | {"text": row["message"]} for row in _read(folder / "dev.jsonl")]
    prompts, large = list(authors(corpus, skills)), load_corpus(corpus)
    rows: list[Row] = []
    for phrases in (False, True):
        if phrases and "phrases" not in {field.name for field in fields(Skill)}:
            break  # an earlier commit
        own = [replace(one, phrases=written.get(one.id, ())) if phrases else one for one in skills]
        weaver = await weaver_of(own, embedder)
        for name, messages in ((REQUESTS, asked), (AUTHORS, prompts)):
            rows += [await row_of(weaver, one, {"set": name, "phrases": phrases}) for one in messages]
    ids = {key: large.skills[place].id for key, place in large.positions.items()}
    weaver = await weaver_of(large.skills, embedder)
    for split in ("test", "negatives"):
        for row in _read(corpus / f"{split}.jsonl"):
            gold, bad = ([ids[one] for one in row.get(key, ())] for key in ("gold", "not_gold"))
            found = await weaver.skills.match(turn_of(row["query"]))
            given = {one.skill_id for one in found.chosen}
            kept: dict[str, object] = {"set": SELECTION, "phrases": False}
            if bad:
                rows.append(kept | {"forbidden given": bool(given & set(bad))})
            else:
                rows.append(
                    kept | {"nDCG@10": gain(order(found), gold), f"nDCG of {row['source']}": gain(order(found), gold)}
                )
    return macro(rows)


def macro(rows: Sequence[Row]) -> list[Row]:
    """The rows, with the mean over sources in the place of each source's own figure."""
    sources: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            if key.startswith("nDCG of "):
                sources.setdefault(key, []).append(float(str(value)))
    plain = [{key: value for key, value in row.items() if not key.startswith("nDCG of ")} for row in rows]
    means = [fmean(values) for values in sources.values()]
    return [*plain, *({"set": SELECTION, "phrases": False, "nDCG@10, macro over sources": one} for one in means)]


async def weaver_of(skills: Sequence[Skill], embedder: str | None) -> Weaver:
    """A Weaver over skills in memory, ready to be asked."""
    weaver = skillweave.open(InCode(*skills), embedder=embedder)
    await weaver.skills.make_ready()
    return weaver.variant(settings=replace(weaver.settings, ranked=14))


def turn_of(text: str, before: Sequence[str] = ()) -> Turn:
    """A message in a conversation that begins with what was said before it."""
    said = tuple(Message(Role.USER, one) for one in (*before, text))
    return Turn("turn", "conversation", said[-1], transcript=said)


async def row_of(weaver: Weaver, asked: Mapping[str, object], kept: Row) -> Row:
    """What one message got."""
    turn = turn_of(str(asked["text"]), asked.get("before", ()))  # type: ignore[arg-type]
    found, injection = await weaver.skills.match(turn), await weaver.preview(turn)
    gold, fine = set(asked["gold"]), set(asked.get("also_fine", ()))  # type: ignore[call-overload]
    given, offered = ({one.skill_id for one in part} for part in (found.chosen, found.offered))
    row = {
        **kept,
        "wrong given": bool(given - gold - (fine if gold else set())),
        "tokens of the list": injection.tokens.tail,
        "lines": len(offered),
    }
    if gold:
        ranked = order(found)
        return row | {
            "right given or in the list": bool(gold & (given | offered)),
            "right given": bool(gold & given),
            "first place": bool(gold & set(ranked[:1])),
        }
    return row | {f"a list where nothing fits: {asked['kind']}": bool(offered)}


def order(found: object) -> list[str]:
    """The ids of a selection, best first."""
    shown = [*found.chosen, *found.offered, *(one.candidate for one in found.rejected)]  # type: ignore[attr-defined]
    return list(dict.fromkeys(one.skill_id for one in shown))


def authors(folder: Path, skills: Sequence[Skill]) -> Iterator[dict[str, object]]:
    """The authors' prompts whose skill, known by its description, is one of these."""
    corpus = load_corpus(folder)
    here = {one.description: one.id for one in skills}
    for split in ("dev", "test"):
        for row in _read(folder / f"{split}.jsonl"):
            texts = (corpus.skills[corpus.positions[one]].description for one in row["gold"])
            if gold := [here[text] for text in texts if text in here]:
                yield {"text": row["query"], "gold": gold}


def gain(ranked: Sequence[str], gold: Sequence[str]) -> float:
    """The nDCG@10 of a ranking."""
    found = sum(1 / log2(place + 2) for place, one in enumerate(ranked[:10]) if one in gold)
    return found / sum(1 / log2(place + 2) for place in range(min(10, len(gold))))


def figures(rows: Sequence[Row], measure: str) -> str:
    """How many rows have the measure, its mean and the bootstrap interval of that."""
    each = np.array([float(str(row[measure] + 0)) for row in rows if measure in row])  # type: ignore[operator]
    if not len(each):
        return ""
    means = each[np.random.default_rng(7).integers(0, len(each), (DRAWS, len(each)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return f"{len(each):4d} {each.mean():8.3f} [{low:.3f}, {high:.3f}]"


def _read(file: Path) -> list[dict[str, list[str]]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
