"""What a method says of the samples that were held out, and how good that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score

from benchmarks.real.data import NUMBERS


@dataclass(frozen=True)
class Answer:
    """Predictions (numbers or labels), log odds of the second of two classes, and how they came about."""

    predicted: NDArray[Any]
    n_features: int
    odds: NDArray[np.float64] | None = None
    gap: float | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    """Of the processor for the fit, where the method knows better than a watch around it."""


def judged(task: str, truth: NDArray[Any], answer: Answer) -> dict[str, float]:
    if task == NUMBERS:
        return {"r2": float(r2_score(truth, answer.predicted))}
    scores = {"accuracy": float(accuracy_score(truth, answer.predicted))}
    if answer.odds is not None:
        scores["auc"] = float(roc_auc_score(truth == np.unique(truth)[1], answer.odds))
    return scores
