"""Sparse logistic regression with the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from backbone_dask.adjustment import checked_weights
from backbone_dask.algorithm.hierarchy import union
from backbone_dask.errors import InvalidDataError
from backbone_dask.estimators.inputs import CovariatesLike, Seed, TableLike, TargetLike, WeightsLike
from backbone_dask.estimators.sparse import SparseEstimator
from backbone_dask.estimators.table import coded
from backbone_dask.problems.classes import weigh_classes
from backbone_dask.problems.prediction import predict_store
from backbone_dask.runtime.ledger import added


class BackboneClassifier(ClassifierMixin, SparseEstimator):
    """Logistic regression with at most `n_nonzero` features, by the backbone method, with a certified gap.

    More than two classes are fitted one against the rest, each with features of its own.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes, which multiply the sample weights; "balanced" gives each class the same total of them.
    nonnegative, groups
        As for :class:`BackboneRegressor`, and kept by the model of every class.
    n_nonzero, gamma, validation, fit_intercept, screen_size, screen_rounds, subproblem_fraction, n_subproblems, \
subproblem, subproblem_size, subproblem_gamma, sample_fraction, backbone_max, sampling, patience, exact, time_limit, \
gap_tolerance, certify, missing, executor, keep_blocks, random_state
        As for :class:`BackboneRegressor`; subproblem="rounding" and exact="branch-and-bound" are for squared loss:
        logistic loss is solved by outer approximation.

    Attributes
    ----------
    classes_ : array, the labels.
    models_ : tuple of LinearModel
        One for two classes (of the second), else one for each class.
    support_ : array of int
        Ids of the features in any of the models, sorted.
    backbone_ : array of int
        Ids of the features that any of the exact solves chose from, sorted.
    coef_, intercept_ : arrays (models, features) and (models,).
    n_nonzero_, gamma_ : tuples, one entry for each model
        The size and ridge weight that were asked for or chosen.
    objective_, bound_, gap_ : tuples, one entry for each model
        The objective, and what is proven for the columns of the backbone: no support of them costs less than the bound.
    global_bound_, global_gap_, certificate_ : tuples, one entry for each model
        As for :class:`BackboneRegressor`; None without `certify`.
    validation_curve_ : tuple of tuples of GridPoint, one for each model
        Errors and gaps of every n_nonzero and gamma that was tried; empty where there was nothing to choose.
    fits_ : tuple of Fitted
        How each model was found: backbone, levels, bound and gap, validation curve.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 100))
    >>> y = np.where(3 * X[:, 7] - 2 * X[:, 42] > 0, "ill", "well")
    >>> model = BackboneClassifier(n_nonzero=2).fit(X, y)
    >>> model.support_.tolist()
    [7, 42]
    >>> model.predict_proba(X[:1]).shape
    (1, 2)
    """

    _task = "classification"
    _checks: ClassVar[dict[str, Any]] = {}

    def __init__(
        self,
        n_nonzero: int | Sequence[int] | str | None = None,
        *,
        gamma: float | Sequence[float] | str | None = None,
        validation: float | str = 0.7,
        fit_intercept: bool = True,
        class_weight: Mapping[Any, float] | str | None = None,
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
    ) -> BackboneClassifier:
        """Fit to a samples x features table, a FeatureStore, or the path of one; see BackboneRegressor.fit."""
        store, labels = self._training_data(X, y)
        self.classes_, codes = coded(labels)
        weights = self._weights(labels, sample_weight)
        self._require_weight(codes, weights)
        wanted = [1] if self.classes_.size == 2 else range(self.classes_.size)
        self.fits_ = tuple(
            self._fit_one(store, np.where(codes == code, 1.0, -1.0), weights, covariates) for code in wanted
        )
        self.models_ = tuple(fitted.model for fitted in self.fits_)
        self.n_nonzero_ = tuple(fitted.n_nonzero for fitted in self.fits_)
        self.gamma_ = tuple(fitted.gamma for fitted in self.fits_)
        self.traffic_ = added([fitted.traffic for fitted in self.fits_])
        outcomes = [fitted.finding.outcome for fitted in self.fits_]
        self.objective_ = tuple(outcome.objective for outcome in outcomes)
        self.bound_ = tuple(outcome.bound for outcome in outcomes)
        self.gap_ = tuple(outcome.gap for outcome in outcomes)
        self.certificate_ = tuple(fitted.finding.certificate for fitted in self.fits_)
        self.global_bound_ = tuple(each and each.bound for each in self.certificate_)
        self.global_gap_ = tuple(fitted.global_gap for fitted in self.fits_)
        self.validation_curve_ = tuple(fitted.finding.grid for fitted in self.fits_)
        self.support_ = union(model.ids for model in self.models_)
        self.backbone_ = union(fitted.finding.backbone for fitted in self.fits_)
        self.intercept_ = np.array([model.intercept for model in self.models_])
        return self

    def decision_function(self, X: TableLike, covariates: CovariatesLike = None) -> NDArray[np.float64]:
        """Log odds: shape (samples,) for two classes, else (samples, classes), one against the rest."""
        check_is_fitted(self)
        store = self._table(X)
        odds = np.stack([predict_store(model, store, covariates) for model in self.models_], axis=1)
        return odds[:, 0] if len(self.models_) == 1 else odds

    def predict_proba(self, X: TableLike, covariates: CovariatesLike = None) -> NDArray[np.float64]:
        """Probabilities, shape (samples, classes); one against the rest they are scaled to sum to 1."""
        odds = self.decision_function(X, covariates)
        if odds.ndim == 1:
            return np.stack([expit(-odds), expit(odds)], axis=1)
        share = expit(odds)
        # Where every class is all but ruled out, the least unlikely one wins.
        share = np.where(share.sum(axis=1, keepdims=True) > 0, share, odds == odds.max(axis=1, keepdims=True))
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def predict(self, X: TableLike, covariates: CovariatesLike = None) -> NDArray[Any]:
        """Labels, shape (samples,)."""
        odds = self.decision_function(X, covariates)
        codes = (odds > 0).astype(int) if odds.ndim == 1 else odds.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def score(
        self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None, covariates: CovariatesLike = None
    ) -> float:
        """The share of labels that are right, by weight; a store may bring its own `y`, as in `fit`."""
        return float(accuracy_score(self._truth(X, y), self.predict(X, covariates), sample_weight=sample_weight))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """All coefficients, shape (models, features), most of them 0."""
        check_is_fitted(self)
        dense = np.zeros((len(self.models_), self.n_features_in_))
        for row, model in zip(dense, self.models_, strict=True):
            row[model.ids] = model.coefficients
            row[model.covariates.ids] = model.covariates.coefficients
        return dense

    def _used_names(self) -> set[str]:
        return {name for model in self.models_ for name in (*model.names, *model.covariates.names)}

    def _require_weight(self, codes: NDArray[np.int64], weights: Any) -> None:
        """Every class must count, for each is fitted against the rest."""
        totals = np.bincount(codes, checked_weights(weights, codes.size))
        counted = np.flatnonzero(totals > 0)
        if counted.size == 1:
            raise InvalidDataError(
                f"only class {self.classes_[counted[0]]} has samples of positive weight; give another"
            )
        if counted.size < totals.size:
            lost = self.classes_[np.argmin(totals)]
            raise InvalidDataError(f"class {lost} has no sample of positive weight; leave its samples out")

    def _weights(self, labels: NDArray[Any], sample_weight: Any) -> Any:
        if self.class_weight is None:
            return sample_weight
        return weigh_classes(self.class_weight, labels, sample_weight)
