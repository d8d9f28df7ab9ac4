"""Every screen by name: what its target may be, and what all of them promise of columns of any place and size."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from screen_cases import classes

from backbone_dask.columns import measured
from backbone_dask.errors import InvalidDataError, UnknownNameError
from backbone_dask.screens.catalogue import screens

NAMES = ["correlation", "entropy", "logistic", "logistic-loss", "splines", "svm"]
LABELS = ["entropy", "logistic", "logistic-loss", "svm"]
MANY_CLASSES = ["entropy", "svm"]


def test_the_names() -> None:
    assert screens.names() == NAMES
    with pytest.raises(UnknownNameError, match="did you mean 'splines'"):
        screens["spline"]


@pytest.mark.parametrize("name", NAMES)
def test_a_screen_travels(name: str) -> None:
    rng = np.random.default_rng(0)
    columns = measured(rng.standard_normal((5, 60)))[0]
    named = pickle.loads(pickle.dumps(screens[name]))
    y = named.check(rng.integers(0, 2, 60).astype(np.float64))
    np.testing.assert_array_equal(named.score(columns, y), screens[name].score(columns, y))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("size", "shift"), [(1e-30, 0), (2.0**-10, 0), (-4, 0), (1e6, 0), (1e30, 0), (1, 1000), (-1, 50)]
)
def test_the_place_and_size_of_a_column_do_not_matter(name: str, dtype: str, size: float, shift: float) -> None:
    # Multiples of 1/64 stay what they are when they are moved, so that only the screen itself can round.
    rng = np.random.default_rng(1)
    values = np.round(64 * rng.standard_normal((6, 500))) / 64
    named = screens[name]
    y = named.check((values[0] + rng.standard_normal(500) > 0).astype(np.float64))
    expected = named.score(measured(values)[0], y)
    found = named.score(measured((size * values + shift).astype(dtype))[0], y)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_and_smallest_numbers(name: str, dtype: str) -> None:
    rng = np.random.default_rng(2)
    limits = np.finfo(dtype)
    values = rng.uniform(-1, 1, (6, 100)) * np.array([[limits.max, limits.max / 8, 1e30, 1e-30, limits.tiny, 0]]).T
    y = screens[name].check(rng.integers(0, 2, 100).astype(np.float64))
    scores = screens[name].score(measured(values.astype(dtype))[0], y)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_targets_that_are_not_finite_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidDataError, match=r"NaN or infinity at sample 3 \(1 in all\)"):
        screens[name].check(np.array([0, 1, 0, value, 1]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("y", [np.zeros(0), np.zeros((3, 2))])
def test_targets_of_another_shape_are_refused(name: str, y: np.ndarray) -> None:
    with pytest.raises(InvalidDataError, match="one number per sample"):
        screens[name].check(y)


@pytest.mark.parametrize("name", NAMES)
def test_one_value_only_is_refused(name: str) -> None:
    with pytest.raises(InvalidDataError, match=r"\(1\)"):
        screens[name].check(np.ones(7))


@pytest.mark.parametrize("name", ["logistic", "logistic-loss"])
def test_logistic_screens_say_which_labels_they_found(name: str) -> None:
    with pytest.raises(InvalidDataError, match=r"holds 3 different values \(0, 1, 2\); use 'svm'"):
        screens[name].check(np.array([0.0, 2, 1, 1]))
    with pytest.raises(InvalidDataError, match=r"holds 9 different values \(0, 1, 2, 3, 4, \.\.\.\)"):
        screens[name].check(np.arange(9.0))


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (1, 2), (-0.5, 7.25)])
def test_any_two_labels_become_minus_one_and_one(labels: tuple[float, float]) -> None:
    y = np.array(labels)[[0, 1, 1, 0]]
    assert screens["logistic"].check(y).tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize("name", MANY_CLASSES)
def test_labels_become_numbers_from_zero(name: str) -> None:
    assert screens[name].check(np.array([5.0, -3, 5, 100, -3])).tolist() == [1, 0, 1, 2, 0]
    assert screens[name].check(np.array([0.5, 1.5, 0.5])).tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", MANY_CLASSES)
@pytest.mark.parametrize("y", [np.arange(51.0), np.array([0.1, 0.2, 0.3]), np.random.default_rng(0).normal(size=500)])
def test_numbers_are_not_taken_for_classes(name: str, y: np.ndarray) -> None:
    with pytest.raises(InvalidDataError, match="at most 50 whole numbers, or use 'correlation' or 'splines'"):
        screens[name].check(y)


@pytest.mark.parametrize("name", MANY_CLASSES)
def test_fifty_classes_are_scored(name: str) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 200, (10, 1000)).astype(np.uint8)
    y = screens[name].check(classes(values[3] + 10 * rng.standard_normal(1000), 50))
    for kind in (np.uint8, np.float32):
        assert screens[name].score(measured(values.astype(kind))[0], y).argmax() == 3


@pytest.mark.parametrize("name", ["correlation", "splines"])
def test_real_targets_come_in_units_of_the_largest(name: str) -> None:
    y = np.random.default_rng(0).standard_normal(30)
    for scale in (1.0, 1e300, 1e-300):
        np.testing.assert_allclose(screens[name].check(scale * y), y / np.abs(y).max())


@pytest.mark.parametrize("name", LABELS)
def test_a_check_may_be_repeated(name: str) -> None:
    once = screens[name].check(np.array([3.0, 7, 7, 3]))
    np.testing.assert_array_equal(screens[name].check(once), once)
