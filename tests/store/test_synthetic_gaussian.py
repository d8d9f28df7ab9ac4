"""The design matrix: its law, and the same bits however it is read."""

from __future__ import annotations

import hashlib
import time
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from backbone_dask.errors import InvalidSettingError
from backbone_dask.store.synthetic import Recipe, columns, gather
from backbone_dask.store.synthetic.gaussian import bridge, halvings
from backbone_dask.store.synthetic.noise import quantile_table


def recipe(rho=0.0, n=64, p=10_000, **changes):
    return Recipe(kind="linear", n_samples=n, n_features=p, n_relevant=3, rho=rho, **changes)


def weights(rho, n_columns):
    """The matrix A with X = A Z by the text of the module: halve recursively between independent anchors."""
    share, spread = (values.astype(float) for values in bridge(rho))
    spacing = 2**share.size
    A = np.eye(-(-n_columns // spacing) * spacing + 1)
    for level, half in enumerate(spacing >> np.arange(1, share.size + 1)):
        for middle in range(half, A.shape[0], 2 * half):
            A[middle] = share[level] * (A[middle - half] + A[middle + half]) + spread[level] * A[middle]
    return A


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.9, 0.95])
def test_the_halving_has_exactly_the_covariance_of_the_walk(rho):
    A = weights(rho, 3 * 2 ** halvings(rho))
    at = np.arange(A.shape[0])
    np.testing.assert_allclose(A @ A.T, rho ** np.abs(at[:, None] - at), atol=2e-7)


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_columns_are_those_weights_times_the_noise_of_their_addresses(rho):
    A = weights(rho, 600)
    noise = columns(recipe(0.0, n=9), 0, A.shape[1])
    np.testing.assert_allclose(columns(recipe(rho, n=9), 0, A.shape[0]), A @ noise, atol=3e-6)


@settings(max_examples=40, deadline=None)
@given(
    rho=st.sampled_from([0.0, 0.3, 0.9, 0.99, 0.99999]),
    n=st.one_of(st.integers(1, 40), st.sampled_from([4095, 4096, 4097, 8201])),
    start=st.integers(0, 5_000),
    cuts=st.lists(st.integers(0, 80), max_size=5),
    chosen=st.sets(st.integers(0, 79)),
)
def test_blocks_and_gathers_have_the_same_bits(rho, n, start, cuts, chosen):
    table = recipe(rho, n)
    whole = columns(table, start, start + 80)
    edges = [0, *sorted(cuts), 80]
    parts = [columns(table, start + a, start + b) for a, b in pairwise(edges)]
    rows = np.array(sorted(chosen), np.int64)
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(gather(table, start + rows), whole[rows])


def test_scattered_ids_have_the_bits_of_a_whole_read():
    table = recipe(0.9, n=21)
    ids = np.unique(np.random.default_rng(0).integers(0, 10_000, 300))
    np.testing.assert_array_equal(gather(table, ids), columns(table, 0, 10_000)[ids])


def test_samples_do_not_depend_on_how_many_there_are():
    np.testing.assert_array_equal(columns(recipe(0.9, n=9_000), 40, 60)[:, :77], columns(recipe(0.9, n=77), 40, 60))


def test_features_do_not_depend_on_how_many_there_are():
    np.testing.assert_array_equal(columns(recipe(0.9, p=100), 0, 100), columns(recipe(0.9, p=10**8), 0, 100))


def test_the_bits_of_format_version_1_never_change():
    bits = columns(recipe(0.9, n=50, seed=7), 200, 300).tobytes()
    assert hashlib.sha256(bits).hexdigest() == "bb65bf21b440cef62d7491f644657d86a39214f58516dee533c85ad78efe0308"


def test_the_table_of_quantiles_has_mean_0_and_variance_1():
    table = quantile_table().astype(float)
    assert table.shape == (65_536,)
    assert table.mean() == 0
    assert np.mean(table**2) == pytest.approx(1, abs=1e-8)
    assert np.all(np.diff(table) > 0)
    assert stats.kurtosis(table) == pytest.approx(0, abs=2e-3)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9, 0.999])
