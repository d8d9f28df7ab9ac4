"""Where the descent of a hyperplane split sets out: least squares on a few features, added one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.exact.trees.hyperplane_lines import Sides

Hyperplane = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Rows and weights (slots + 1,); the last slot is the threshold's."""
_RIDGE = 1e-6


def drawn_starts(task: Sides, slots: int, count: int, rng: np.random.Generator) -> list[Hyperplane]:
    """One discriminant with the samples as they are, and `count` with random weights: a Bayesian bootstrap."""
    draws = [np.ones(task.rises.size), *rng.exponential(size=(count, task.rises.size))]
    return [discriminant(task, slots, draw) for draw in draws]


def discriminant(task: Sides, slots: int, draw: NDArray[np.float64]) -> Hyperplane:
    """Least squares of the rises' signs on at most `slots` columns, the next always the most correlated one."""
    weights = np.abs(task.rises) * draw
    weights /= max(weights.sum(), np.finfo(float).tiny)
    signs = np.sign(task.rises) - weights @ np.sign(task.rises)
    columns = task.columns[:-1]
    means, rows, found = columns @ weights, np.full(slots + 1, -1), np.zeros(slots + 1)
    residual = signs
    for slot in range(min(slots, len(columns))):
        scores = np.abs(columns @ (weights * residual))
        scores[rows[:slot]] = -1.0
        rows[slot] = scores.argmax()
        chosen = columns[rows[: slot + 1]] - means[rows[: slot + 1], None]
        gram = (chosen * weights) @ chosen.T + _RIDGE * np.eye(slot + 1)
        found[: slot + 1] = np.linalg.solve(gram, chosen @ (weights * signs))
        residual = signs - found[: slot + 1] @ chosen
    rows[-1], found[-1] = len(columns), found[:-1] @ means[rows[:-1]]
    return rows, found
