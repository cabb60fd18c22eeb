"""Fit the floor and the margin of lexical selection on labelled queries, and print what they give.

    python benchmarks/fit_lexical.py FOLDER

FOLDER has corpus.jsonl.gz, dev.jsonl, test.jsonl and negatives.jsonl. Constants are chosen on dev; test is reported.
The objective is the mean over library sizes of F0.5, macro over sources, where half of all messages have no right
skill: a wrong skill in the context costs more than a missed one, which the catalog still offers.
"""

import itertools
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from selection_pools import SIZES, Case, draw_cases, load_corpus, load_queries

from skillweave.select.lexical import FIT, Fit, clear

GRID = {
    "floor": [round(-1.6 + step / 10, 1) for step in range(12)],
    "margin": [1.0, 1.2, 1.4, 1.6, 1.8, 2.0],
    "scarcity": [1.2, 1.5, 1.8, 2.1],
}
PAIRS = {"together": [0.5, 0.6, 0.7, 0.8], "gain": [0.1, 0.15, 0.2, 0.25]}
NEVER = 9.0
MOST_COST_OF_PAIRS = 0.0125
"""What the objective may lose so that a message that asks for two things can get two skills."""
LEAST_RECALL_AT_100 = 0.8
PAIRS_FOUND = "two things asked: of the two selected"
BETA = 0.5
SEEDS = (1, 2, 3)


def measure(cases: Iterable[Case], fit: Fit) -> dict[int, dict[str, float]]:
    """For each size: recall, selected per message with and without a right skill, precision and F0.5; all macro."""
    found: dict[int, dict[tuple[str, str], list[tuple[int, int, bool]]]] = defaultdict(lambda: defaultdict(list))
    for case in cases:
        count = clear(case.ranking.best, fit)
        chosen = [case.positions[ranked.position] for ranked in case.ranking.best[:count]]
        right = sum(position in case.query.gold for position in chosen)
        found[case.size][case.query.kind, case.query.source].append((right, count, case.query.names_skill))
    return {size: _summary(rows) for size, rows in found.items()}


def _summary(rows: dict[tuple[str, str], list[tuple[int, int, bool]]]) -> dict[str, float]:
    right = {source: cases for (kind, source), cases in rows.items() if kind == "right"}
    none = {source: cases for (kind, source), cases in rows.items() if kind == "none" and source != "off-topic"}
    two = [case for (kind, _), cases in rows.items() if kind == "two" for case in cases]
    wrong = [case for (kind, _), cases in rows.items() if kind == "wrong" for case in cases]
    plain = [case for cases in right.values() for case in cases if not case[2]]
    every = [case for cases in right.values() for case in cases]
    recall = fmean(fmean(bool(case[0]) for case in cases) for cases in right.values())
    selected = fmean(fmean(case[1] for case in cases) for cases in right.values())
    hits = fmean(fmean(case[0] for case in cases) for cases in right.values())
    idle = fmean(fmean(case[1] for case in cases) for cases in none.values())
    off_topic = fmean(case[1] for case in rows["none", "off-topic"])
    precision = hits / max(selected + (idle + off_topic) / 2, 1e-9)
    weight = BETA * BETA
    return {
        "recall": recall,
        "recall (micro)": fmean(bool(case[0]) for case in every),
        "recall (micro, skill not named)": fmean(bool(case[0]) for case in plain),
        "precision, some right": hits / max(selected, 1e-9),
        "precision": precision,
        "F0.5": (1 + weight) * precision * recall / max(weight * precision + recall, 1e-9),
        "selected per message, none right": idle,
        "selected per message, off topic": off_topic,
        PAIRS_FOUND: fmean(case[0] / 2 for case in two),
        "not_gold selected": fmean(bool(case[0]) for case in wrong),
    }


def fit_constants(cases: list[Case]) -> Fit:
    """The best of the grid with one skill at most; then the pair rule that finds most at a bearable cost."""
    alone = [Fit(*values, together=NEVER, gain=NEVER) for values in itertools.product(*GRID.values())]
    best = max(alone, key=lambda fit: _objective(cases, fit))
    least = _objective(cases, best) - MOST_COST_OF_PAIRS
    pairs = [replace(best, together=t, gain=g) for t, g in itertools.product(*PAIRS.values())]
    return max((fit for fit in pairs if _objective(cases, fit) >= least), key=lambda fit: _pairs_found(cases, fit))


def _pairs_found(cases: list[Case], fit: Fit) -> float:
    return fmean(figures[PAIRS_FOUND] for figures in measure(cases, fit).values())


def _objective(cases: list[Case], fit: Fit) -> float:
    measured = measure(cases, fit)
    if measured[100]["recall (micro)"] < LEAST_RECALL_AT_100:
        return 0.0
    return fmean(figures["F0.5"] for figures in measured.values())


def show(title: str, measured: dict[int, dict[str, float]]) -> None:
    print(f"\n{title}")
    names = list(next(iter(measured.values())))
    print(f"{'skills':>40} " + " ".join(f"{size or 'all':>7}" for size in measured))
    for name in names:
        print(f"{name:>40} " + " ".join(f"{figures[name]:7.3f}" for figures in measured.values()))


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SKILLWEAVE_SELECTION"])
    corpus = load_corpus(folder)
    negatives = load_queries(folder, "negatives", corpus)
    queries = load_queries(folder, "dev", corpus)
    dev = [case for seed in SEEDS for case in draw_cases(corpus, queries, negatives, 3, seed)]
    print(f"{len(dev)} cases on dev in libraries of {', '.join(str(size or 'all') for size in SIZES)} skills")
    fitted = fit_constants(dev)
    print("fitted:", fitted, "objective", round(_objective(dev, fitted), 4))
    print("shipped:", FIT, "objective", round(_objective(dev, FIT), 4))
    show("dev, shipped constants", measure(dev, FIT))
    test = draw_cases(corpus, load_queries(folder, "test", corpus), negatives, 3, seed=4)
    measured = measure(test, FIT)
    show("test, shipped constants", measured)
    print(json.dumps({str(size or "all"): figures for size, figures in measured.items()}))


if __name__ == "__main__":
    main()
