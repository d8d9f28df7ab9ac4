"""Trees through the whole spine: the same bits everywhere, planted trees, lost columns that come back."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import BackboneTreeClassifier, open_store, write_store
from backbone_dask.launch.local import local_cluster
from backbone_dask.store import MemoryStore, Recipe, VirtualStore
from backbone_dask.testing.planted import MISSING

CHEAP = {"n_starts": 2, "search_width": 8, "n_subproblems": 3}
ONE_GOAL = {"min_bucket": 1, "complexity": 0.01}
# One small subproblem: what it draws is a small part of the candidates.
FORGETFUL = {"n_subproblems": 1, "subproblem_fraction": 0.05, "backbone_max": 5}


def planted_store(seed, *, draw=0, n_features=1500):
    return VirtualStore(
        Recipe(kind="tree", n_samples=500, n_features=n_features, n_relevant=3, depth=2, seed=seed, draw=draw)
    )


def accuracy(model, seed):
    """On another draw from the same truth."""
    other = planted_store(seed, draw=1)
    return float((model.predict(other) == other.target("y")).mean())


def bits(model):
    tree = model.tree_.tree
    arrays = (tree.features, tree.weights, tree.thresholds, tree.left, tree.right, tree.sums, model.backbone_)
    levels = [(level.level, level.backbone.tolist()) for level in model.levels_]
    return [each.tobytes() for each in arrays], model.validation_curve_, levels, model.support_.tolist()


def test_serial_and_one_and_two_workers_give_the_same_bits():
    store = planted_store(2, n_features=400)
    settings = {"depth": [1, 2], "min_bucket": [1, 5], "complexity": 0.005, "validation": 2, **CHEAP}
    expected = bits(BackboneTreeClassifier(**settings, executor="serial").fit(store))
    for n_workers in (1, 2):
        with local_cluster(n_workers):
            assert bits(BackboneTreeClassifier(**settings, executor="dask").fit(store)) == expected


@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_tree_is_recovered(seed):
    store = planted_store(seed)
    model = BackboneTreeClassifier(2, **CHEAP).fit(store)
    assert model.support_.tolist() == store.truth.ids.tolist()
    assert accuracy(model, seed) > 0.97
    assert model.get_depth() == 2


@pytest.mark.parametrize("seed", [1, 2])
def test_pricing_brings_back_what_sampling_lost(seed):
    without, priced = (
        BackboneTreeClassifier(2, **CHEAP | FORGETFUL, pricing_rounds=rounds).fit(planted_store(seed))
        for rounds in (0, 3)
    )
    truth = planted_store(seed).truth.ids
    assert not np.isin(truth, without.backbone_).all()
    assert accuracy(without, seed) < 0.85
    assert priced.support_.tolist() == truth.tolist()
    assert accuracy(priced, seed) > 0.97
    assert priced.backbone_.size <= 5
    assert len(priced.levels_) > len(without.levels_)


def test_without_pricing_an_empty_backbone_gives_a_leaf():
    rng = np.random.default_rng(0)
    X, empty = rng.normal(size=(60, 12)), 0
    for seed in range(6):
        y = rng.integers(0, 2, 60)
        model = BackboneTreeClassifier(2, **CHEAP | FORGETFUL, **ONE_GOAL, pricing_rounds=0, random_state=seed).fit(
            X, y
        )
        if not model.backbone_.size:
            empty += 1
            np.testing.assert_allclose(model.predict_proba(X), np.tile(np.bincount(y) / 60, (60, 1)))
            assert model.export_text().startswith("class ")
            assert not model.feature_importances_.any()
    assert empty > 0


@pytest.fixture(scope="module")
def table():
    """Two classes, from columns 7 and 100 of 150."""
    X = np.random.default_rng(3).normal(size=(200, 150))
    return X, ((X[:, 7] > -0.5) & (X[:, 100] > -0.6)).astype(int)


def test_the_best_of_all_starts_is_kept():
    """On noise, starts come to different ends; each is a part that a worker solves."""
    found = []
    for seed in range(5):
        rng = np.random.default_rng([5, seed])
        X, y = rng.normal(size=(150, 30)), rng.integers(0, 2, 150)
        settings = {"min_bucket": 1, "complexity": 0.002, "search_width": 1, "n_subproblems": 4}
        found += [[BackboneTreeClassifier(4, n_starts=n, **settings).fit(X, y).objective_ for n in (1, 4)]]
    assert all(many <= one + 0.002 for one, many in found)
    assert sum(many < one - 0.01 for one, many in found) >= 2


@pytest.mark.parametrize("screen", ["none", "entropy", "logistic", "svm"])
def test_every_screen(table, screen):
    X, y = table
    size = {} if screen == "none" else {"screen_size": 20}
    model = BackboneTreeClassifier(2, screen=screen, **size, **CHEAP, **ONE_GOAL).fit(X, y)
    assert model.support_.tolist() == [7, 100]
    assert model.score(X, y) == 1.0
    assert model.levels_[0].n_candidates == (150 if screen == "none" else 20)


@pytest.mark.parametrize("screen", ["none", "entropy", "svm"])
def test_every_screen_of_many_classes(table, screen):
    X, _ = table
    y = (X[:, 7] > 0) * 1 + (X[:, 100] > 0) * 2
    model = BackboneTreeClassifier(2, screen=screen, **CHEAP, **ONE_GOAL).fit(X, y)
    assert model.score(X, y) == 1.0


def test_a_sample_of_weight_two_counts_as_two(table):
    X, y = table
    rng = np.random.default_rng(4)
    y = np.where(rng.random(200) < 0.2, 1 - y, y)
    weights = rng.integers(0, 3, 200)
    model = BackboneTreeClassifier(3, **CHEAP, **ONE_GOAL).fit(X, y, sample_weight=weights)
    repeated, tree = np.repeat(np.arange(200), weights), model.tree_.tree
    np.testing.assert_array_equal(tree.sums[0], np.bincount(y[repeated]))
    wrong = np.mean(model.predict(X[repeated]) != y[repeated])
    assert model.objective_ == pytest.approx(wrong + 0.01 * tree.n_splits)


def test_a_sample_without_weight_is_as_good_as_not_there(table):
    X, y = table
    rng = np.random.default_rng(6)
    y = np.where(rng.random(200) < 0.2, 1 - y, y)
    there = rng.random(200) < 0.7
    settings = {**CHEAP, **ONE_GOAL, "screen_size": 40}
    zero = BackboneTreeClassifier(3, **settings).fit(X, y, sample_weight=there.astype(float))
    dropped = BackboneTreeClassifier(3, **settings).fit(X[there], y[there])
    assert zero.backbone_.tolist() == dropped.backbone_.tolist()
    assert zero.objective_ == dropped.objective_
    np.testing.assert_array_equal(zero.tree_.tree.thresholds, dropped.tree_.tree.thresholds)
    np.testing.assert_array_equal(zero.tree_.tree.sums, dropped.tree_.tree.sums)


def test_heavy_classes_are_got_right(table):
    X, _ = table
    rng = np.random.default_rng(7)
    y = (rng.random(200) < np.where(X[:, 7] > 0.8, 0.5, 0.02)).astype(int)
    plain = BackboneTreeClassifier(1, **CHEAP, **ONE_GOAL).fit(X, y)
    heavy = BackboneTreeClassifier(1, class_weight={0: 1, 1: 20}, **CHEAP, **ONE_GOAL).fit(X, y)
    found = [float((model.predict(X) == 1)[y == 1].mean()) for model in (plain, heavy)]
    assert found[1] > max(found[0], 0.7)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_codes_of_a_store_stand_for_the_mean(tmp_path, dtype):
    rng = np.random.default_rng(8)
    X = rng.integers(0, 3, (300, 40)).astype(dtype)
    y = ((X[:, 5] >= 1) & (X[:, 30] == 2)).astype(float)
    X[rng.random(X.shape) < 0.05] = MISSING[dtype]
    write_store(MemoryStore(X, targets={"y": y}), tmp_path / "s.zarr")
    store = open_store(tmp_path / "s.zarr", missing="mean")
    model = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL, missing="mean").fit(store)
    assert model.support_.tolist() == [5, 30]
    present = (X[:, [5, 30]] != MISSING[dtype]).all(axis=1)
    assert (model.predict(store) == y)[present].all()
    means = [X[X[:, j] != MISSING[dtype], j].mean() for j in (5, 30)]
    np.testing.assert_allclose(model.tree_.means, means)
    literal = np.where(MISSING[dtype] == X, np.nan, X)
    literal = np.where(np.isnan(literal), np.nanmean(literal, axis=0), literal)
    imputed = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(literal, y)
    np.testing.assert_array_equal(model.predict(store), imputed.predict(literal))


def test_nan_is_refused_or_the_mean(table):
    X, y = table
    holes = X.copy()
    holes[np.random.default_rng(9).random(X.shape) < 0.02] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        BackboneTreeClassifier(2, **CHEAP).fit(holes, y)
    with pytest.raises(ValueError, match="missing='mean'"):
        BackboneTreeClassifier(2, **CHEAP).fit(MemoryStore(holes), y)
    model = BackboneTreeClassifier(2, missing="mean", **CHEAP, **ONE_GOAL).fit(holes, y)
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    expected = BackboneTreeClassifier(2, **CHEAP, **ONE_GOAL).fit(filled, y)
    assert model.support_.tolist() == expected.support_.tolist() == [7, 100]
    np.testing.assert_array_equal(model.predict(holes), expected.predict(filled))


def test_genotypes():
    store = VirtualStore(
        Recipe(kind="logistic", n_samples=400, n_features=600, n_relevant=1, snr=50.0, coding="genotype", seed=1)
    )
    model = BackboneTreeClassifier(2, **CHEAP).fit(store)
    assert store.truth.ids[0] in model.support_
    halves = model.tree_.tree.thresholds[model.tree_.tree.is_split]
    assert set(halves) <= {0.5, 1.5}
