"""Fitting a calibration to labelled features: a logistic regression by Newton's method, the same for the same input."""

from collections.abc import Sequence

import numpy as np

from skillweave.errors import SkillweaveError
from skillweave.select.calibration import FEATURES, Calibration

SHRINKAGE = 1.0
"""How strongly fitted coefficients of standardised features are held near 0."""
STEPS = 50


def fit_calibration(
    features: Sequence[Sequence[float]],
    labels: Sequence[bool],
    weights: Sequence[float] | None = None,
    *,
    precision: float = 0.95,
    offer_at: float = 0.1,
    embedder: str | None = None,
) -> Calibration:
    """Fit a calibration to labelled features, each row in the order of FEATURES; the same input gives the same output.

    `weights` say how often each row counts. `give_at` becomes the lowest probability from which on so large a share of
    the rows is wanted.

    Raises:
        SkillweaveError: there are no rows, or all have the same label.
    """
    rows, wanted = np.asarray(features, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    counts = np.ones(len(wanted)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(wanted) or wanted.min() == wanted.max():
        raise SkillweaveError("a calibration needs rows that are wanted and rows that are not")
    mean = np.average(rows, axis=0, weights=counts)
    spread = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=counts))
    spread[spread < 1e-9] = 1.0
    design = np.column_stack([np.ones(len(rows)), (rows - mean) / spread])
    penalty = np.full(design.shape[1], SHRINKAGE)
    penalty[0] = 0.0
    beta = np.zeros(design.shape[1])
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
        gradient = design.T @ (counts * (wanted - likely)) - penalty * beta
        curvature = (design * (counts * likely * (1 - likely))[:, None]).T @ design + np.diag(penalty + 1e-9)
        step = np.linalg.solve(curvature, gradient)
        beta += step
        if float(np.abs(step).max()) < 1e-8:
            break
    coefficients = beta[1:] / spread
    likely = 1 / (1 + np.exp(-np.clip(design @ beta, -30, 30)))
    return Calibration(
        names=FEATURES,
        coefficients=tuple(round(float(value), 6) for value in coefficients),
        intercept=round(float(beta[0] - coefficients @ mean), 6),
        give_at=_give_at(likely.tolist(), wanted.tolist(), counts.tolist(), precision),
        offer_at=offer_at,
        embedder=embedder,
    )


def brier(probabilities: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean squared difference between probability and label: 0 is perfect."""
    return sum((p - wanted) ** 2 for p, wanted in zip(probabilities, labels, strict=True)) / max(1, len(labels))


def _give_at(likely: Sequence[float], wanted: Sequence[float], counts: Sequence[float], precision: float) -> float:
    """The lowest probability from which on at least that share is wanted; just below 1 where there is none."""
    order = sorted(range(len(likely)), key=lambda row: -likely[row])
    right = total = 0.0
    least = 0.999
    for row in order:
        right += counts[row] * wanted[row]
        total += counts[row]
        if right / total >= precision:
            least = likely[row]
    return round(least, 4)
