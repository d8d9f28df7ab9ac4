"""Feature selection by the backbone method, in front of any estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.estimators.backbone import Backbone
from backbone_dask.estimators.classifier import BackboneClassifier
from backbone_dask.estimators.inputs import (
    CovariatesLike,
    HasShape,
    TableLike,
    TargetLike,
    WeightsLike,
    header,
    is_stored,
)
from backbone_dask.estimators.regressor import BackboneRegressor
from backbone_dask.estimators.table import TableEstimator
from backbone_dask.estimators.tree import BackboneTreeClassifier
from backbone_dask.problems.picked import Picked
from backbone_dask.store import as_store
from backbone_dask.store.frames import eager_frame, is_lazy, lazy_array
from backbone_dask.values import CandidateIds, Mask

_KINDS = (BackboneRegressor, BackboneClassifier, BackboneTreeClassifier, Backbone)


class BackboneSelector(SelectorMixin, MetaEstimatorMixin, TableEstimator):
    """The features that a model of the backbone method uses: a transformer in front of any estimator.

    Parameters
    ----------
    estimator : BackboneRegressor, BackboneClassifier, BackboneTreeClassifier, Backbone or None
        What chooses the features; a copy of it is fitted. None is chosen from `y`: a BackboneClassifier for words,
        truth values, and numbers of two values; a BackboneRegressor for all other numbers, so that classes which are
        numbered 0, 1, 2 need an estimator.
    n_nonzero : int, list of int, "auto" or None
        Most features, in place of the `n_nonzero` of the estimator; for one that has none, leave it out.
    which : "support" or "backbone"
        The features of the final model, or the larger set that it was chosen from: a generous selection, for models
        that can use more than a sparse one.

    Attributes
    ----------
    estimator_ : the fitted estimator.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn; of a store no names are kept but those of the selected features.

    Notes
    -----
    `transform` gives the selected columns by id: dense tables, stores and paths as numpy, sparse tables as sparse ones,
    dask arrays and frames and xarrays of them as dask arrays; `set_output` asks for frames of pandas or polars, which
    are in memory always. Covariates are in the model and not among the selected features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from backbone_dask import BackboneSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 300))
    >>> y = 3 * X[:, 7] - 2 * X[:, 42]
    >>> BackboneSelector(n_nonzero=2).fit(X, y).get_support(indices=True).tolist()
    [7, 42]
    >>> round(make_pipeline(BackboneSelector(n_nonzero=2), LinearRegression()).fit(X, y).score(X, y), 6)
    1.0
    """

    def __init__(
        self,
        estimator: BackboneRegressor | BackboneClassifier | BackboneTreeClassifier | Backbone | None = None,
        *,
        n_nonzero: int | list[int] | str | None = None,
        which: str = "support",
    ) -> None:
        self._take(locals())

    def fit(
        self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None, covariates: CovariatesLike = None
    ) -> BackboneSelector:
        """Fit the estimator; `X` and `y` are those of BackboneRegressor.fit.

        Sample weights and covariates go to the estimator, and are refused where it takes none.
        """
        if self.which not in ("support", "backbone"):
            raise InvalidSettingError(f"which is {self.which!r}; use 'support' or 'backbone'")
        chosen = self._chosen(self._truth(X, y))
        given = {"sample_weight": sample_weight, "covariates": covariates}
        wanted = {name: value for name, value in given.items() if value is not None}
        for name in wanted:
            if not has_fit_parameter(chosen, name):
                raise InvalidSettingError(f"{type(chosen).__name__} takes no {name}; fit without, or use another")
        return self._keep(chosen.fit(X, y, **wanted), X)

    def get_support(self, indices: bool = False) -> Mask | CandidateIds:
        """A mask (features,), or with `indices` the ids of the selected features, sorted."""
        check_is_fitted(self)
        return self._picked.ids.copy() if indices else self._get_support_mask()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the selected features; `input_features` must be those of the fit, where these are known."""
        check_is_fitted(self)
        if input_features is None:
            return np.array(self._picked.names, object)
        names = np.asarray(input_features, object)
        if hasattr(self, "feature_names_in_") and not np.array_equal(names, self.feature_names_in_):
            raise InvalidDataError("input_features is not equal to feature_names_in_")
        if names.shape != (self.n_features_in_,):
            raise InvalidDataError("input_features should have length equal to number of features")
        return np.asarray(names[self._picked.ids])

    def transform(self, X: TableLike) -> HasShape:
        """The selected columns of X, shape (samples, selected), by id."""
        check_is_fitted(self)
        if not self._picked.ids.size:
            warnings.warn("No features were selected: the model uses none", UserWarning, stacklevel=2)
        if is_stored(X) or self._by_name:
            return self._picked.table(self._table(X))
        return self._lazily(X) if is_lazy(X) else self._eagerly(eager_frame(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _missing(self) -> Any:
        return "refuse" if self.estimator is None else getattr(self.estimator, "missing", "refuse")

    def _used_names(self) -> tuple[str, ...]:
        return self._picked.names

    def _get_support_mask(self) -> Mask:
        mask = np.zeros(self.n_features_in_, np.bool_)
        mask[self._picked.ids] = True
        return mask

    def _chosen(self, y: NDArray[Any]) -> Any:
        """A fresh estimator, as large as is asked for."""
        if self.estimator is not None and not isinstance(self.estimator, _KINDS):
            raise InvalidSettingError(
                f"estimator is {self.estimator!r}; give one of {', '.join(kind.__name__ for kind in _KINDS)}, or "
                "Backbone(subproblem=...) with it"
            )
        kind = BackboneClassifier if _are_labels(y) else BackboneRegressor
        chosen = kind() if self.estimator is None else clone(self.estimator)
        if self.n_nonzero is None:
            return chosen
        if "n_nonzero" not in chosen.get_params():
            raise InvalidSettingError(f"{type(chosen).__name__} has no n_nonzero; leave it out")
        return chosen.set_params(n_nonzero=self.n_nonzero)

    def _keep(self, fitted: Any, X: TableLike) -> BackboneSelector:
        self.estimator_, self._by_name = fitted, fitted._by_name
        self.n_features_in_ = fitted.n_features_in_
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        ids = fitted.support_ if self.which == "support" else fitted.backbone_
        self._picked = Picked.from_store(ids, as_store(X)) if is_stored(X) else self._of_a_table(ids)
        return self

    def _of_a_table(self, ids: CandidateIds) -> Picked:
        names = self.feature_names_in_[ids] if hasattr(self, "feature_names_in_") else [f"x{j}" for j in ids]
        return Picked(ids, tuple(names))

    def _lazily(self, X: TableLike) -> HasShape:
        array, names = lazy_array(X)
        validate_data(self, header(names, array.shape[1]), reset=False, skip_check_array=True)
        selected: HasShape = array[:, self._picked.ids]
        return np.asarray(selected) if self._gives_frames else selected

    def _eagerly(self, X: TableLike) -> HasShape:
        ids, keeps = self._picked.ids, self._gives_frames and hasattr(X, "columns")
        rules = self._rules() | {"accept_sparse": ["csc", "csr"], "dtype": None}
        table = validate_data(self, X, reset=False, skip_check_array=keeps, **rules)
        if not keeps:
            self._with_values(table)
        selected: HasShape = table.iloc[:, ids] if hasattr(table, "iloc") else table[:, ids]
        return selected

    @property
    def _gives_frames(self) -> bool:
        """Whether `set_output`, or scikit-learn's configuration, asks for frames; these keep the dtypes of columns."""
        own = getattr(self, "_sklearn_output_config", {})
        return bool(own.get("transform", get_config()["transform_output"]) != "default")


def _are_labels(y: NDArray[Any]) -> bool:
    return y.dtype.kind not in "iuf" or np.unique(y).size <= 2
