"""Optimal classification trees with the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.estimators.inputs import Seed, TableLike, TargetLike, WeightsLike
from backbone_dask.estimators.table import TableEstimator, coded, settings_of
from backbone_dask.problems.classes import weigh_classes
from backbone_dask.problems.prediction import tree_shares
from backbone_dask.problems.tree_fitting import FittedTree, fit_tree, prepare_tree
from backbone_dask.problems.tree_text import export_text
from backbone_dask.runtime.narration import Narrator
from backbone_dask.tree_settings import TreeSettings


class BackboneTreeClassifier(ClassifierMixin, TableEstimator):
    """A single readable tree on tables with very many columns, by the backbone method.

    Greedy trees on samples of the columns name the backbone; the tree that is then searched for on the backbone
    minimises the misclassified share + complexity * splits.

    Parameters
    ----------
    depth : int or list of int
        Most splits on a path. A list is chosen from on validation samples.
    min_bucket : float, list of float or "auto"
        Least weight of a leaf. A list or "auto" is chosen from on validation samples.
    complexity : float, list of float or "auto"
        Share of the samples that a split must get right to be worth it. A list or "auto" is chosen from.
    split_features : int
        Most features in one split; above 1 splits are sparse hyperplanes.
    class_weight : dict, "balanced" or None
        Weights of the classes, which multiply the sample weights.
    validation, screen, screen_size, subproblem_fraction, n_subproblems, subproblem_depth, backbone_max, \
pricing_rounds, sampling, patience, exact, n_thresholds, n_starts, search_width, time_limit
        See :class:`backbone_dask.tree_settings.TreeSettings`. A screen looks at one column at a time, and can drop a
        feature that acts only together with others; screen="none" keeps every column.
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
    classes_ : array, the labels.
    tree_ : TreeModel
        The tree; `tree_.nested()` is plain data, `export_text()` words.
    support_ : array of int
        Ids of the features that the tree splits on, sorted.
    backbone_ : array of int
        Ids of the features that the tree was searched on.
    objective_, bound_, gap_, termination_
        What was found on the backbone, what is proven of it, and why it stopped. With exact="dynamic-programming" and
        "mio" the proof is for trees whose thresholds are among `n_thresholds` quantiles of each feature.
    depth_, min_bucket_, complexity_ : what was chosen.
    validation_curve_ : tuple of TreePoint
        Errors of every depth, bucket and complexity that was tried.
    levels_ : tuple of LevelRecord
    traffic_ : dict
        Bytes of columns read, taken from the workers' memory and moved between them; tasks placed, and run there.
    feature_importances_ : array (features,)
        The share of each feature in the fall of the Gini impurity.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = np.where(X[:, 7] <= 0, "red", np.where(X[:, 42] <= 1, "green", "blue"))
    >>> model = BackboneTreeClassifier(depth=2, min_bucket=1, complexity=0.01, n_starts=1).fit(X, y)
    >>> model.support_.tolist()
    [7, 42]
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        depth: int | Sequence[int] = 5,
        *,
        min_bucket: float | Sequence[float] | str = "auto",
        complexity: float | Sequence[float] | str = "auto",
        split_features: int = 1,
        class_weight: Mapping[Any, float] | str | None = None,
        validation: float = 0.7,
        screen: str = "entropy",
        screen_size: int | str | None = None,
        subproblem_fraction: float = 0.5,
        n_subproblems: int = 10,
        subproblem_depth: int | Sequence[int] | None = None,
        backbone_max: int = 250,
        pricing_rounds: int = 3,
        sampling: str = "exponential",
        patience: int | None = None,
        exact: str = "local-search",
        n_thresholds: int | None = None,
        n_starts: int = 4,
        search_width: int = 32,
        time_limit: float = 300.0,
        missing: str = "refuse",
        executor: str = "auto",
        keep_blocks: bool = False,
        random_state: Seed = 0,
    ) -> None:
        self._take(locals())

    def fit(self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> BackboneTreeClassifier:
        """Fit to a samples x features table, a FeatureStore, or the path of one.

        For a store `y` may also be the name of a target, or None where the store has only one.
        """
        store, labels = self._training_data(X, y)
        self.classes_, codes = coded(labels)
        if self.class_weight is not None:
            sample_weight = weigh_classes(self.class_weight, labels, sample_weight)
        settings, names = settings_of(self, TreeSettings), () if labels.dtype.kind in "biuf" else self.classes_.tolist()
        ready = prepare_tree(store, codes.astype(np.float64), settings, sample_weight=sample_weight, labels=names)
        executor = chosen_executor(self.executor, keep_blocks=self.keep_blocks)
        return self._keep(fit_tree(ready, executor, listen=Narrator()))

    def predict_proba(self, X: TableLike) -> NDArray[np.float64]:
        """The share of every class in the leaf of every sample, shape (samples, classes)."""
        check_is_fitted(self)
        return tree_shares(self.tree_, self._table(X))

    def predict(self, X: TableLike) -> NDArray[Any]:
        """Labels, shape (samples,)."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[shares.argmax(axis=1)])

    def score(self, X: TableLike, y: TargetLike = None, sample_weight: WeightsLike = None) -> float:
        """The share of labels that are right, by weight; a store may bring its own `y`, as in `fit`."""
        return float(accuracy_score(self._truth(X, y), self.predict(X), sample_weight=sample_weight))

    def export_text(self, decimals: int = 3) -> str:
        """The tree in words, one line a node."""
        check_is_fitted(self)
        return export_text(self.tree_, self.classes_.tolist(), decimals)

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        check_is_fitted(self)
        dense = np.zeros(self.n_features_in_)
        dense[self.support_] = self.tree_.importances()
        return dense

    def get_depth(self) -> int:
        """The most splits on a path of the tree."""
        check_is_fitted(self)
        return self.tree_.tree.depth

    def get_n_leaves(self) -> int:
        check_is_fitted(self)
        return self.tree_.tree.n_splits + 1

    def _used_names(self) -> tuple[str, ...]:
        return self.tree_.names

    def _keep(self, fitted: FittedTree) -> BackboneTreeClassifier:
        outcome = fitted.finding.outcome
        self.tree_ = fitted.model
        self.support_ = fitted.model.ids
        self.backbone_ = fitted.finding.backbone
        self.levels_ = fitted.finding.levels
        self.n_constant_ = fitted.finding.screening.n_constant
        self.objective_, self.bound_, self.gap_ = outcome.objective, outcome.bound, outcome.gap
        self.termination_ = outcome.termination
        self.depth_, self.min_bucket_ = fitted.goal.depth, fitted.goal.min_bucket
        self.complexity_ = fitted.goal.complexity
        self.validation_curve_ = fitted.finding.grid
        self.traffic_ = fitted.traffic
        return self
