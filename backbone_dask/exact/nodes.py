"""Nodes of the search: some features are in, some are out, the rest is relaxed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.kernel_nodes import Problem, objective, relax_child
from backbone_dask.exact.kernel_pieces import EXCLUDED, FREE, REQUIRED, Codes, piece_minimum
from backbone_dask.exact.nodes_curvature import is_proven, least_curvature, recentred
from backbone_dask.exact.perspective import solve_relaxation
from backbone_dask.losses.squared import Vector

_ROOT_ROUNDS, _NODE_ROUNDS = 200, 40
_RECENTRINGS = 5
_LEAST_PULL = 1e-3
_LEAST_SHARE = 1e-9
_SETTLED = 1e-4


@dataclass(frozen=True, slots=True)
class Node:
    """A relaxed node: its proven bound, who is in or out, the piece of its relaxation, and its shares.

    `branch` is the feature to decide next, or -1 where the relaxation is one support, which then is the best there.
    """

    bound: float
    status: Codes
    code: Codes
    room: int
    branch: int
    z: Vector


@dataclass(frozen=True, slots=True)
class Root:
    """The problem in the units of the search, and its first node."""

    problem: Problem
    node: Node

    @property
    def weights(self) -> Vector:
        """v of the relaxation."""
        return self._minimum[0]

    @property
    def is_settled(self) -> bool:
        """Whether the bound is about as large as the relaxation has it."""
        v, slopes = self._minimum
        node, problem = self.node, self.problem
        value = 0.5 * problem.yy + objective(problem.b, node.status, node.room, v, slopes, np.empty(v.size))
        return bool(node.bound >= (1 - _SETTLED) * value)

    @property
    def _minimum(self) -> tuple[Vector, Vector]:
        """v of the piece that the relaxation ended in, and its slopes."""
        found, nowhere = np.empty((2, self.node.z.size)), np.zeros(self.node.z.size)
        A, b = self.problem.A, self.problem.b
        piece_minimum(A, b, self.node.status, self.node.code, self.node.room, nowhere, found[0], found[1])
        return found[0], found[1]


def scaled(gram: Gram, gamma: float, moved: Vector) -> Problem:
    """The problem with the curvature `moved` counted as ridge, in units in which every ridge weight is 1."""
    unit = 1 / np.sqrt(1 / gamma + moved)
    A = (gram.G - np.diag(moved)) * unit[:, None] * unit
    pull = np.maximum(np.diagonal(A), _LEAST_PULL)
    # Twice: the error of the products, and that of what was just done to them.
    return Problem(A, gram.b * unit, gram.yy, gram.norms * unit, 2 * gram.rounding, pull)


def plain_root(gram: Gram, n_nonzero: int, gamma: float) -> Root:
    """The whole problem, relaxed without moving curvature."""
    return _root(scaled(gram, gamma, np.zeros(gram.n_features)), n_nonzero)


def best_root(gram: Gram, n_nonzero: int, gamma: float, deadline: float) -> Root:
    """The whole problem, with curvature moved such that its bound is large.

    The bound is concave in the amounts, with slope w_j^2 (1/z_j - 1) / 2: what an average of slopes calls important is
    moved first.
    """
    best = _floored(plain_root(gram, n_nonzero, gamma), gram, n_nonzero, gamma, deadline)
    curvature, importance = least_curvature(gram, gamma), np.zeros(gram.n_features)
    for turn in range(_RECENTRINGS):
        if time.monotonic() >= deadline or not is_proven(gram, curvature.moved):
            break
        root = _root(scaled(gram, gamma, curvature.moved), n_nonzero)
        best = root if root.node.bound > best.node.bound else best
        importance += 2 / (turn + 2) * (_slope(root, curvature.moved + 1 / gamma) - importance)
        curvature = recentred(curvature, importance, deadline)
    return best


def _floored(root: Root, gram: Gram, n_nonzero: int, gamma: float, deadline: float) -> Root:
    """Where rounding kept the kernel from the relaxation's bound, its slower and sturdier solver is asked for it."""
    if root.is_settled:
        return root
    found = solve_relaxation(gram, Face.whole(gram.n_features, n_nonzero), gamma, deadline=deadline)
    if found.bound <= root.node.bound:
        return root
    return replace(root, node=replace(root.node, bound=float(found.bound), z=found.z))


def children(problem: Problem, node: Node, goal: float) -> list[Node]:
    """The node with its branch feature in, and out; never with a lower bound than the node's own."""
    return [_child(problem, node, decision, goal) for decision in (REQUIRED, EXCLUDED)]


def tightened(problem: Problem, node: Node, goal: float) -> Node:
    """The same node after deciding every feature that the goal decides."""
    return _child(problem, node, FREE, goal)


def _root(problem: Problem, n_nonzero: int) -> Root:
    nothing = np.zeros(problem.b.size, np.int8)
    start = Node(0.0, nothing, nothing, n_nonzero, -1, np.zeros(nothing.size))
    return Root(problem, _child(problem, start, FREE, np.inf, rounds=_ROOT_ROUNDS))


def _child(problem: Problem, node: Node, decision: int, goal: float, rounds: int = _NODE_ROUNDS) -> Node:
    status, code, z = node.status.copy(), node.code.copy(), np.empty(node.z.size)
    bound, room, branch = relax_child(problem, status, code, node.room, node.branch, decision, goal, rounds, z)
    return Node(max(bound, node.bound), status, code, room, branch, z)


def _slope(root: Root, weight: Vector) -> Vector:
    """w_j^2 (1/z_j - 1), with w in the units of the data."""
    z = root.node.z
    there = z > _LEAST_SHARE
    return np.where(there, root.weights**2 / weight * (1 / np.where(there, z, 1.0) - 1), 0.0)
