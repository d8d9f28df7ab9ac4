"""The backbone method around any scikit-learn estimator."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from backbone_dask.errors import InvalidSettingError
from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.estimators.inputs import Seed, TableLike, TargetLike, WeightsLike
from backbone_dask.estimators.table import TableEstimator, coded, settings_of
from backbone_dask.problems.learner_fitting import FittedLearner, Learners, fit_learners, prepare_learners
from backbone_dask.problems.learners import Relevance
from backbone_dask.runtime.narration import Narrator
from backbone_dask.setting_ranges import number
from backbone_dask.settings import CHOICES, Settings
from backbone_dask.store import FeatureStore
from backbone_dask.values import CandidateIds

_USUAL = Settings()
_OWN_LOGISTIC = ("decision_function", "predict_proba")


def _offers(name: str) -> Any:
    def check(self: Backbone) -> bool:
        if hasattr(self, "reduced_"):
            return hasattr(self.reduced_, name)
        return hasattr(self.reduced, name) or (
            _is_own(self.reduced) and name in _OWN_LOGISTIC and is_classifier(self.subproblem)
        )

    return check


class Backbone(MetaEstimatorMixin, TableEstimator):
    """The backbone method with any scikit-learn estimator that has `coef_` or `feature_importances_` once fitted.

    Copies of `subproblem` are fitted to samples of the columns that survive a screen; the features that they find
    relevant are the backbone, to which `reduced` is fitted. Both get the columns in the units of the data. At least
    one of the two is an estimator, or a pipeline that ends with one and keeps every column; the other may be one of
    our own solvers. Whether it is a regressor or a classifier, the estimators say.

    Parameters
    ----------
    subproblem : estimator, "relaxation", "elastic-net", "rounding" or None
        What finds relevant features; None is "relaxation". Every `random_state` in a copy is set from the seed of its
        subproblem.
    reduced : estimator, "branch-and-bound", "outer-approximation" or None
        The final model; None is "branch-and-bound", which proves how good its model of `n_nonzero` features is. A
        `random_state` of None in it is set from that of the Backbone.
    n_nonzero, gamma, time_limit, gap_tolerance
        As for :class:`BackboneRegressor`, for our own solvers; an estimator stops by its own rules.
    threshold : float in [0, 1)
        A feature is relevant if its importance is above this share of the largest one in the same model: that is
        |coefficient| times the spread of its column, in a pipeline |coefficient| alone, or `feature_importances_`. Of
        several classes the largest coefficient counts.
    max_features : int or None
        Most features that one subproblem may find relevant, the most important ones; for estimators that are not
        sparse themselves.
    screen : str or None
        "correlation" or "splines" for numbers, "logistic", "logistic-loss", "svm" or "entropy" for classes, or "none",
        which keeps every column. None is "correlation", for two classes "logistic-loss", for more "svm".
    screen_size, subproblem_fraction, n_subproblems, backbone_max, sampling, patience
        See :class:`backbone_dask.settings.Settings`.
    missing, executor, keep_blocks, random_state
        As for :class:`BackboneRegressor`.

    Attributes
    ----------
    reduced_ : the fitted model, on the columns of the backbone.
    backbone_, support_ : arrays of int
        Ids of the features in the backbone, and of those that the model uses (all of the backbone if it has neither
        coefficients nor importances), sorted.
    classes_ : array, the labels; of classifiers only.
    objective_, bound_, gap_, termination_
        As for :class:`BackboneRegressor`; None where `reduced` is an estimator: nothing is proven then.
    levels_, n_constant_, traffic_
        As for :class:`BackboneRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Lasso, LinearRegression
    >>> from backbone_dask import Backbone
    >>> X = np.random.default_rng(0).normal(size=(100, 500))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42]
    >>> model = Backbone(Lasso(alpha=0.5), LinearRegression(), subproblem_fraction=0.8).fit(X, y)
    >>> model.coef_[[7, 42]].round(6).tolist()
    [3.0, -2.0]
    >>> Backbone(Lasso(alpha=0.5), n_nonzero=2).fit(X, y).support_.tolist()
    [7, 42]
    """

    def __init__(
        self,
        subproblem: Any = None,
        reduced: Any = None,
        *,
        n_nonzero: int | None = None,
        gamma: float | None = None,
        threshold: float = 1e-10,
        max_features: int | None = None,
        screen: str | None = None,
        screen_size: int | str | None = None,
        subproblem_fraction: float = 0.5,
        n_subproblems: int | str = 10,
        backbone_max: int = 250,
        sampling: str = "exponential",
        patience: int | None = 2,
        time_limit: float = 60.0,
        gap_tolerance: float = 1e-4,
        missing: str = "refuse",
        executor: str = "auto",
        keep_blocks: bool = False,
        random_state: Seed = 0,
    ) -> None:
        self._take(locals())

    def fit(self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> Backbone:
        """Fit to a table of any kind, a FeatureStore, or the path of one; see BackboneRegressor.fit.

        Sample weights need estimators that take them; in a pipeline its last step gets them.
        """
        learners = self._learners()
        store, labels = self._training_data(X, y)
        target = self._codes(labels) if learners.task == "classification" else labels
        ready = prepare_learners(store, target, labels, self._settings(store), learners, sample_weight)
        executor = chosen_executor(self.executor, keep_blocks=self.keep_blocks)
        return self._keep(fit_learners(ready, executor, listen=Narrator()))

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Numbers or labels, shape (samples,). Only the columns of the backbone are read."""
        table = self._backbone_of(X)
        return np.asarray(self.reduced_.predict(table))

    @available_if(_offers("predict_proba"))
    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """Probabilities, shape (samples, classes)."""
        table = self._backbone_of(X)
        return np.asarray(self.reduced_.predict_proba(table))

    @available_if(_offers("decision_function"))
    def decision_function(self, X: TableLike) -> NDArray[np.float64]:
        """What the model decides by: shape (samples,) for two classes, else (samples, classes)."""
        table = self._backbone_of(X)
        return np.asarray(self.reduced_.decision_function(table))

    def score(self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """R2 of numbers, the share of labels that are right; a store may bring its own `y`, as in `fit`."""
        quality = accuracy_score if is_classifier(self) else r2_score
        return float(quality(self._truth(X, y), self.predict(X), sample_weight=sample_weight))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The coefficients of all features, most of them 0, in the shape that the model has them."""
        return self._dense("coef_")

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """The importances of all features, most of them 0."""
        return self._dense("feature_importances_")

    @property
    def intercept_(self) -> Any:
        check_is_fitted(self)
        return self.reduced_.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        given = [each for each in (self.reduced, self.subproblem) if not _is_own(each)]
        if given:
            tags.estimator_type = get_tags(given[0]).estimator_type
            tags.classifier_tags = ClassifierTags() if is_classifier(given[0]) else None
            tags.regressor_tags = RegressorTags() if is_regressor(given[0]) else None
        return tags

    @property
    def _checks(self) -> dict[str, Any]:  # type: ignore[override]
        return {"y_numeric": is_regressor(self)}

    def _learners(self) -> Learners:
        subproblem, reduced = _given("subproblem", self.subproblem), _given("reduced", self.reduced)
        relevance = Relevance(_share(self.threshold), _count(self.max_features))
        if subproblem is None and self.max_features is not None:
            raise InvalidSettingError("max_features is for estimators; our own solvers take n_nonzero")
        kinds = {is_classifier(each) for each in (subproblem, reduced) if each is not None}
        if len(kinds) > 1:
            raise InvalidSettingError("one of subproblem and reduced is a classifier, the other a regressor")
        if subproblem is not None and reduced is not None and self.n_nonzero is not None:
            raise InvalidSettingError("n_nonzero is for our own solvers; limit estimators by max_features")
        task = "classification" if True in kinds else "regression"
        return Learners(task, subproblem, reduced, relevance, self.screen)

    def _codes(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        self.classes_, codes = coded(labels)
        return codes.astype(np.float64)

    def _settings(self, store: FeatureStore) -> Settings:
        """Our own solvers by name; an estimator takes the place of the usual one."""
        other: dict[str, Any] = {
            "subproblem": self.subproblem if isinstance(self.subproblem, str) else _USUAL.subproblem
        }
        if isinstance(self.reduced, str):
            other["exact"] = self.reduced
        if self.screen == "none":
            if self.screen_size is not None:
                raise InvalidSettingError("screen='none' keeps every column; leave out screen_size, or choose a screen")
            other["screen_size"] = store.n_features
        return settings_of(self, Settings, **other)

    def _used_names(self) -> tuple[str, ...]:
        return self._picked.names

    def _backbone_of(self, X: TableLike) -> NDArray[np.generic]:
        check_is_fitted(self)
        return self._picked.table(self._table(X))

    def _dense(self, name: str) -> NDArray[np.float64]:
        check_is_fitted(self)
        own = np.asarray(getattr(self.reduced_, name))
        dense = np.zeros((*own.shape[:-1], self.n_features_in_))
        dense[..., self.backbone_] = own
        return dense

    def _keep(self, fitted: FittedLearner) -> Backbone:
        outcome = fitted.finding.outcome
        self.reduced_, self._picked = fitted.model, fitted.picked
        self.backbone_: CandidateIds = fitted.finding.backbone
        self.support_: CandidateIds = fitted.support
        self.levels_ = fitted.finding.levels
        self.n_constant_ = fitted.finding.screening.n_constant
        self.traffic_ = fitted.traffic
        proven = (outcome.objective, outcome.bound, outcome.gap, outcome.termination)
        claims: tuple[Any, ...] = proven if _is_own(self.reduced) else (None,) * 4
        self.objective_, self.bound_, self.gap_, self.termination_ = claims
        return self


def _is_own(solver: Any) -> bool:
    return solver is None or isinstance(solver, str)


def _given(name: str, solver: Any) -> Any:
    """The estimator, or None for one of our own solvers."""
    known = CHOICES["exact" if name == "reduced" else name]
    if _is_own(solver):
        if solver is not None and solver not in known:
            raise InvalidSettingError(f"{name} is {solver!r}; use an estimator or {', '.join(map(repr, known))}")
        return None
    if isinstance(solver, type) or not (is_classifier(solver) or is_regressor(solver)):
        raise InvalidSettingError(f"{name} is {solver!r}; give an instance of a regressor or classifier")
    return solver


def _share(threshold: float) -> float:
    if not isinstance(threshold, Real) or not 0 <= threshold < 1:
        raise InvalidSettingError(f"threshold is {threshold!r}; it must be a number in [0, 1)")
    return float(threshold)


def _count(max_features: int | None) -> int | None:
    if max_features is None:
        return None
    if number("max_features", max_features, whole=True) < 1:
        raise InvalidSettingError(f"max_features is {max_features}; it must be at least 1")
    return int(max_features)
