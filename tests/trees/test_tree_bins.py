"""Bins: what a code means, where cuts lie, and how many samples a bin has."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from backbone_dask.trees.bins import MOST_CUTS, between, encode, find_cuts
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import from_heap

FEW = st.sampled_from([-1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 7.0])
ANY = st.floats(-1e300, 1e300)


@st.composite
def tables(draw):
    """Rows of floats of both widths; ties, constants and neighbours one ulp apart are common."""
    shape = (draw(st.integers(1, 4)), draw(st.integers(1, 25)))
    if draw(st.booleans()):
        return draw(arrays.arrays(np.float64, shape, elements=FEW | ANY))
    values = draw(arrays.arrays(np.float32, shape, elements=st.floats(-(2.0**100), 2.0**100, width=32)))
    return np.where(draw(arrays.arrays(np.bool_, shape)), values, np.nextafter(values, np.float32(np.inf)))


@given(tables(), st.integers(1, 12))
def test_a_code_is_the_number_of_cuts_below_the_value(values, most):
    cuts = find_cuts(values, most)
    codes = encode(values, cuts)
    for j in range(len(values)):
        for i in range(values.shape[1]):
            assert codes[j, i] == sum(float(cut) < float(values[j, i]) for cut in cuts[j])
            for c in range(most):
                assert (codes[j, i] <= c) == (values[j, i] <= cuts[j, c])


@given(tables(), st.integers(1, 12))
def test_every_cut_parts_two_neighbouring_values(values, most):
    for row, cuts in zip(values, find_cuts(values, most), strict=True):
        finite = cuts[np.isfinite(cuts)]
        assert np.isinf(cuts[finite.size :]).all()
        assert (np.diff(finite) > 0).all()
        distinct = np.unique(row.astype(np.float64))
        after = np.searchsorted(distinct, finite, side="right")
        assert (after >= 1).all()
        assert (after < distinct.size).all()
        assert (np.diff(after) > 0).all(), "two cuts between the same values"


@given(tables(), st.integers(1, 30))
def test_few_values_are_cut_between_each_two(values, most):
    for row, cuts in zip(values, find_cuts(values, most), strict=True):
        distinct = np.unique(row.astype(np.float64)).size
        found = int(np.isfinite(cuts).sum())
        assert found <= most
        assert found == distinct - 1 or distinct > most + 1


def test_a_constant_row_has_no_cut():
    cuts = find_cuts(np.full((2, 9), 0.1, np.float32), 5)
    assert np.isinf(cuts).all()
    assert not encode(np.full((2, 9), 0.1), cuts).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neighbours_one_ulp_apart_get_bins_of_their_own(dtype):
    start = dtype(1.0)
    values = [start]
    for _ in range(5):
        values.append(np.nextafter(values[-1], dtype(np.inf)))
    row = np.array([values])
    cuts = find_cuts(row, 8)
    assert encode(row, cuts).tolist() == [[0, 1, 2, 3, 4, 5]]
    assert (row[0, :-1] <= cuts[0, :5]).all()
    assert (cuts[0, :5] < row[0, 1:].astype(np.float64)).all()


def test_between_neighbours_of_float32_there_is_a_float64():
    low = np.float32(0.1)
    high = np.nextafter(low, np.float32(1))
    (cut,) = find_cuts(np.array([[low, high]]), 1)[0]
    assert cut == (float(low) + float(high)) / 2
    assert float(low) < cut < float(high)


@given(ANY, ANY)
def test_halfway_is_below_the_upper_value(a, b):
    low, high = sorted((a, b))
    if low < high:
        middle = between(low, high)
        assert low <= middle < high
        assert middle == low or middle == pytest.approx(low / 2 + high / 2, rel=1e-9, abs=1e-9 * (high / 2 - low / 2))


def test_halfway_of_the_largest_floats():
    most = np.finfo(np.float64).max
    assert -most <= between(-most, most) < most


@pytest.mark.parametrize(("samples", "most"), [(1000, 9), (1003, 9), (5000, 255), (300, 255), (257, 255), (256, 255)])
def test_bins_of_continuous_data_are_of_about_equal_size(samples, most):
    values = np.random.default_rng(0).standard_normal((3, samples))
    for row in encode(values, find_cuts(values, most)):
        sizes = np.bincount(row, minlength=most + 1)
        assert sizes.size == most + 1
        assert sizes.max() - sizes.min() <= 1 + (samples % (most + 1) > 0)


def test_what_a_long_run_of_ties_leaves_is_cut_into_equal_bins():
    """Counts and other columns with many zeros: the rest must not go into one bin."""
    rng = np.random.default_rng(1)
    row = np.concatenate([np.zeros(900), rng.exponential(size=100)])
    sizes = np.bincount(encode(row[None], find_cuts(row[None], 9))[0])
    assert sizes[0] == 900
    assert sizes.size == 10
    assert sizes[1:].max() <= 12


def test_ties_in_the_middle_do_not_spoil_the_bins_around_them():
    rng = np.random.default_rng(2)
    row = np.concatenate([-rng.random(300), np.zeros(400), rng.random(300)])
    codes = encode(row[None], find_cuts(row[None], 19))[0]
    sizes = np.bincount(codes)
    assert sizes.max() <= 400 + 51
    assert np.sort(sizes)[:-1].max() <= 51


def test_all_255_cuts_have_a_code():
    row = np.arange(256.0)[None]
    assert encode(row, find_cuts(row, MOST_CUTS)).tolist() == [list(range(256))]


def test_rows_do_not_depend_on_their_neighbours():
    values = np.random.default_rng(3).standard_normal((600, 20)).round(1)
    whole = find_cuts(values, 6)
    alone = np.concatenate([find_cuts(values[j : j + 1], 6) for j in range(600)])
    np.testing.assert_array_equal(whole, alone)


def test_other_samples_are_coded_by_the_same_cuts():
    table = TreeTable.of(np.array([[1.0, 2.0, 4.0]]), 2)
    assert table.cuts.tolist() == [[1.5, 3.0]]
    assert table.n_bins == 3
    assert encode(np.array([[-9.0, 1.5, 1.6, 3.0, 99.0]]), table.cuts).tolist() == [[0, 0, 1, 1, 2]]


@given(tables(), st.integers(1, 6))
def test_a_tree_on_codes_sends_samples_where_the_tree_on_values_does(values, most):
    table = TreeTable.of(values, most)
    labels = Labels(np.arange(values.shape[1]) % 2, np.ones(values.shape[1]), 2)
    splittable = np.flatnonzero(np.isfinite(table.cuts[:, 0]))
    if splittable.size:
        features = np.array([splittable[-1], splittable[0], -1, -1, -1, -1, -1])
        cuts = np.isfinite(table.cuts[features]).sum(axis=1) - 1
        tree = from_heap(features, cuts, table.codes, labels)
        np.testing.assert_array_equal(table.in_units(tree).leaves(values), tree.leaves(table.codes))
