"""Genotypes: Hardy-Weinberg proportions, correlation from rho, the same bits however they are read."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from backbone_dask import BackboneRegressor
from backbone_dask.errors import InvalidSettingError
from backbone_dask.store import Recipe, VirtualStore, ZarrStore, open_store, write_recipe, write_store
from backbone_dask.store.synthetic import columns, gather, target, truth
from backbone_dask.store.synthetic.genotypes import cuts, frequencies, moments

GENOTYPES = Recipe(
    kind="linear", n_samples=500, n_features=2_000, n_relevant=30, rho=0.6, snr=3.0, seed=11, coding="genotype"
)


def test_columns_are_the_gaussian_ones_cut_in_two_places():
    normals = columns(replace(GENOTYPES, coding="gaussian"), 30, 90)
    edges = cuts(GENOTYPES, np.arange(30, 90))
    expected = (normals > edges[:, :1]).astype(np.int8) + (normals > edges[:, 1:])
    made = columns(GENOTYPES, 30, 90)
    assert made.dtype == np.int8
    np.testing.assert_array_equal(made, expected)
    assert set(np.unique(made)) == {0, 1, 2}


def test_frequencies_are_uniform_and_belong_to_seed_and_column():
    ids = np.arange(100_000)
    q = frequencies(GENOTYPES, ids)
    assert stats.kstest(q, stats.uniform(0.05, 0.45).cdf).statistic < 1.63 / np.sqrt(q.size) + 1 / 65_536
    assert 0.05 <= q.min() < q.max() <= 0.5
    same = replace(GENOTYPES, draw=5, rho=0.0, n_samples=3, n_features=10**8)
    np.testing.assert_array_equal(frequencies(same, ids), q)
    np.testing.assert_array_equal(frequencies(GENOTYPES, ids[70:75]), q[70:75])
    other = frequencies(replace(GENOTYPES, seed=12), ids)
    assert abs(np.corrcoef(q, other)[0, 1]) < 5 / np.sqrt(q.size)
    assert abs(np.corrcoef(q[1:], q[:-1])[0, 1]) < 5 / np.sqrt(q.size)


@pytest.mark.parametrize("rho", [0.0, 0.9])
def test_shares_are_hardy_weinbergs(rho):
    n, ids = 40_000, np.arange(0, 501 * 60, 501)
    made = gather(replace(GENOTYPES, rho=rho, n_samples=n, n_features=10**6), ids)
    q = frequencies(GENOTYPES, ids)
    for copies, share in enumerate([(1 - q) ** 2, 2 * q * (1 - q), q**2]):
        z = ((made == copies).mean(axis=1) - share) / np.sqrt(share * (1 - share) / n)
        assert np.abs(z).max() < 4.5
    mean, scale = moments(GENOTYPES, ids)
    np.testing.assert_allclose(made.mean(axis=1), mean, atol=4.5 * scale.max() / np.sqrt(n))
    np.testing.assert_allclose(made.std(axis=1), scale, rtol=0.04)


def test_neighbours_are_the_more_correlated_the_larger_rho_is():
    lag_one = []
    for rho in (0.0, 0.3, 0.6, 0.9, 0.99):
        made = columns(replace(GENOTYPES, rho=rho, n_samples=4_000), 0, 200).astype(float)
        lag_one.append(np.mean([np.corrcoef(a, b)[0, 1] for a, b in pairwise(made)]))
    assert abs(lag_one[0]) < 0.01
    assert np.all(np.diff(lag_one) > 0.05)
    # Cutting loses some of it: two columns of different frequencies cannot be equal.
    assert 0.5 < lag_one[3] < 0.9


@settings(max_examples=30, deadline=None)
@given(
    rho=st.sampled_from([0.0, 0.9, 0.999]),
    n=st.one_of(st.integers(1, 40), st.sampled_from([4095, 4097, 8201])),
    start=st.integers(0, 1_900),
    cut=st.integers(0, 80),
    chosen=st.sets(st.integers(0, 79)),
)
def test_blocks_and_gathers_have_the_same_bits(rho, n, start, cut, chosen):
    table = replace(GENOTYPES, rho=rho, n_samples=n)
    whole = columns(table, start, start + 80)
    parts = [columns(table, start, start + cut), columns(table, start + cut, start + 80)]
    rows = np.array(sorted(chosen), np.int64)
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    np.testing.assert_array_equal(gather(table, start + rows), whole[rows])


def test_the_bits_of_format_version_1_never_change():
    bits = columns(replace(GENOTYPES, n_samples=50), 200, 300).tobytes()
    assert hashlib.sha256(bits).hexdigest() == "6e1de12e49f9a8b8dbc956b2815a2f1d8422d317510cae23bd169a1d01f7389a"


@pytest.mark.parametrize("kind", ["linear", "logistic"])
@pytest.mark.parametrize("k", [1, 30, 130])
def test_the_signal_is_of_standardised_columns_and_its_ratio_exact(kind, k):
    recipe = replace(GENOTYPES, kind=kind, n_relevant=k)
    found = truth(recipe)
    mean, scale = moments(recipe, found.ids)
    np.testing.assert_allclose(np.abs(found.coefficients) * scale, 1)
    made = columns(recipe, 0, recipe.n_features)[found.ids].astype(float)
    signal = found.coefficients @ (made - mean[:, None])
    y = target(replace(recipe, kind="linear"))
    assert np.linalg.norm(signal) / np.linalg.norm(y - signal) == pytest.approx(np.sqrt(3), rel=1e-9)
    if kind == "logistic":
        np.testing.assert_array_equal(target(recipe), np.sign(y))


def test_the_truth_is_that_of_gaussian_columns_in_other_units():
    gaussian = truth(replace(GENOTYPES, coding="gaussian"))
    np.testing.assert_array_equal(truth(GENOTYPES).ids, gaussian.ids)
    np.testing.assert_array_equal(np.sign(truth(GENOTYPES).coefficients), gaussian.coefficients)
    assert truth(replace(GENOTYPES, draw=3, n_samples=7)).to_json() == truth(GENOTYPES).to_json()


def test_a_gaussian_recipe_does_not_mention_its_coding():
    gaussian = replace(GENOTYPES, coding="gaussian")
    assert "coding" not in json.loads(gaussian.to_json())
    assert json.loads(GENOTYPES.to_json())["coding"] == "genotype"
    for recipe in (gaussian, GENOTYPES):
        assert Recipe.from_json(recipe.to_json()) == recipe


def test_other_codings_and_trees_of_genotypes_are_refused():
    with pytest.raises(InvalidSettingError, match="use one of gaussian, genotype"):
        replace(GENOTYPES, coding="haplotype")
    with pytest.raises(InvalidSettingError, match="use kind linear or logistic"):
        replace(GENOTYPES, kind="tree", n_relevant=3)


def test_a_virtual_store_of_genotypes_has_the_bits_of_the_written_one(tmp_path):
    write_recipe(GENOTYPES, tmp_path / "r.json")
    virtual = open_store(tmp_path / "r.json")
    assert virtual.dtype == np.int8
    write_store(virtual, tmp_path / "s.zarr")
    stored, ids = ZarrStore(tmp_path / "s.zarr"), np.arange(0, 2_000, 7)
    assert stored.dtype == np.int8
    for field in ("values", "mean", "scale"):
        np.testing.assert_array_equal(getattr(stored.gather(ids), field), getattr(virtual.gather(ids), field))
        read = np.concatenate([getattr(stored.read(block), field) for block in stored.blocks()])
        np.testing.assert_array_equal(read[ids], getattr(virtual.gather(ids), field))
    np.testing.assert_array_equal(stored.target(), virtual.target())
    assert stored.truth.to_json() == virtual.truth.to_json()


def test_a_fit_finds_the_effects_in_the_units_of_genotypes():
    store = VirtualStore(replace(GENOTYPES, n_relevant=4, snr=20.0))
    model = BackboneRegressor(4, gamma=10.0).fit(store)
    np.testing.assert_array_equal(model.support_, store.truth.ids)
    np.testing.assert_allclose(model.coefficients_, store.truth.coefficients, rtol=0.15)
