"""Fitting a calibration to labelled features: a logistic regression by Newton's method, the same for the same input."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skillweave.errors import SkillweaveError
from skillweave.select.own_fit import FEATURES, Calibration

SHRINKAGE = 10.0
"""How strongly fitted slopes and bends of standardised features are held near 0, in rows."""
STEPS = 100
ENOUGH = 1e-7

_Matrix = NDArray[np.float64]


def fit_calibration(
    features: Sequence[Sequence[float]],
    labels: Sequence[bool],
    weights: Sequence[float] | None = None,
    *,
    precision: float = 0.95,
    offer_at: float = 0.05,
    shrinkage: float = SHRINKAGE,
    embedder: str | None = None,
) -> Calibration:
    """Fit a calibration to labelled features, each row in the order of FEATURES; the same input gives the same output.

    `weights` say how often each row counts. `give_at` becomes the lowest probability from which on a share of at least
    `precision` of the rows is wanted.

    Raises:
        SkillweaveError: there are no rows, or all have the same label.
    """
    rows, wanted = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    counts = np.ones(len(wanted)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(wanted) or wanted.min() == wanted.max():
        raise SkillweaveError("a calibration needs rows that are wanted and rows that are not")
    knots = np.round(np.median(rows, axis=0), 4)
    columns = np.hstack([rows, np.maximum(rows - knots, 0.0)])
    mean = np.average(columns, axis=0, weights=counts)
    spread = np.sqrt(np.average((columns - mean) ** 2, axis=0, weights=counts))
    # A feature that never varies says nothing; it keeps the slope 0.
    varies = spread > 1e-9
    standard = np.where(varies, (columns - mean) / np.where(varies, spread, 1.0), 0.0)
    beta = _newton(np.column_stack([np.ones(len(rows)), standard]), wanted, counts, shrinkage)
    slopes = np.where(varies, beta[1:] / np.where(varies, spread, 1.0), 0.0)
    calibration = Calibration(
        names=FEATURES,
        knots=_rounded(knots),
        slopes=_rounded(slopes[: len(FEATURES)]),
        bends=_rounded(slopes[len(FEATURES) :]),
        intercept=round(float(beta[0] - slopes @ mean), 4),
        give_at=0.999,
        offer_at=offer_at,
        embedder=embedder,
    )
    likely = [calibration.probability(row) for row in rows.tolist()]
    return replace(calibration, give_at=least_at(likely, labels, precision, weights))


def least_at(
    likely: Sequence[float], labels: Sequence[bool], precision: float, weights: Sequence[float] | None = None
) -> float:
    """Return the lowest probability from which on at least that share is wanted, just below 1 where there is none."""
    right = total = 0.0
    least = 0.999
    for row in sorted(range(len(likely)), key=lambda row: -likely[row]):
        weight = 1.0 if weights is None else weights[row]
        right += weight * labels[row]
        total += weight
        if right >= precision * total:
            least = likely[row]
    return round(least, 4)


def brier(probabilities: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean squared difference between probability and label: 0 is perfect."""
    return sum((p - wanted) ** 2 for p, wanted in zip(probabilities, labels, strict=True)) / max(1, len(labels))


def _newton(design: _Matrix, wanted: _Matrix, counts: _Matrix, shrinkage: float) -> _Matrix:
    penalty = np.full(design.shape[1], shrinkage)
    penalty[0] = 1e-6
    beta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (counts * (wanted - likely)) - penalty * beta
        curvature = (design * (counts * likely * (1 - likely))[:, None]).T @ design + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if float(np.abs(step).max()) < ENOUGH:
            break
    return beta


def _rounded(values: _Matrix) -> tuple[float, ...]:
    return tuple(round(float(value), 4) for value in values)
