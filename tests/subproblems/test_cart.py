"""CART subproblems: the choice on the hold-out, recomputed sample by sample; planted columns; bad input."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask.subproblems.cart import CartFit, FitCart, draw_training, used_features
from backbone_dask.testing.tree_cases import labels_of
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.pruning import pruned_at, weakest_links
from backbone_dask.trees.table import TreeTable

DEPTHS, BUCKETS, BINS = (1, 2, 4), (1.0, 5.0), 8


def draw_case(seed, *, n=80, rows=6, n_classes=2, noise=0.25, weights="ones"):
    rng = np.random.default_rng([41, seed])
    codes = rng.integers(0, BINS, (rows, n)).astype(np.uint8)
    classes = ((codes[0] > 3).astype(int) + (codes[2] > 4)) % n_classes
    classes = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), classes)
    drawn = {"ones": np.ones(n), "whole": rng.integers(0, 3, n).astype(float), "any": rng.exponential(size=n)}[weights]
    return codes, Labels(classes, drawn, n_classes)


def candidates(codes, labels, training):
    """(error, splits, depth, bucket, complexity) of every tree there is to choose from: each grown by itself."""
    trained = labels.weighted(np.where(training, labels.weights, 0.0))
    left_out = np.flatnonzero(~training & (labels.weights > 0))
    for depth in DEPTHS:
        for bucket in BUCKETS:
            tree = grow(codes, trained, n_bins=BINS, depth=depth, min_bucket=bucket)
            for link in weakest_links(tree, tree.is_split):
                small = tree.pruned(link.splits)
                wrong = small.choices[small.leaves(codes[:, left_out])] != labels.classes[left_out]
                share = labels.weights[left_out] @ wrong / labels.weights[left_out].sum()
                yield float(share), small.n_splits, depth, bucket, link.complexity


def literal_choice(codes, labels, training):
    """The least error, and of those within rounding the least splits, depth, bucket and complexity."""
    every = list(candidates(codes, labels, training))
    least = min(each[0] for each in every)
    return min(each[1:] for each in every if each[0] <= least + 1e-9)


@pytest.mark.parametrize("weights", ["ones", "whole", "any"])
def test_the_choice_is_the_least_error_of_all_and_the_smallest_of_equals(weights):
    for seed in range(40):
        codes, labels = draw_case(seed, n_classes=2 + seed % 2, weights=weights)
        training = draw_training(labels, seed)
        n_splits, depth, bucket, complexity = literal_choice(codes, labels, training)
        found = min(FitCart(DEPTHS, BUCKETS, BINS).choices(codes, labels, seed))
        assert (found.n_splits, found.depth, found.min_bucket) == (n_splits, depth, bucket)
        assert found.complexity == pytest.approx(complexity, abs=1e-12)


def test_the_answer_is_the_chosen_tree_grown_on_all_samples():
    for seed in range(10):
        codes, labels = draw_case(seed)
        _, depth, bucket, complexity = literal_choice(codes, labels, draw_training(labels, seed))
        tree = grow(codes, labels, n_bins=BINS, depth=depth, min_bucket=bucket)
        expected = tree.pruned(pruned_at(tree, tree.is_split, complexity))
        found = FitCart(DEPTHS, BUCKETS, BINS)(codes, labels, seed=seed)
        for name in ("features", "thresholds", "left", "sums"):
            np.testing.assert_array_equal(getattr(found.tree, name), getattr(expected, name))
        assert found.objective == pytest.approx(expected.error)


def test_the_hold_out_is_a_share_of_every_class():
    labels = Labels(np.repeat([0, 1, 2], [100, 10, 1]), np.ones(111), 4)
    training = draw_training(labels, 3)
    assert [int(training[labels.classes == each].sum()) for each in range(3)] == [70, 7, 1]
    np.testing.assert_array_equal(training, draw_training(labels, 3))
    assert (training != draw_training(labels, 4)).any()


def test_samples_without_weight_are_neither_trained_on_nor_held_out():
    codes, labels = draw_case(1, weights="whole")
    there = labels.weights > 0
    assert not there.all()
    assert not draw_training(labels, 0)[~there].any()
    whole = FitCart(DEPTHS, BUCKETS, BINS)(codes, labels, seed=0)
    without = FitCart(DEPTHS, BUCKETS, BINS)(codes[:, there], labels.take(there), seed=0)
    np.testing.assert_array_equal(whole.tree.features, without.tree.features)
    np.testing.assert_array_equal(whole.tree.sums, without.tree.sums)


def test_equal_seeds_give_equal_trees_and_others_may_not():
    codes, labels = draw_case(2, noise=0.6)
    fit = FitCart(DEPTHS, BUCKETS, BINS)
    np.testing.assert_array_equal(fit(codes, labels, seed=5).tree.sums, fit(codes, labels, seed=5).tree.sums)
    sizes = {fit(codes, labels, seed=seed).tree.n_splits for seed in range(30)}
    assert len(sizes) > 1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_planted_columns_are_found_among_noise(n_classes):
    rng = np.random.default_rng(7)
    values = rng.standard_normal((500, 400))
    quadrant = (values[100] > 0) * 1 + (values[300] > 0) * 2
    classes = (quadrant == 3).astype(int) if n_classes == 2 else quadrant
    table = TreeTable.of(values, 255)
    fit = FitCart((2, 3), (1.0, 5.0), 256)(table.codes, labels_of(classes), seed=1)
    assert np.flatnonzero(used_features(fit)).tolist() == [100, 300]
    assert fit.tree.error < 0.02


def test_noise_is_pruned_to_little_or_nothing():
    rng = np.random.default_rng(8)
    codes = rng.integers(0, BINS, (50, 300)).astype(np.uint8)
    labels = labels_of(rng.random(300) < 0.2)
    sizes = [FitCart(DEPTHS, BUCKETS, BINS)(codes, labels, seed=seed).tree.n_splits for seed in range(5)]
    assert np.median(sizes) <= 2


def test_the_mask_marks_what_splits_use():
    codes, labels = draw_case(3, n_classes=3, noise=0.0)
    fit = FitCart((2,), (1.0,), BINS)(codes, labels, seed=0)
    mask = used_features(fit)
    assert mask.shape == (6,)
    assert mask.dtype == np.bool_
    assert np.flatnonzero(mask).tolist() == fit.tree.used.tolist() == [0, 2]
    assert not used_features(CartFit(6, fit.tree.pruned(np.zeros(fit.tree.n_nodes, np.bool_)))).any()


@pytest.mark.parametrize("depths", [(0,), (1,), (0, 1)])
def test_shallow_trees(depths):
    codes, labels = draw_case(4, noise=0.0)
    fit = FitCart(depths, (1.0,), BINS)(codes, labels, seed=0)
    assert fit.tree.depth == max(depths)


def test_a_single_column():
    codes, _ = draw_case(5, noise=0.0)
    fit = FitCart(DEPTHS, BUCKETS, BINS)(codes[:1], labels_of(codes[0] > 3), seed=0)
    assert (fit.tree.n_splits, fit.tree.thresholds[0], fit.tree.error) == (1, 3.0, 0.0)
    assert used_features(fit).tolist() == [True]


def test_constant_columns_give_a_leaf():
    fit = FitCart(DEPTHS, BUCKETS, BINS)(np.full((3, 10), 2, np.uint8), labels_of([0] * 4 + [1] * 6), seed=0)
    assert fit.tree.n_splits == 0
    assert fit.objective == pytest.approx(0.4)


def test_a_class_of_one_sample_is_trained_on():
    codes = np.array([[0, 0, 0, 0, 0, 0, 7]], np.uint8)
    for seed in range(5):
        fit = FitCart((1,), (1.0,), BINS)(codes, labels_of([0, 0, 0, 0, 0, 0, 1]), seed=seed)
        assert fit.tree.n_nodes in (1, 3)
        assert fit.tree.sums[0].tolist() == [6, 1]


def test_so_few_samples_that_none_is_held_out():
    codes = np.array([[0, 7]], np.uint8)
    fit = FitCart((1, 2), (1.0,), BINS)(codes, labels_of([0, 1]), seed=0)
    assert fit.tree.error == 0.0
    assert fit.tree.n_splits == 1
