"""The two classes of a logistic model."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.errors import InvalidDataError
from backbone_dask.problems.extras import Extras
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore

N, P = 80, 15


def ready(y, **extras):
    X = np.random.default_rng(0).normal(size=(N, P))
    return prepare(MemoryStore(X), y, Settings(n_nonzero=2), task="classification", extras=Extras(**extras))


@pytest.mark.parametrize(
    ("y", "weights", "complaint"),
    [
        (np.arange(N) % 2, np.arange(N) % 2, "only class 1 has samples of positive weight"),
        (np.ones(N), None, "constant"),
    ],
)
def test_one_class_is_refused_before_anything_starts(y, weights, complaint):
    with pytest.raises(InvalidDataError, match=complaint):
        ready(y, sample_weight=weights)


def test_a_class_without_weight_is_as_if_it_were_not_there():
    X = np.random.default_rng(0).normal(size=(N, P))
    y = np.where(X[:, 4] > 0, 7.0, 5.0)
    y[:10] = 6.0
    counted = y != 6
    whole = fit_sparse(ready(y, sample_weight=counted * 1.0), SerialExecutor()).model
    store, settings = MemoryStore(X[counted]), Settings(n_nonzero=2, gamma=N**-0.5)
    alone = fit_sparse(prepare(store, y[counted], settings, task="classification"), SerialExecutor()).model
    assert whole.classes == alone.classes == (5.0, 7.0)
    assert 4 in whole.ids
    np.testing.assert_array_equal(whole.ids, alone.ids)
