"""Any scikit-learn estimator with coefficients or importances as the model of a subproblem, or as the reduced model."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from backbone_dask.columns import measured
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.protocols import Fit, PrepareColumns, Problem
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Mask, Outcome, SparseFit, Target, Termination

Importances = NDArray[np.float64]
"""How much a model uses each of its columns, 0 or more; shape (features,)."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What models explain: the target as scikit-learn takes it, sample weights, and what our own solvers take for y."""

    target: NDArray[Any]
    weights: NDArray[np.float64] | None
    response: Target | None


@dataclass(frozen=True, slots=True)
class Relevance:
    """Columns whose importance is above a share of the largest one; of more than `most`, the most important."""

    threshold: float
    most: int | None = None

    def __call__(self, importances: Importances) -> Mask:
        relevant: Mask = importances > self.threshold * importances.max(initial=0.0)
        if self.most is not None:
            # Of equals the first: a sort that is not stable would answer differently elsewhere.
            relevant[np.argsort(-importances, kind="stable")[self.most :]] = False
        return relevant


@dataclass(frozen=True, slots=True)
class FitLearner:
    """A copy of an estimator, fitted to the sampled columns; every `random_state` in it is the subproblem's seed."""

    estimator: Any

    def __call__(self, X: NDArray[Any], y: Explained, *, seed: int) -> Importances:
        names = [name for name in self.estimator.get_params() if _is_seed(name)]
        return importances(_fitted(clone(self.estimator).set_params(**dict.fromkeys(names, seed)), X, y), X)


@dataclass(frozen=True, slots=True)
class FitReducedLearner:
    """An estimator on the backbone's columns; only a `random_state` of None becomes `seed`. Nothing is proven."""

    estimator: Any
    seed: int

    def __call__(self, X: NDArray[Any], y: Explained, *, warm_start: CandidateIds, seconds: float) -> Outcome[Any]:
        began, given = time.perf_counter(), self.estimator.get_params()
        names = [name for name, value in given.items() if _is_seed(name) and value is None]
        model = _fitted(clone(self.estimator).set_params(**dict.fromkeys(names, self.seed)), X, y)
        return Outcome(model, np.nan, np.nan, Termination.ROUND_LIMIT, 0, time.perf_counter() - began)


@dataclass(frozen=True, slots=True)
class OwnSubproblem:
    """One of our own solvers of subproblems, on columns in the units of the data."""

    prepare: PrepareColumns
    solve: Callable[..., SparseFit]

    @classmethod
    def of(cls, problem: Problem[SparseFit]) -> OwnSubproblem:
        return cls(problem.prepare, problem.fit_subproblem)

    def __call__(self, X: NDArray[Any], y: Explained, *, seed: int) -> SparseFit:
        return self.solve(self.prepare(measured(X)[0]), y.response, seed=seed)


@dataclass(frozen=True, slots=True)
class OwnReduced:
    """One of our own exact solvers, on columns in the units of the data; of at most as many features as there are."""

    prepare: PrepareColumns
    fit: Any

    @classmethod
    def of(cls, problem: Problem[SparseFit]) -> OwnReduced:
        return cls(problem.prepare, problem.fit)

    def __call__(
        self, X: NDArray[Any], y: Explained, *, warm_start: CandidateIds, seconds: float
    ) -> Outcome[SparseFit]:
        fit: Fit[SparseFit] = self.fit.at(min(self.fit.n_nonzero, len(X)), self.fit.gamma)
        return fit(self.prepare(measured(X)[0]), y.response, warm_start=warm_start, seconds=seconds)


def importances(fitted: Any, X: NDArray[Any]) -> Importances:
    """|coefficients| or importances of a model that was fitted to the rows of X (features, samples).

    Coefficients count times the spread of their columns, unless a pipeline changed the columns' units before. Of
    several classes the largest counts.
    """
    last = last_model(fitted)
    if hasattr(last, "coef_"):
        found = np.abs(_dense(last.coef_)).max(axis=0)
    elif hasattr(last, "feature_importances_"):
        found = np.asarray(last.feature_importances_, np.float64)
    else:
        raise InvalidSettingError(f"{_called(last)} has neither coef_ nor feature_importances_ once it is fitted")
    _require_one_for_each(found, len(X), fitted)
    in_data_units = last is fitted and hasattr(last, "coef_")
    return np.asarray(found * X.std(axis=1, dtype=np.float64)) if in_data_units else found


def last_model(fitted: Any) -> Any:
    """The model at the end of pipelines, and inside searches over settings."""
    if isinstance(fitted, Pipeline):
        return last_model(fitted[-1])
    return last_model(fitted.best_estimator_) if hasattr(fitted, "best_estimator_") else fitted


def weight_parameter(estimator: Any) -> str:
    """What `fit` calls sample weights, in a pipeline those of its last step; refuses an estimator without any."""
    if isinstance(estimator, Pipeline):
        return f"{estimator.steps[-1][0]}__{weight_parameter(estimator[-1])}"
    if not has_fit_parameter(estimator, "sample_weight"):
        raise InvalidSettingError(f"{_called(estimator)} takes no sample_weight; fit without, or use another estimator")
    return "sample_weight"


def _fitted(estimator: Any, X: NDArray[Any], y: Explained) -> Any:
    weights = {} if y.weights is None else {weight_parameter(estimator): y.weights}
    # Workers do not know how scikit-learn was set in the process of the user.
    with one_blas_thread(), config_context(enable_metadata_routing=False, transform_output="default"):
        return estimator.fit(X.T, y.target, **weights)


def _dense(coefficients: Any) -> NDArray[np.float64]:
    plain = coefficients.toarray() if sparse.issparse(coefficients) else coefficients
    return np.atleast_2d(np.asarray(plain, np.float64))


def _require_one_for_each(found: Importances, n_columns: int, fitted: Any) -> None:
    if found.shape != (n_columns,):
        raise InvalidSettingError(
            f"{_called(fitted)} was fitted to {n_columns} columns, and has coefficients for {found.size}; "
            "use steps that keep every column"
        )
    if not np.isfinite(found).all():
        raise InvalidDataError(
            f"{_called(fitted)} ended with coefficients that are not finite; scale the columns (make_pipeline("
            "StandardScaler(), ...)) or change its settings"
        )


def _is_seed(name: str) -> bool:
    return name == "random_state" or name.endswith("__random_state")


def _called(estimator: Any) -> str:
    return type(estimator).__name__
