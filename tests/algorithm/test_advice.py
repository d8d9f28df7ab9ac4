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
    assert not advice.enough_samples


def asked_for(n, p, k, snr, fraction):
    """The theorem's samples at the screen of n samples."""
    screen = recommend(n, p, k).screen_size
    return (k / snr + 2 * k) * math.log(screen) * math.log(fraction * screen)


@pytest.mark.parametrize(
    ("p", "k", "snr", "fraction"), [(10**6, 50, 2.0, 0.5), (10**5, 8, 1.0, 0.3), (5000, 3, 4, 1.0)]
)
def test_the_needed_samples_are_the_fewest_that_are_enough_whatever_there_is(p, k, snr, fraction):
    advices = [recommend(n, p, k, snr=snr, subproblem_fraction=fraction) for n in (k, 1000, 5000, 100_000)]
    (needed,) = {advice.needed_samples for advice in advices}
    assert [advice.enough_samples for advice in advices] == [n >= needed for n in (k, 1000, 5000, 100_000)]
    assert asked_for(needed, p, k, snr, fraction) <= needed
    assert asked_for(needed - 1, p, k, snr, fraction) > needed - 1


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
