"""The theorem's numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from backbone_dask import recommend
from backbone_dask.errors import InvalidSettingError
from backbone_dask.settings import Settings, enough_subproblems


def test_the_formulas_of_the_theorem():
    advice = recommend(5_000, 10**6, 50, snr=2.0, subproblem_fraction=0.5)
    assert advice.screen_size == 20_000
    assert advice.gamma == 5_000**-0.5
    assert advice.needed_samples == math.ceil((50 / 2 + 100) * math.log(20_000) * math.log(10_000))
    assert not advice.enough_samples
    assert recommend(advice.needed_samples * 2, 10**6, 50).enough_samples


@pytest.mark.parametrize(("survivors", "k", "fraction", "missed"), [(20_000, 50, 0.5, 0.05), (1000, 5, 0.1, 0.0)])
def test_with_that_many_subproblems_no_feature_is_expected_to_be_lost(survivors, k, fraction, missed):
    count = enough_subproblems(survivors, k, fraction, missed)
    lost_by_all = (1 - fraction + fraction * missed) ** count
    assert lost_by_all <= 1 / (survivors * k) < (1 - fraction + fraction * missed) ** (count - 1)


def test_auto_takes_the_theorems_number():
    resolved = Settings(n_nonzero=50, n_subproblems="auto").resolve(n_samples=5_000, n_features=10**6)
    assert resolved.n_subproblems == recommend(5_000, 10**6, 50).n_subproblems == 22


def test_one_whole_subproblem_is_enough():
    assert recommend(100, 50, 5, subproblem_fraction=1.0).screen_size == 50
    assert enough_subproblems(50, 5, 1.0, missed=0.0) == 1


@pytest.mark.parametrize("wrong", [(0, 10, 1), (10, 0, 1), (10, 10, 0)])
def test_nonsense_is_refused(wrong):
    with pytest.raises(InvalidSettingError, match="must be positive"):
        recommend(*wrong)
    with pytest.raises(InvalidSettingError, match="subproblem_fraction"):
        recommend(10, 10, 1, subproblem_fraction=0)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ((1.5, 10, 1), "n_samples is 1.5; it must be a whole number"),
        ((10, 10.5, 1), "n_features is 10.5; it must be a whole number"),
        ((100, 10, 11), "n_nonzero is 11, but n_features is only 10"),
        ((10, 100, 11), "n_nonzero is 11, but n_samples is only 10"),
    ],
)
def test_shapes_that_no_data_have_are_refused(wrong, complaint):
    with pytest.raises(InvalidSettingError, match=complaint):
        recommend(*wrong)
    assert recommend(np.int64(10), np.int32(10), np.int8(10)).screen_size == 10
