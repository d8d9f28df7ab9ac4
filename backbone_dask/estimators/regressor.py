"""Sparse linear regression with the scikit-learn contract."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from backbone_dask.errors import InvalidDataError
from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.problems.fitting import Fitted, fit_linear, prepare
from backbone_dask.problems.prediction import predict_store
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore, MemoryStore, as_store
from backbone_dask.values import CandidateIds


class BackboneRegressor(RegressorMixin, BaseEstimator):
    """Linear regression with at most `n_nonzero` features, by the backbone method, with a certified gap.

    Parameters
    ----------
    n_nonzero : int or None
        Most features in the model (k); None is 10, or as many as the data have.
    gamma : float or None
        Ridge weight on columns scaled to X_j'X_j = n; larger is weaker. None is 1/sqrt(n).
    screen_size, screen_rounds, subproblem_fraction, n_subproblems, backbone_max, sampling, patience
        See :class:`backbone_dask.settings.Settings`.
    time_limit : float
        Seconds for the exact solve.
    gap_tolerance : float
        Relative gap at which the exact solve counts as proven.
    missing : "refuse" or "mean"
        What stands for NaN in a table that is given in memory.
    executor : "auto", "serial" or "dask"
        "dask" runs on the active Dask client, "auto" does so where there is one. The answer is the same.
    random_state : int, RandomState or None
        Seed of every draw; None draws a new one for every fit.

    Attributes
    ----------
    support_ : array of int
        Ids of the features in the model, sorted.
    coefficients_ : array of float
        Their coefficients, in the units of the data; `coef_` is the dense vector.
    intercept_ : float
    backbone_ : array of int
        Ids of the features that the exact solve chose from.
    objective_, bound_, gap_, termination_
        What the exact solve found on the backbone, what it proved, and why it stopped.
    levels_ : tuple of LevelRecord
    n_constant_ : int
        Constant columns: counted, never chosen.
    """

    def __init__(
        self,
        n_nonzero: int | None = None,
        *,
        gamma: float | None = None,
        screen_size: int | None = None,
        screen_rounds: int = 1,
        subproblem_fraction: float = 0.5,
        n_subproblems: int = 10,
        backbone_max: int = 250,
        sampling: str = "exponential",
        patience: int | None = 2,
        time_limit: float = 60.0,
        gap_tolerance: float = 1e-4,
        missing: str = "refuse",
        executor: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.n_nonzero = n_nonzero
        self.gamma = gamma
        self.screen_size = screen_size
        self.screen_rounds = screen_rounds
        self.subproblem_fraction = subproblem_fraction
        self.n_subproblems = n_subproblems
        self.backbone_max = backbone_max
        self.sampling = sampling
        self.patience = patience
        self.time_limit = time_limit
        self.gap_tolerance = gap_tolerance
        self.missing = missing
        self.executor = executor
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> BackboneRegressor:
        """Fit to a samples x features table, a FeatureStore, or the path of one.

        For a store `y` may also be the name of a target, or None where the store has only one.
        """
        store, target = self._training_data(X, y)
        fitted = fit_linear(prepare(store, target, self._settings()), chosen_executor(self.executor))
        return self._keep(fitted)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predictions, shape (samples,). Only the columns of the support are read."""
        check_is_fitted(self)
        return predict_store(self.model_, self._table(X, reset=False))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """All p coefficients, most of them 0."""
        check_is_fitted(self)
        dense = np.zeros(self.n_features_in_)
        dense[self.support_] = self.coefficients_
        return dense

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing == "mean"
        return tags

    def _settings(self) -> Settings:
        return Settings(
            n_nonzero=self.n_nonzero,
            gamma=self.gamma,
            screen_size=self.screen_size,
            screen_rounds=self.screen_rounds,
            subproblem_fraction=self.subproblem_fraction,
            n_subproblems=self.n_subproblems,
            backbone_max=self.backbone_max,
            sampling=self.sampling,
            patience=self.patience,
            time_limit=self.time_limit,
            gap_tolerance=self.gap_tolerance,
            seed=seed_of(self.random_state),
        )

    def _training_data(self, X: Any, y: Any) -> tuple[FeatureStore, Any]:
        if not _is_plain(X):
            store = self._table(X, reset=True)
            return store, store.target(y) if y is None or isinstance(y, str) else np.asarray(y, np.float64)
        if y is None:
            raise InvalidDataError("requires y to be passed, but the target y is None")
        table, target = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2, **self._rules())
        names = [str(name) for name in self.feature_names_in_] if hasattr(self, "feature_names_in_") else None
        return MemoryStore(table, names=names, missing=self.missing), target  # type: ignore[arg-type]

    def _table(self, X: Any, *, reset: bool) -> FeatureStore:
        if _is_plain(X):
            return MemoryStore(validate_data(self, X, reset=reset, **self._rules()), missing=self.missing)  # type: ignore[arg-type]
        store = as_store(X, missing=self.missing)  # type: ignore[arg-type]
        if reset:
            self.n_features_in_ = store.n_features
        return store

    def _rules(self) -> dict[str, Any]:
        finite = "allow-nan" if self.missing == "mean" else True
        kinds = [np.float64, np.float32, np.int8, np.uint8]
        return {"accept_sparse": "csc", "dtype": kinds, "ensure_all_finite": finite}

    def _keep(self, fitted: Fitted) -> BackboneRegressor:
        outcome = fitted.finding.outcome
        self.model_ = fitted.model
        self.support_: CandidateIds = fitted.model.ids
        self.coefficients_ = fitted.model.coefficients
        self.intercept_ = fitted.model.intercept
        self.backbone_ = fitted.finding.backbone
        self.levels_ = fitted.finding.levels
        self.n_constant_ = fitted.finding.screening.n_constant
        self.objective_, self.bound_, self.gap_ = outcome.objective, outcome.bound, outcome.gap
        self.termination_ = outcome.termination
        return self


def seed_of(random_state: Any) -> int:
    """A whole number for scikit-learn's ways of saying where randomness comes from."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def _is_plain(X: Any) -> bool:
    """Whether scikit-learn's own validation applies: not a store, not a path, not lazy."""
    return not (isinstance(X, FeatureStore | str) or hasattr(X, "__fspath__") or hasattr(X, "dask"))
