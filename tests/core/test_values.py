from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.testing.strategies import screenings
from backbone_dask.values import FeatureBlock, Outcome, Screening, Termination


def outcome(objective: float, bound: float) -> Outcome[None]:
    return Outcome(None, objective, bound, Termination.PROVEN, 0, 0.0)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"), [(10, 9, 0.1), (10, 10, 0), (10, 11, 0), (0, 0, 0), (-2, -3, 0.5), (10, 0, 1)]
)
def test_the_gap_is_relative_to_the_objective(objective: float, bound: float, gap: float) -> None:
    assert outcome(objective, bound).gap == pytest.approx(gap)


def test_a_bound_that_proves_nothing_has_no_finite_gap() -> None:
    assert outcome(10, -math.inf).gap == math.inf


@given(st.floats(0, 1e300), st.floats(0, 1e300))
def test_the_gap_is_never_negative(objective: float, bound: float) -> None:
    assert outcome(objective, bound).gap >= 0


@given(screenings(), st.data())
def test_restricting_keeps_the_utilities_of_what_is_left(screening: Screening, data: st.DataObject) -> None:
    size = screening.candidates.size
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    left = screening.restrict(screening.candidates[kept])
    np.testing.assert_array_equal(left.candidates, screening.candidates[kept])
    np.testing.assert_array_equal(left.utilities, screening.utilities[kept])
    assert (left.n_features, left.n_constant) == (screening.n_features, screening.n_constant)


def test_a_block_counts_its_features() -> None:
    assert FeatureBlock(index=2, start=10, stop=17).size == 7


@given(screenings())
def test_values_are_frozen_and_travel(screening: Screening) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        screening.n_features = 3  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(screening))
    np.testing.assert_array_equal(copy.candidates, screening.candidates)
    np.testing.assert_array_equal(copy.utilities, screening.utilities)


def test_a_termination_is_written_as_its_word() -> None:
    assert [str(each) for each in Termination] == ["proven", "time_limit", "round_limit"]
