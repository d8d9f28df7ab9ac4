"""Sparse linear regression with the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from backbone_dask.estimators.inputs import CovariatesLike, Seed, TableLike, TargetLike, WeightsLike
from backbone_dask.estimators.sparse import SparseEstimator
from backbone_dask.problems.fitting import Fitted
from backbone_dask.problems.prediction import predict_store
from backbone_dask.values import CandidateIds


class BackboneRegressor(RegressorMixin, SparseEstimator):
    """Linear regression with at most `n_nonzero` features, by the backbone method, with a certified gap.

    Parameters
    ----------
    n_nonzero : int, list of int, "auto" or None
        Most features in the model (k). A list or "auto" is chosen from on validation samples. None is 10, or as many
        as the data have.
    gamma : float, list of float, "grid" or None
        Ridge weight on columns scaled to X_j'X_j = n; larger is weaker. None is 1/sqrt(n). A list or "grid" is chosen
        from on validation samples.
    validation : float, int or "ebic"
        Share of the samples to train on, or number of folds, or the extended BIC, where there is something to choose.
    fit_intercept : bool
    nonnegative : bool
        Whether coefficients of features must be 0 or more.
    groups : array (features,) or list of lists, or None
        Features that enter together: a label for each, or lists of ids or names. `n_nonzero` counts groups.
    screen_size, screen_rounds, subproblem_fraction, n_subproblems, subproblem, subproblem_size, subproblem_gamma, \
sample_fraction, backbone_max, sampling, patience, exact
        See :class:`backbone_dask.settings.Settings`.
    time_limit : float
        Seconds for the exact solve.
    gap_tolerance : float
        Relative gap at which the exact solve counts as proven.
    certify : bool or dict
        Whether all columns are priced, in a few more passes over the table, for a bound over all of them; columns that
        are missing from the backbone come back. A dict may have `passes` (4), `tolerance` (0.01), `columns` (2000) and
        `seconds` (None), which end it.
    missing : "refuse" or "mean"
        What stands for NaN.
    executor : "auto", "serial" or "dask"
        "dask" runs on the active Dask client, "auto" does so where there is one. The answer is the same.
    keep_blocks : bool
        Whether workers keep the blocks of a store that they read in memory, as far as they fit, for the next pass.
    random_state : int, RandomState or None
        Seed of every draw; None draws a new one for every fit.

    Attributes
    ----------
    support_ : array of int
        Ids of the features in the model, sorted.
    coefficients_ : array of float
        Their coefficients, in the units of the data; `coef_` is the dense vector, covariates of the table included.
    intercept_ : float
    backbone_ : array of int
        Ids of the features that the exact solve chose from.
    objective_, bound_, gap_, termination_
        What the exact solve found on the backbone, what it proved of the backbone's columns, and why it stopped.
    global_bound_, global_gap_ : float or None
        What is proven of all columns, and how far the objective is from it; None without `certify`.
    certificate_ : Certificate or None
        How that was found: every pass, the columns that were priced in, and a smaller `gamma` where the bound is weak.
    n_nonzero_, gamma_ : what was chosen.
    validation_curve_ : tuple of GridPoint
        Errors and gaps of every n_nonzero and gamma that was tried.
    levels_ : tuple of LevelRecord
    traffic_ : dict
        Bytes of columns read, taken from the workers' memory and moved between them; tasks placed, and run there.
    n_constant_ : int
        Constant columns: counted, never chosen.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; of a store only the names of the features in the model are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneRegressor
    >>> X = np.random.default_rng(0).normal(size=(100, 300))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42] + 1
    >>> model = BackboneRegressor(n_nonzero=2, gamma=1e6).fit(X, y)
    >>> dict(zip(model.support_.tolist(), model.coefficients_.round(3).tolist()))
    {7: 3.0, 42: -2.0}
    >>> bool(model.gap_ <= 1e-4)
    True
    """

    _task = "regression"
    _checks: ClassVar[dict[str, Any]] = {"y_numeric": True}

    def __init__(
        self,
        n_nonzero: int | Sequence[int] | str | None = None,
        *,
        gamma: float | Sequence[float] | str | None = None,
        validation: float | str = 0.7,
        fit_intercept: bool = True,
        nonnegative: bool = False,
        groups: Sequence[Any] | NDArray[Any] | None = None,
        screen_size: int | str | None = None,
        screen_rounds: int = 1,
        subproblem_fraction: float = 0.5,
        n_subproblems: int | str = 10,
        subproblem: str = "relaxation",
        subproblem_size: str = "fixed",
        subproblem_gamma: float | str | None = None,
        sample_fraction: float = 1.0,
        backbone_max: int = 250,
        sampling: str = "exponential",
        patience: int | None = 2,
        exact: str = "branch-and-bound",
        time_limit: float = 60.0,
        gap_tolerance: float = 1e-4,
        certify: bool | Mapping[str, Any] = False,
        missing: str = "refuse",
        executor: str = "auto",
        keep_blocks: bool = False,
        random_state: Seed = 0,
    ) -> None:
        self._take(locals())

    def fit(
        self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None, covariates: CovariatesLike = None
    ) -> BackboneRegressor:
        """Fit to a samples x features table, a FeatureStore, or the path of one.

        A table is one of numpy, pandas, polars, scipy.sparse, dask or xarray (a DataArray, whose second dimension is
        the features); lazy ones stay lazy, and give the same bits. For a store `y` may also be the name of a target, or
        None where the store has only one. `covariates` are in the model unpenalised: a table (samples, q), or a list of
        names or ids of features of X.
        """
        store, target = self._training_data(X, y)
        return self._keep(self._fit_one(store, target, sample_weight, covariates))

    def predict(self, X: TableLike, covariates: CovariatesLike = None) -> NDArray[np.float64]:
        """Predictions, shape (samples,). Only the columns of the model are read.

        `covariates` must be given if the model was fitted to a table of them.
        """
        check_is_fitted(self)
        return predict_store(self.model_, self._table(X), covariates)

    def score(
        self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None, covariates: CovariatesLike = None
    ) -> float:
        """R2 of the predictions of X; a store may bring its own `y`, as in `fit`."""
        return float(r2_score(self._truth(X, y), self.predict(X, covariates), sample_weight=sample_weight))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """All p coefficients, most of them 0."""
        check_is_fitted(self)
        dense = np.zeros(self.n_features_in_)
        dense[self.support_] = self.coefficients_
        dense[self.model_.covariates.ids] = self.model_.covariates.coefficients
        return dense

    def _used_names(self) -> set[str]:
        return {*self.model_.names, *self.model_.covariates.names}

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
        self.certificate_ = certificate = fitted.finding.certificate
        self.global_bound_ = None if certificate is None else certificate.bound
        self.global_gap_ = fitted.global_gap
        self.n_nonzero_, self.gamma_ = fitted.n_nonzero, fitted.gamma
        self.validation_curve_ = fitted.finding.grid
        self.traffic_ = fitted.traffic
        return self
