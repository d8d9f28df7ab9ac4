"""Kernels of the solvers: a pass and a whole fit of SR-REL, nodes of branch and bound, levels of CART."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from backbone_dask.exact.gram import Gram, largest_eigenvalue
from backbone_dask.exact.incumbent import improve, round_up
from backbone_dask.exact.nodes import Node, Root, best_root, children, tightened
from backbone_dask.exact.restricted import SquaredLoss
from backbone_dask.problems.tree import N_BINS
from backbone_dask.store.synthetic import Recipe, gather, target
from backbone_dask.subproblems.ascent import dual_point
from backbone_dask.subproblems.products import correlate
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.subproblems.task import Task
from backbone_dask.trees.bins import spread_ranks
from backbone_dask.trees.growth import grow
from backbone_dask.trees.labels import Labels
from benchmarks.exact.instances import Instance, chained
from benchmarks.micro.pacing import Paced

pytestmark = pytest.mark.benchmark(group="solvers")


@pytest.fixture(scope="module")
def subproblem() -> Instance:
    return chained(10_000, 20, 2_000, 1.0, rho=0.9)


def test_relaxation_one_product(paced: Paced, subproblem: Instance) -> None:
    X, y, single = subproblem.X, subproblem.y, subproblem.y.astype(np.float32)
    paced(lambda: correlate(X, y), lambda: X @ single, named="X @ y in float32")


def test_relaxation_one_round(paced: Paced, subproblem: Instance) -> None:
    task, single = Task(subproblem.X, subproblem.y, 20, subproblem.gamma), subproblem.y.astype(np.float32)
    paced(lambda: dual_point(task, task.y), lambda: task.X @ single, named="X @ y in float32")


def test_relaxation_whole_subproblem(paced: Paced, subproblem: Instance) -> None:
    X, y, single = subproblem.X, subproblem.y, subproblem.y.astype(np.float32)
    fit = partial(fit_relaxation, X, y, n_nonzero=20, gamma=None, seed=0)
    paced(fit, lambda: X @ single, named="X @ y in float32")


@dataclass(frozen=True)
class Search:
    """A search at its root: the first node that it looks into, and the bound at which a node is closed."""

    gram: Gram
    root: Root
    node: Node
    goal: float


@pytest.fixture(scope="module")
def search() -> Search:
    instance = chained(250, 50, 5_000, 0.1, rho=0.9)
    gram = Gram.of(instance.X, instance.y)
    root = best_root(gram, 50, instance.gamma, time.monotonic() + 60)
    best = improve(gram, round_up(root.node.z, 50), 50, instance.gamma)
    goal = (1 - 1e-4) * best.objective
    return Search(gram, root, tightened(root.problem, root.node, goal), goal)


def test_branch_and_bound_two_nodes_of_250_columns(paced: Paced, search: Search) -> None:
    problem, b = search.root.problem, search.root.problem.b
    assert search.node.branch >= 0
    paced(
        lambda: children(problem, search.node, search.goal),
        lambda: (problem.A @ b, problem.A @ b),
        named="two products A @ v, 250 x 250",
    )


def test_branch_and_bound_root_of_250_columns(paced: Paced, search: Search) -> None:
    G, gamma = search.gram.G, 0.1 / np.sqrt(5_000)
    paced(
        lambda: best_root(search.gram, 50, gamma, time.monotonic() + 60),
        lambda: np.linalg.eigh(G),
        named="one eigh of G, 250 x 250",
    )


def test_largest_eigenvalue_of_2250_columns(paced: Paced) -> None:
    """What the step of a relaxation over all priced columns needs of their products."""
    X = np.random.default_rng(0).standard_normal((2_250, 500))
    G = X @ X.T
    paced(lambda: largest_eigenvalue(G), lambda: X @ X.T, named="the products X @ X.T")


def test_narrowed_relaxation_of_2000_columns(paced: Paced) -> None:
    """From weights of 0, and the columns that a screen would give first."""
    instance = chained(2_000, 20, 500, 0.1, rho=0.9)
    X, y = instance.X, instance.y
    loss, single = SquaredLoss(y, 20, instance.gamma), y.astype(np.float32)
    first = np.sort(np.argsort(-np.abs(X @ single))[:20])
    paced(lambda: loss.solve(X, np.zeros(len(X)), first), lambda: X @ X.T, named="the products X @ X.T in float32")


@dataclass(frozen=True)
class Forest:
    """Values of columns, their ranks, and classes."""

    values: np.ndarray
    ranks: np.ndarray
    labels: Labels


@pytest.fixture(scope="module")
def forest() -> Forest:
    recipe = Recipe(kind="tree", n_samples=3_500, n_features=2_000, n_relevant=31, rho=0.9, depth=5, seed=1)
    values, y = gather(recipe, np.arange(2_000)), target(recipe).astype(np.int64)
    return Forest(values, spread_ranks(values), Labels(y, np.ones(y.size), 2))


@pytest.mark.parametrize("depth", [1, 5])
def test_cart_levels(paced: Paced, forest: Forest, depth: int) -> None:
    work = partial(grow, forest.ranks, forest.labels, n_bins=N_BINS, depth=depth, min_bucket=1.0)
    bins = forest.ranks >> 8
    paced(work, lambda: [np.bincount(row, minlength=N_BINS) for row in bins], named="one np.bincount of every row")


def test_cart_ranks(paced: Paced, forest: Forest) -> None:
    paced(lambda: spread_ranks(forest.values), lambda: np.sort(forest.values, axis=1), named="np.sort")
