"""What the estimators of sparse linear models share: settings and extras from their parameters."""

from __future__ import annotations

from typing import Any

from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.estimators.table import TableEstimator, settings_of
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import Fitted, fit_sparse, prepare
from backbone_dask.runtime.narration import Narrator
from backbone_dask.settings import Settings
from backbone_dask.store import FeatureStore
from backbone_dask.values import Target


class SparseEstimator(TableEstimator):
    """A sparse linear model by the backbone method; subclasses say of what."""

    _task: str

    def _fit_one(self, store: FeatureStore, target: Target, sample_weight: Any, covariates: Any) -> Fitted:
        extras = Extras(sample_weight, covariates, self.fit_intercept, self.groups, self.nonnegative)
        ready = prepare(store, target, settings_of(self, Settings), task=self._task, extras=extras)
        return fit_sparse(ready, chosen_executor(self.executor, keep_blocks=self.keep_blocks), listen=Narrator())
