"""Branch and bound for the reduced problem: the node with the least bound first, until that bound is good enough."""

from __future__ import annotations

import heapq
import time

import numpy as np
from numpy.linalg import LinAlgError

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.checks import check_regression
from backbone_dask.exact.everything import fit_everything
from backbone_dask.exact.gram import Gram, Positions
from backbone_dask.exact.incumbent import Incumbent, evaluate, improve, round_up
from backbone_dask.exact.nodes import Node, Root, best_root, children, tightened
from backbone_dask.exact.trace import Recorder
from backbone_dask.exact.verdict import Answer, model_of_samples, verdict
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import CandidateIds, Outcome, SparseFit, Standardised, Target, Termination

_CAREFUL = 0.99
_ROUNDING_EVERY = 256
"""Nodes between two descents from a rounded relaxation; at first they come at every power of two."""
_MOST_BYTES = 1 << 30
_NODE_BYTES = 500


def fit_branch_and_bound(
    X: Standardised,
    y: Target,
    *,
    n_nonzero: int,
    gamma: float,
    warm_start: CandidateIds,
    seconds: float,
    gap_tolerance: float,
) -> Outcome[SparseFit]:
    """Best ridge fit on at most `n_nonzero` rows of X, with a proven lower bound for its objective.

    y is taken as it is: centre it if the model has an intercept. `warm_start` holds positions in X, of any number.
    Equal inputs give equal results unless time is what ends it; `rounds` of the outcome counts nodes.
    """
    recorder = Recorder()
    target = np.asarray(y, np.float64)
    check_regression(X, target, n_nonzero, gamma)
    usable = np.flatnonzero(X.any(axis=1))
    warm = np.searchsorted(usable, np.intersect1d(usable, warm_start))
    with one_blas_thread():
        if usable.size <= n_nonzero:
            answer = fit_everything(X[usable], target, gamma)
        else:
            gram = Gram.of(X[usable], target)
            answer = _solve(gram, n_nonzero, gamma, warm, gap_tolerance, recorder.began + seconds, recorder)
        model = model_of_samples(X, target, gamma, usable[answer.incumbent.support], answer.incumbent.weights)
    return verdict(answer, model, gap_tolerance, recorder)


def _solve(
    gram: Gram, n_nonzero: int, gamma: float, warm: Positions, tolerance: float, deadline: float, recorder: Recorder
) -> Answer[Incumbent]:
    try:
        root = best_root(gram, n_nonzero, gamma, deadline)
        return _Search(gram, n_nonzero, gamma, tolerance, root, recorder).run(warm, deadline)
    except LinAlgError as cause:
        raise ExactSolveError(f"the ridge system is singular in float64 at gamma={gamma:g}") from cause


class _Search:
    """The state of one search: the best support, the open nodes, and the least bound of the closed ones."""

    def __init__(
        self, gram: Gram, n_nonzero: int, gamma: float, tolerance: float, root: Root, recorder: Recorder
    ) -> None:
        self.gram, self.n_nonzero, self.gamma, self.tolerance = gram, n_nonzero, gamma, tolerance
        self.problem, self.root, self.recorder = root.problem, root.node, recorder
        self.incumbent = evaluate(gram, np.empty(0, np.int64), gamma)
        self.open: list[tuple[float, int, Node]] = []
        self.closed_bound = np.inf
        self.nodes = 0
        self.tried: set[bytes] = set()

    @property
    def goal(self) -> float:
        """A node with this bound need not be looked into; a little above what is asked, which rounding may use up."""
        return (1 - _CAREFUL * self.tolerance) * self.incumbent.objective

    @property
    def bound(self) -> float:
        """Of the worst node; the root's where a goal below it is all that is known of some."""
        return max(self.root.bound, min(self.closed_bound, self.open[0][0] if self.open else np.inf))

    def run(self, warm: Positions, deadline: float) -> Answer[Incumbent]:
        self._note(self.root.bound)
        self._descend(warm)
        self._descend(round_up(self.root.z, self.n_nonzero))
        self._note(self.root.bound)
        self._settle([tightened(self.problem, self.root, self.goal)], self.goal)
        stopped = self._expand_until(deadline)
        return Answer(self.incumbent, self.bound, stopped, self.nodes)

    def _expand_until(self, deadline: float) -> Termination:
        most_open = _MOST_BYTES // (_NODE_BYTES + 10 * self.gram.n_features)
        while self.open and self.open[0][0] < self.goal:
            if time.monotonic() >= deadline:
                return Termination.TIME_LIMIT
            if len(self.open) >= most_open:
                break
            _, _, node = heapq.heappop(self.open)
            self._settle(children(self.problem, node, self.goal), self.goal)
            self.recorder.note(self.incumbent.objective, self.bound)
        return Termination.ROUND_LIMIT

    def _settle(self, nodes: list[Node], goal: float) -> None:
        """File nodes that were relaxed with a goal: what they gave up on the way is only known to reach that goal."""
        self.closed_bound = min(self.closed_bound, goal)
        for node in nodes:
            self._file(node)

    def _file(self, node: Node) -> None:
        """Close a node that holds nothing better or is a single support; keep the others for later."""
        self.nodes += 1
        if node.bound < self.goal and (self._is_due() or node.branch < 0):
            self._look_around(node)
        if node.bound >= self.goal or node.branch < 0:
            self.closed_bound = min(self.closed_bound, node.bound)
        else:
            heapq.heappush(self.open, (node.bound, self.nodes, node))

    def _is_due(self) -> bool:
        return self.nodes % _ROUNDING_EVERY == 0 or self.nodes & (self.nodes - 1) == 0

    def _look_around(self, node: Node) -> None:
        rounded = round_up(node.z, self.n_nonzero)
        if rounded.tobytes() not in self.tried:
            self.tried.add(rounded.tobytes())
            self._descend(rounded)

    def _note(self, bound: float) -> None:
        self.recorder.note(self.incumbent.objective, bound)

    def _descend(self, support: Positions) -> None:
        found = improve(self.gram, support, self.n_nonzero, self.gamma)
        if found.objective < self.incumbent.objective:
            self.incumbent = found
