"""Fit how likely a ranked skill is wanted, on labelled messages, and print how well that holds.

    SKILLWEAVE_SELECTION=... SKILLWEAVE_REQUESTS=... SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/fit_selection.py
    ... python benchmarks/fit_selection.py --phrases               # for libraries with phrases
    ... python benchmarks/fit_selection.py multilingual --phrases  # with an embedder: one more calibration

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

from fitting import brier, fit_calibration
from labelled import (
    LIMIT_OF_SMALL,
    POOLS,
    REQUEST_POOLS,
    Labelled,
    Message,
    Row,
    authors,
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
PHRASES = 8
WEIGHTS = {"requests": 1.0, "requests, small": 0.2, "off topic": 0.3, "selection": 0.2, "selection, small": 0.03}
"""How much a ranked skill of each set counts: the authors' prompts name one skill where several would do."""
MOST_WRONG, MOST_WRONG_OF_PROMPTS = 0.01, 0.08
"""So large a part of all requests may get a wrong skill, and of the authors' prompts, whose labels name one of many."""
SHRINKAGE = 40.0
OFFER_AT, OFFER_AT_WITH_EMBEDDER, LIST_AT = 0.003, 0.0015, 0.05
"""From which probability on a skill is listed, as twelve lines allow, and which one must have for a list at all."""


@dataclass(frozen=True, slots=True)
class Set:
    """Ranked skills of one set of messages in one library."""

    name: str
    rows: Sequence[Row]


def main(*arguments: str) -> None:
    phrases = "--phrases" in arguments
    embedder = next((one for one in arguments if one != "--phrases"), None)
    sets = gather(embedder, PHRASES if phrases else 0)
    predicted = {one.name: [] for one in sets}
    for fold in range(FOLDS):
        fitted = fit(sets, without=fold)
        for one in sets:
            own = [row for row in one.rows if fold_of(row.message) == fold]
            predicted[one.name].extend((row, fitted.probability(row.features)) for row in own)
    for name, found in predicted.items():
        show(name, found)
    give_at = least_wrong(*firsts(predicted["requests"]), MOST_WRONG)
    if phrases:
        give_at = max(give_at, least_wrong(*firsts(predicted["selection"]), MOST_WRONG_OF_PROMPTS))
    offer_at = OFFER_AT if embedder is None else OFFER_AT_WITH_EMBEDDER
    id_ = None if embedder is None else embedder_of(embedder).id
    calibration = replace(fit(sets), give_at=give_at, offer_at=offer_at, embedder=id_, phrases=phrases)
    calibration = replace(calibration, list_at=LIST_AT)
    print(f"give_at {give_at}, offer_at {offer_at}, list_at {LIST_AT}")
    others = [one for one in json.loads(TARGET.read_text(encoding="utf-8")) if known_as(one) != (id_ or "", phrases)]
    fitted = sorted([*others, calibration.to_dict()], key=known_as)
    TARGET.write_text(json.dumps(fitted, indent=1) + "\n", encoding="utf-8")


def known_as(fitted: dict[str, object]) -> tuple[str, bool]:
    """The embedder of a calibration, and whether it is for phrases."""
    return str(fitted.get("embedder") or ""), bool(fitted.get("phrases"))


def gather(embedder: str | None = None, phrases: int = 0) -> list[Set]:
    """All ranked skills: whole libraries, random ones, and messages that call for nothing."""
    asked = requests(Path(os.environ["SKILLWEAVE_REQUESTS"]), Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"]), phrases)
    corpus = Path(os.environ["SKILLWEAVE_SELECTION"])
    prompts = authors(asked, corpus, "dev") if phrases else selection(corpus, "dev", "negatives")
    nothing: Sequence[Message] = off_topic()
    if embedder is not None:
        asked, nothing = asked.embedded(embedder), embedded(nothing, embedder)
        # Nobody wrote phrases for the corpus: with them its prompts are asked of the sample.
        own = replace(prompts, messages=embedded(prompts.messages, embedder), vectors=asked.vectors)
        prompts = own if phrases else prompts.embedded(embedder)
    small = Set("requests, small", list(_small(asked, REQUEST_POOLS, 1)))
    return [
        _whole("requests", asked, asked.messages),
        small,
        _whole("off topic", asked, nothing),
        _whole("selection", prompts, prompts.messages),
        Set("selection, small", list(_small(prompts, REQUEST_POOLS if phrases else POOLS, 2))),
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
        yield from rows_of(labelled, index_of(labelled, library), library, asked, LIMIT_OF_SMALL)


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


def least_wrong(likely: Sequence[float], right: Sequence[bool], most: float) -> float:
    """The lowest probability from which on at most that part of all messages gets a wrong skill."""
    wrong = sorted((p for p, one in zip(likely, right, strict=True) if not one), reverse=True)
    return round(wrong[int(most * len(likely))] + 0.0001, 4)


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
    main(*sys.argv[1:])
