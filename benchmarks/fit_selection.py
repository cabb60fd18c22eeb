"""Fit how likely a ranked skill is wanted, on labelled messages, and print how well that holds.

    SKILLWEAVE_SELECTION=... SKILLWEAVE_REQUESTS=... SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/fit_selection.py
    ... python benchmarks/fit_selection.py multilingual    # with an embedder: one more calibration

Fitted on the development halves, in whole libraries and in random ones; what is printed is predicted for messages whose
right skills took no part in the fit. The constants go into src/skillweave/select/fitted.json.
"""

import json
import os
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fitting import brier, fit_calibration, least_at
from labelled import (
    POOLS,
    REQUEST_POOLS,
    Labelled,
    Message,
    Row,
    embedded,
    index_of,
    off_topic,
    pools,
    requests,
    rows_of,
    selection,
)

from skillweave.embedders import embedder_of
from skillweave.select.own_fit import Calibration

FOLDS = 8
TARGET = Path(__file__).parents[1] / "src" / "skillweave" / "select" / "fitted.json"
WEIGHTS = {"requests": 1.0, "requests, small": 0.2, "off topic": 0.3, "selection": 0.2, "selection, small": 0.03}
"""How much a ranked skill of each set counts: the authors' prompts name one skill where several would do."""
PRECISION = 0.95
SHRINKAGE = 40.0
OFFER_AT = 0.008


@dataclass(frozen=True, slots=True)
class Set:
    """Ranked skills of one set of messages in one library."""

    name: str
    rows: Sequence[Row]


def main(embedder: str | None = None) -> None:
    sets = gather(embedder)
    predicted = {one.name: [] for one in sets}
    for fold in range(FOLDS):
        fitted = fit(sets, without=fold)
        for one in sets:
            own = [row for row in one.rows if fold_of(row.message) == fold]
            predicted[one.name].extend((row, fitted.probability(row.features)) for row in own)
    for name, found in predicted.items():
        show(name, found)
    give_at = least_at(*firsts(predicted["requests"]), PRECISION)
    id_ = None if embedder is None else embedder_of(embedder).id
    calibration = replace(fit(sets), give_at=give_at, offer_at=OFFER_AT, embedder=id_)
    print(f"give_at {give_at}, offer_at {OFFER_AT}")
    others = [one for one in json.loads(TARGET.read_text(encoding="utf-8")) if one.get("embedder") != id_]
    fitted = sorted([*others, calibration.to_dict()], key=lambda one: one.get("embedder") or "")
    TARGET.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


def gather(embedder: str | None = None) -> list[Set]:
    """All ranked skills: whole libraries, random ones, and messages that call for nothing."""
    asked = requests(Path(os.environ["SKILLWEAVE_REQUESTS"]), Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"]))
    prompts = selection(Path(os.environ["SKILLWEAVE_SELECTION"]), "dev", "negatives")
    nothing: Sequence[Message] = off_topic()
    if embedder is not None:
        asked, prompts, nothing = asked.embedded(embedder), prompts.embedded(embedder), embedded(nothing, embedder)
    small = Set("requests, small", list(_small(asked, REQUEST_POOLS, 1)))
    return [
        _whole("requests", asked, asked.messages),
        small,
        _whole("off topic", asked, nothing),
        _whole("selection", prompts, prompts.messages),
        Set("selection, small", list(_small(prompts, POOLS, 2))),
    ]


def _whole(name: str, labelled: Labelled, messages: Sequence[Message]) -> Set:
    everything = list(range(len(labelled.skills)))
    return Set(name, rows_of(labelled, index_of(labelled, everything), everything, messages))


def _small(labelled: Labelled, sizes: dict[int, int], seed: int) -> Iterable[Row]:
    for _, library in pools(labelled, sizes, seed):
        inside = set(library)
        asked = [
            message
            for message in labelled.messages
            # Of the messages whose right skill is missing a quarter is enough.
            if (message.gold | message.bad) & inside or not message.gold or fold_of(message) < FOLDS // 4
        ]
        yield from rows_of(labelled, index_of(labelled, library), library, asked)


def fit(sets: Sequence[Set], without: int | None = None) -> Calibration:
    """Fit on all messages, or on those of all folds but one."""
    rows = [
        (row, WEIGHTS[one.name])
        for one in sets
        for row in one.rows
        if row.right is not None and fold_of(row.message) != without
    ]
    return fit_calibration(
        [row.features for row, _ in rows],
        [bool(row.right) for row, _ in rows],
        [weight for _, weight in rows],
        shrinkage=SHRINKAGE,
    )


def fold_of(message: Message) -> int:
    """The part that a message belongs to; messages about one skill, or of one author, are in the same."""
    return zlib.crc32(message.group.encode()) % FOLDS


def firsts(found: Iterable[tuple[Row, float]]) -> tuple[list[float], list[bool]]:
    """The likeliest skill of each message: its probability, and whether it is right."""
    best: dict[int, tuple[float, Row]] = {}
    for row, likely in found:
        if likely > best.get(id(row.message), (0.0, row))[0]:
            best[id(row.message)] = likely, row
    judged = [(likely, bool(row.right)) for likely, row in best.values() if row.right is not None]
    return [likely for likely, _ in judged], [right for _, right in judged]


def show(name: str, found: Sequence[tuple[Row, float]]) -> None:
    """Print the Brier score, a reliability table, and what giving from several probabilities on would give."""
    judged = [(likely, row.right) for row, likely in found if row.right is not None]
    score = brier([likely for likely, _ in judged], [bool(right) for _, right in judged])
    print(f"\n{name}: {len(judged)} ranked skills, Brier {score:.4f}")
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for likely, right in judged:
        bins[min(9, int(likely * 10))].append((likely, bool(right)))
    print("  predicted " + " ".join(f"{sum(p for p, _ in bins[b]) / len(bins[b]):5.2f}" for b in sorted(bins)))
    print("  right     " + " ".join(f"{sum(r for _, r in bins[b]) / len(bins[b]):5.2f}" for b in sorted(bins)))
    print("  skills    " + " ".join(f"{len(bins[b]):5d}" for b in sorted(bins)))
    likely, right = firsts(found)
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        given = [one for p, one in zip(likely, right, strict=True) if p >= least]
        print(f"  given from {least}: {len(given)} of {len(likely)}, right {sum(given)}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
