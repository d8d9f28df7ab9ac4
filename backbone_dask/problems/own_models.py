"""The models of our own exact solvers with the methods and attributes that scikit-learn's have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit


@dataclass(frozen=True, slots=True)
class SparseRegression:
    """X @ coef_ + intercept_, most coefficients 0."""

    coef_: NDArray[np.float64]
    intercept_: float

    def predict(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(X @ self.coef_ + self.intercept_)


@dataclass(frozen=True, slots=True)
class SparseLogistic:
    """Log odds of the second class: X @ coef_[0] + intercept_[0]."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def decision_function(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return np.asarray(X @ self.coef_[0] + self.intercept_[0])

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1)

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])
