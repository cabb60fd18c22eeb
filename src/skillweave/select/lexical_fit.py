"""The constants by which lexical ranking dares to select, as fitted by `benchmarks/fit_lexical.py`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fit:
    """When the best ranked skill is clear enough to be selected without a declared trigger (spec 2.1).

    A skill's *strength* is the share of the query's rarity that it covers, minus `scarcity` over the weight of the
    distinct content words that it has in common with the query (one in the body alone counts half, an everyday one a
    quarter). The first is selected when its strength is at least `floor` plus `margin` times the ratio of the second's
    score to its own. Two are selected together when both are that strong against the third, their scores are within
    `together` of each other, and the second covers at least `gain` of the query that the first leaves uncovered: a
    message that asks for two things.
    """

    floor: float
    margin: float
    scarcity: float
    together: float
    gain: float


FIT = Fit(floor=-1.0, margin=1.4, scarcity=1.5, together=0.8, gain=0.2)
"""Fitted on 2026-11-21 on the dev queries in random libraries of 20, 100, 1,000 and all 5,656 public skills.

On the test queries, in this order of sizes: the right skill is selected in 0.83, 0.78, 0.66, 0.57 of the messages that
have one (macro over sources 0.65, 0.57, 0.45, 0.32); of what is selected for these, 0.99, 0.96, 0.89, 0.69 is labelled
right (macro). A message whose right skill is missing gets 0.04, 0.05, 0.07, 0.18 wrong ones, an off-topic message less
than 0.01. A label names one skill, so like skills of other authors count as wrong, more so the larger the library.
"""
