"""What a fitted tree may be relied on for: no worse than CART, no column left out for nothing, no overlap in print."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from backbone_dask import BackboneTreeClassifier, tree_svg
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.problems.tree_choice import best_goal
from backbone_dask.trees.goal import Goal
from backbone_dask.values import TreePoint

SVG = "{http://www.w3.org/2000/svg}"


def wavy(seed):
    """Classes with more turns along a column than quantiles would follow."""
    rng = np.random.default_rng([83, seed])
    X = rng.normal(size=(int(rng.integers(80, 600)), int(rng.integers(1, 4))))
    signal = np.sin(3 * X[:, 0]) + (X[:, -1] > 0) > 0.5
    return X, signal ^ (rng.random(len(X)) < 0.15), int(rng.integers(2, 5))


@pytest.mark.parametrize("complexity", [0.0, 0.005])
def test_never_worse_than_the_best_pruning_of_scikit_learns_tree(complexity):
    strictly = 0
    for seed in range(40):
        X, y, depth = wavy(seed)
        path = DecisionTreeClassifier(max_depth=depth, random_state=0).cost_complexity_pruning_path(X, y)
        peers = [
            DecisionTreeClassifier(max_depth=depth, random_state=0, ccp_alpha=max(alpha, 0)).fit(X, y)
            for alpha in path.ccp_alphas
        ]
        theirs = min(1 - peer.score(X, y) + complexity * (peer.get_n_leaves() - 1) for peer in peers)
        model = BackboneTreeClassifier(depth, min_bucket=1, complexity=complexity, screen="none", n_starts=1)
        ours = model.fit(X, y).objective_
        assert ours <= theirs + 1e-9
        strictly += ours < theirs - 1e-9
    assert strictly >= 10


@pytest.mark.parametrize("exact", ["local-search", "dynamic-programming", "mio"])
def test_columns_that_fit_are_all_searched(exact):
    """Exclusive or: no column helps by itself, and no greedy tree names any."""
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 10)
    model = BackboneTreeClassifier(2, min_bucket=1, complexity=0.01, screen="none", exact=exact)
    model.fit(X, X[:, 0] != X[:, 1])
    assert model.backbone_.tolist() == [0, 1]
    assert model.objective_ == pytest.approx(0.03)
    assert model.score(X, X[:, 0] != X[:, 1]) == 1


@pytest.mark.parametrize("column", [np.repeat([0.0, 1.0], 20), np.arange(40) < 2.0], ids=["balanced", "rare"])
def test_a_column_that_says_nothing_gives_a_leaf(column):
    model = BackboneTreeClassifier().fit(np.asarray(column, float)[:, None], np.arange(40) % 2)
    assert model.get_n_leaves() == 1
    assert model.objective_ == 0.5


def test_too_many_classes_are_refused_in_words_of_trees():
    with pytest.raises(InvalidDataError, match="60 different values, too many for classes; a tree takes up to"):
        BackboneTreeClassifier().fit(np.ones((120, 2)), np.arange(120) % 60)


def boxes(svg):
    return [
        tuple(float(box.get(name)) for name in ("x", "y", "width", "height"))
        for box in ElementTree.fromstring(svg).iter(f"{SVG}rect")
    ]


@pytest.mark.parametrize("name", ["x{}", "a long name of gene number {} in some tissue", 'a<b>&"{}\x01'])
@pytest.mark.parametrize("split_features", [1, 3])
def test_no_boxes_of_a_drawing_overlap(name, split_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = ((X[:, 0] > 0) & (X[:, 1] > 0)) | ((X[:, 0] <= 0) & (X[:, 2] > X[:, 3]))
    model = BackboneTreeClassifier(
        4, min_bucket=1, complexity=0.002, split_features=split_features, n_starts=1, search_width=4
    ).fit(X, y)
    model.tree_ = type(model.tree_)(
        model.tree_.tree,
        model.tree_.ids,
        tuple(name.format(at) for at in model.tree_.ids),
        model.tree_.means,
        model.tree_.classes,
    )
    drawn = boxes(tree_svg(model))
    assert len(drawn) == 2 * model.tree_.tree.n_splits + 1 > 5
    for at, (x, y0, width, height) in enumerate(drawn):
        for other_x, other_y, other_width, other_height in drawn[:at]:
            apart = x >= other_x + other_width or other_x >= x + width
            assert apart or y0 >= other_y + other_height or other_y >= y0 + height


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(NotFittedError):
        tree_svg(BackboneTreeClassifier())
    model = BackboneTreeClassifier(1, min_bucket=1, complexity=0.01).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InvalidSettingError, match="class_names has 1 names; the tree has 2 classes"):
        tree_svg(model, ["one"])


def test_the_simplest_goal_within_a_standard_error_is_chosen():
    """Of 400 samples 10 % are wrong at best, and the root of .1 * .9 / 400 is .015."""
    points = [
        TreePoint(depth, 1.0, complexity, (error,), weights=(400.0,))
        for depth, complexity, error in [(5, 0.001, 0.1), (4, 0.01, 0.114), (3, 0.01, 0.1149), (2, 0.05, 0.116)]
    ]
    assert best_goal(tuple(points)) == Goal(3, 1.0, 0.01)
    assert best_goal(tuple(replace(point, weights=(4e9,)) for point in points)) == Goal(5, 1.0, 0.001)
