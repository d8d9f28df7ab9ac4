"""Trees with a node changed. Sums are not counted anew: that is left to `filled`, once all changes are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from backbone_dask.trees.tree import LEAF, Tree


def widened(tree: Tree, slots: int) -> Tree:
    """The same tree with room for `slots` features in every split."""
    features, weights = np.full((tree.n_nodes, slots), LEAF), np.zeros((tree.n_nodes, slots))
    features[:, :1], weights[:, :1] = tree.features, tree.weights
    return replace(tree, features=features, weights=weights)


def mirrored(tree: Tree, node: int) -> Tree:
    """The tree with the children of a node in each other's place."""
    left, right = tree.left.copy(), tree.right.copy()
    left[node], right[node] = tree.right[node], tree.left[node]
    return replace(tree, left=left, right=right)


def replaced(tree: Tree, node: int, by: int) -> Tree:
    """The tree with one of a node's descendants, and all below that, in the node's place."""
    old = np.arange(tree.n_nodes)
    old[node] = by
    moved = replace(
        tree,
        features=tree.features[old],
        weights=tree.weights[old],
        thresholds=tree.thresholds[old],
        left=tree.left[old],
        right=tree.right[old],
        sums=tree.sums[old],
    )
    return moved.pruned(moved.is_split)


def cut(tree: Tree, node: int) -> Tree:
    """The tree with a node as a leaf, which keeps its number."""
    return replace(
        tree,
        left=np.where(np.arange(tree.n_nodes) == node, LEAF, tree.left),
        right=np.where(np.arange(tree.n_nodes) == node, LEAF, tree.right),
    )


def opened(tree: Tree, node: int) -> Tree:
    """The tree with two leaves below one of its leaves; the split is still to be filled in."""
    left, right = np.append(tree.left, [LEAF, LEAF]), np.append(tree.right, [LEAF, LEAF])
    left[node], right[node] = tree.n_nodes, tree.n_nodes + 1
    return Tree(
        np.vstack([tree.features, np.full((2, tree.features.shape[1]), LEAF)]),
        np.vstack([tree.weights, np.zeros((2, tree.weights.shape[1]))]),
        np.append(tree.thresholds, [0.0, 0.0]),
        left,
        right,
        np.vstack([tree.sums, np.zeros((2, tree.sums.shape[1]))]),
    )
