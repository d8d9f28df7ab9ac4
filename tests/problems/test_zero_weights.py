"""A sample of zero weight is as if it were not there."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import BackboneClassifier, BackboneRegressor
from backbone_dask.errors import InvalidDataError
from backbone_dask.launch.local import local_cluster
from backbone_dask.store import MemoryStore, write_store

N, P = 60, 8
COUNTED = np.arange(N) >= 10


@pytest.fixture(scope="module")
def table():
    """Columns 2 and 5 vary only on samples that do not count."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P))
    X[COUNTED, 2], X[COUNTED, 5] = 1.5, 0.0
    return X, X[:, 0] - X[:, 3] + rng.normal(size=N) + 3


@pytest.mark.parametrize("estimator", [BackboneRegressor, BackboneClassifier])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_column_that_varies_on_nothing_that_counts_is_constant(table, estimator, fit_intercept):
    X, y = table
    y = y if estimator is BackboneRegressor else y > 3
    asked = {"n_nonzero": P, "gamma": 10.0, "fit_intercept": fit_intercept}
    whole = estimator(**asked).fit(X, y, sample_weight=COUNTED * 1.0)
    alone = estimator(**asked).fit(X[COUNTED], y[COUNTED])
    assert whole.support_.tolist() == alone.support_.tolist() == [0, 1, 3, 4, 6, 7]
    np.testing.assert_allclose(whole.coef_, alone.coef_, rtol=1e-3, atol=1e-5)
    assert _constants(whole) == _constants(alone) == 2


def _constants(model):
    return model.n_constant_ if hasattr(model, "n_constant_") else model.fits_[0].finding.screening.n_constant


def test_workers_see_the_same_constants(table, tmp_path):
    X, y = table
    write_store(MemoryStore(X, targets={"y": y}), tmp_path / "s.zarr")
    expected = BackboneRegressor(P, fit_intercept=False).fit(X, y, sample_weight=COUNTED * 1.0)
    with local_cluster(1):
        for data in (X, tmp_path / "s.zarr"):
            found = BackboneRegressor(P, fit_intercept=False).fit(data, y, sample_weight=COUNTED * 1.0)
            np.testing.assert_array_equal(found.coef_, expected.coef_)


def test_a_target_that_varies_on_nothing_that_counts_is_constant(table):
    with pytest.raises(InvalidDataError, match=r"y is constant \(2\)"):
        BackboneRegressor(2).fit(table[0], np.where(COUNTED, 2.0, table[1]), sample_weight=COUNTED * 1.0)
    with pytest.raises(InvalidDataError, match="all 8 features are constant"):
        BackboneRegressor(2).fit(np.where(COUNTED[:, None], 1.0, table[0]), table[1], sample_weight=COUNTED * 1.0)


def test_without_an_intercept_a_constant_target_is_explained(table):
    """Least squares on the support is the oracle."""
    X = table[0] + 2
    model = BackboneRegressor(3, fit_intercept=False, gamma=1e6).fit(X, np.full(N, 5.0))
    assert model.support_.size == 3
    expected = np.linalg.lstsq(X[:, model.support_], np.full(N, 5.0))[0]
    np.testing.assert_allclose(model.coefficients_, expected, rtol=1e-3)
    with pytest.raises(InvalidDataError, match=r"y is constant \(0\)"):
        BackboneRegressor(3, fit_intercept=False).fit(X, np.zeros(N))
