"""Iterative screening finds what marginal screening cannot."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import BackboneRegressor
from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.local import local_cluster


@pytest.fixture(scope="module")
def hidden():
    """Fan and Lv's example: feature 3 is part of the truth, and uncorrelated with y."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    X = np.sqrt(0.5) * (z[:, None] + rng.normal(size=(400, 2000)))
    X[:, 3] = z
    y = 5 * X[:, :3].sum(axis=1) - 15 * np.sqrt(0.5) * z + rng.normal(size=400)
    return X, y


def fit(hidden, rounds):
    return BackboneRegressor(4, screen_size=60, screen_rounds=rounds, backbone_max=60).fit(*hidden)


def test_one_round_misses_what_two_rounds_find(hidden):
    assert abs(np.corrcoef(hidden[0][:, 3], hidden[1])[0, 1]) < 0.05
    assert 3 not in fit(hidden, 1).support_
    for rounds in (2, 3):
        np.testing.assert_array_equal(fit(hidden, rounds).support_, [0, 1, 2, 3])


def test_dask_agrees_with_serial(hidden):
    expected = fit(hidden, 2)
    with local_cluster(2):
        found = fit(hidden, 2)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.coefficients_, expected.coefficients_)


def test_rounds_must_be_at_least_one(hidden):
    with pytest.raises(InvalidSettingError, match="screen_rounds"):
        fit(hidden, 0)
