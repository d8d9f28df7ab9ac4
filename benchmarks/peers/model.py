"""What a fit is asked, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Asked:
    """How many features (or levels of a tree) the model may have, and the seconds that an exact fit may take."""

    size: int
    seconds: float


@dataclass(frozen=True)
class Model:
    """Ids of the features in the model, and what it says of a table (samples, features); larger means class 1."""

    support: np.ndarray
    predict: Callable[[np.ndarray], np.ndarray]


def linear_model(coefficients: Any, intercept: Any, ids: Any = None) -> Model:
    """Coefficients of all features, or of those with the given ids; predictions read the columns in the model only."""
    dense = np.ravel(np.asarray(coefficients, np.float64))
    kept = np.flatnonzero(dense)
    support = kept if ids is None else np.asarray(ids, np.int64)[kept]
    constant = float(np.ravel(intercept)[0])
    return Model(support, lambda table: table[:, support].astype(np.float64) @ dense[kept] + constant)


def holdout(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Samples to train on (0.7 of them) and the others."""
    order = np.random.default_rng(0).permutation(n)
    cut = int(0.7 * n)
    return np.sort(order[:cut]), np.sort(order[cut:])