def test_mean_variance_and_correlation_at_every_lag(rho):
    n, spacing = 40_000, 2 ** halvings(rho)
    # Around an anchor, where the next stretch of columns begins.
    first = max(0, 3 * spacing - 20)
    X = columns(recipe(rho, n, p=10**6), first, first + 40).astype(float)
    at = np.arange(40)
    assert np.abs(X.mean(axis=1)).max() < 4.5 / np.sqrt(n)
    np.testing.assert_allclose(X @ X.T / n, rho ** np.abs(at[:, None] - at), atol=4.5 * np.sqrt(2 / n))


def test_neighbours_across_an_anchor_are_as_correlated_as_any():
    lag_one = []
    for edge in 256 * np.arange(1, 101):
        before, after = columns(recipe(0.9, n=4_000, p=10**5), int(edge) - 1, int(edge) + 1).astype(float)
        lag_one.append(np.mean(before * after))
    assert np.mean(lag_one) == pytest.approx(0.9, abs=0.008)


@pytest.mark.parametrize("rho", [0.0, 0.6, 0.9])
def test_values_are_normal(rho):
    # Columns this far apart are independent, and stand at every level between their anchors.
    ids = np.arange(0, 501 * 200, 501)
    values = gather(recipe(rho, n=4_000, p=10**6), ids).ravel()
    assert stats.kstest(values, "norm").statistic < 1.63 / np.sqrt(values.size) + 1 / 65_536
    assert stats.kurtosis(values) == pytest.approx(0, abs=4.5 * np.sqrt(24 / values.size))


def z_scores(X, Y):
    """Correlations of all rows of X with all rows of Y, each in units of its standard error."""
    return (X.astype(float) @ Y.T.astype(float) / np.sqrt(X.shape[1])).ravel()


def upper(size):
    """Each pair once, nothing with itself: a mask for the scores of a set of rows with itself."""
    return np.triu(np.ones((size, size), bool), 1).ravel()


def assert_standard_normal(scores):
    assert np.abs(scores).max() < stats.norm.isf(1e-4 / scores.size)
    assert np.mean(scores**2) == pytest.approx(1, abs=5 * np.sqrt(2 / scores.size))


def test_columns_are_independent_of_each_other():
    X = columns(recipe(n=5_000), 0, 600)
    assert_standard_normal(z_scores(X, X)[upper(600)])
    # Streams that overlapped would show as copies some hashes apart.
    assert_standard_normal(z_scores(X[:, 4:], X[:, :-4]))
    assert_standard_normal(z_scores(X[:, 1:], X[:, :-1]))


def test_samples_are_independent_of_each_other():
    X = columns(recipe(n=600), 0, 5_000).T.copy()
    assert_standard_normal(z_scores(X, X)[upper(600)])


@pytest.mark.parametrize("other", [{"seed": 1}, {"draw": 1}, {"seed": 2**63}, {"seed": 2**32}])
def test_seeds_and_draws_are_independent_of_each_other(other):
    X, Y = columns(recipe(n=4_000), 0, 300), columns(recipe(n=4_000, **other), 0, 300)
    assert_standard_normal(z_scores(X, Y))


def test_squares_are_independent_too():
    X = (columns(recipe(n=5_000), 0, 400).astype(float) ** 2 - 1) / np.sqrt(2)
    assert_standard_normal(z_scores(X, X)[upper(400)])


def test_the_last_of_a_hundred_million_columns_costs_no_more_than_the_first():
    table = recipe(0.9, n=1_000, p=10**8)
    columns(table, 0, 2)
    begin = time.perf_counter()
    block = columns(table, 10**8 - 500, 10**8)
    assert time.perf_counter() - begin < 1
    assert block.shape == (500, 1_000)
    assert block.dtype == np.float32


@pytest.mark.parametrize(("start", "stop"), [(-1, 4), (5, 4), (0, 10_001)])
def test_a_block_outside_the_table_is_refused(start, stop):
    with pytest.raises(InvalidSettingError, match=r"not within the 10000 features"):
        columns(recipe(), start, stop)


@pytest.mark.parametrize("ids", [[3, 2], [2, 2], [-1, 2], [0, 10_000]])
def test_ids_that_are_not_candidates_are_refused(ids):
    with pytest.raises(InvalidSettingError, match="sorted, unique"):
        gather(recipe(), np.array(ids))


def test_nothing_asked_for_is_an_empty_table():
    assert gather(recipe(), np.empty(0, np.int64)).shape == (0, 64)
    assert columns(recipe(), 4, 4).shape == (0, 64)
