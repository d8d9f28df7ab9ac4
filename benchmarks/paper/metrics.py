"""The paper's metrics, as its section on metrics defines them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score, roc_auc_score

from backbone_dask.store import VirtualStore
from backbone_dask.values import CandidateIds

TEST_SAMPLES = 2_000


def accuracy(selected: CandidateIds, relevant: CandidateIds) -> float:
    """SR-ACC: the share of the relevant features that were selected."""
    return float(np.isin(relevant, selected).mean())


def false_alarms(selected: CandidateIds, relevant: CandidateIds) -> float:
    """SR-FA: the share of the selected features that are not relevant; none are false where none are selected."""
    return float(1 - np.isin(selected, relevant).mean()) if len(selected) else 0.0


def recovery(selected: CandidateIds, relevant: CandidateIds) -> dict[str, float]:
    return {
        "accuracy": accuracy(selected, relevant),
        "false alarms": false_alarms(selected, relevant),
        "features": float(len(selected)),
    }


def linear_predictor(
    test: VirtualStore, ids: CandidateIds, coefficients: NDArray[np.float64], intercept: float
) -> NDArray[np.float64]:
    """A linear model on the samples of another draw; only its own columns are made."""
    if not len(ids):
        return np.full(test.n_samples, intercept)
    return np.asarray(coefficients @ test.gather(ids).values.astype(np.float64) + intercept)


def r2(y: ArrayLike, predicted: ArrayLike) -> float:
    return float(r2_score(y, predicted))


def auc(y: ArrayLike, score: ArrayLike) -> float:
    return float(roc_auc_score(y, score))
