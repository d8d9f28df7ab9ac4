"""Changes to a tree with hyperplane splits: each is tried on the values themselves, and counted there."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.exact.trees.hyperplane_descent import best_hyperplane
from backbone_dask.exact.trees.hyperplane_lines import Sides
from backbone_dask.exact.trees.hyperplane_starts import Hyperplane, drawn_starts
from backbone_dask.exact.trees.moves import LEAST_FALL
from backbone_dask.exact.trees.thresholds import passing, rise
from backbone_dask.trees.bins import between
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.surgery import cut, mirrored, opened, replaced
from backbone_dask.trees.tree import LEAF, Tree

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
_RANDOM_STARTS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What trees are changed on: values (rows, samples), and what takes each row to mean 0 and deviation 1.

    After the `deadline` on the clock nothing is grown.
    """

    values: NDArray[Any]
    labels: Labels
    goal: Goal
    slots: int
    deadline: float
    centres: Floats
    scales: Floats

    @classmethod
    def of(cls, values: NDArray[Any], labels: Labels, goal: Goal, slots: int, deadline: float) -> Ground:
        there, shares = values[:, labels.weights > 0], labels.weights[labels.weights > 0] / labels.total
        centres = there @ shares
        scales = np.sqrt([float(shares @ (row - centre) ** 2) for row, centre in zip(there, centres, strict=True)])
        varies = (there != there[:, :1]).any(axis=1)
        centres, scales = np.where(varies, centres, there[:, 0]), np.where(varies, scales, 1.0)
        return cls(values, labels, goal, slots, deadline, centres, scales)

    @property
    def late(self) -> bool:
        return time.monotonic() >= self.deadline

    def standardised(self, samples: Ints) -> Floats:
        """The rows for some samples, and one of -1."""
        rows = (self.values[:, samples] - self.centres[:, None]) / self.scales[:, None]
        return np.vstack([rows, np.full((1, samples.size), -1.0)])

    def neighbours(self, tree: Tree, node: int, anew: bool, rng: np.random.Generator) -> Iterator[Tree]:
        """Trees that differ from this one at a node, or `anew` in all below it, without the splits that do not pay."""
        if tree.is_split[node]:
            for child in (tree.left[node], tree.right[node]):
                yield self.settled(replaced(tree, node, int(child)))
            yield self.settled(self._resplit(tree, node, rng) or tree)
        for balanced in (False, True) if anew or not tree.is_split[node] else ():
            yield self.regrown(tree, node, balanced, 1.0, rng)

    def settled(self, tree: Tree) -> Tree:
        """Counted anew, without the splits that cost more than they bring or leave too small a leaf."""
        tree = tree.filled(self.values, self.labels)
        bulk, costs, keep = tree.sums.sum(axis=1), tree.mistakes, tree.is_split
        for node in np.flatnonzero(keep)[::-1]:
            left, right = tree.left[node], tree.right[node]
            cost = self.goal.complexity * self.labels.total + costs[left] + costs[right]
            pays = cost < costs[node] - LEAST_FALL * self.labels.total
            keep[node] = pays and min(bulk[left], bulk[right]) >= self.goal.min_bucket
            costs[node] = cost if keep[node] else costs[node]
        return tree.pruned(keep)

    def _resplit(self, tree: Tree, node: int, rng: np.random.Generator) -> Tree | None:
        """Another hyperplane between the children as they are."""
        here = passing(tree, node, self.values, self.labels)
        rises = rise(tree, node, self.values[:, here], self.labels.take(here))
        starts = [self._hyperplane(tree, node)]
        return self._with_split(tree, node, here, rises, starts, rng)

    def regrown(self, tree: Tree, node: int, balanced: bool, share: float, rng: np.random.Generator) -> Tree:
        """The tree with all below a node grown anew, as deep as it pays; each split sees a `share` of the rows."""
        tree = cut(tree, node)
        room, growing = self.goal.depth - tree.depths[node], [(node, 0)]
        for at, level in growing:
            impure = tree.mistakes[at] > LEAST_FALL * self.labels.total
            if level < room and impure and not self.late:
                tree = self._glimpsed(share, rng)._grown(tree, at, balanced, rng)
                growing += [(int(child), level + 1) for child in (tree.left[at], tree.right[at]) if child != LEAF]
        return self.settled(tree)

    def _glimpsed(self, share: float, rng: np.random.Generator) -> Ground:
        """The same with some of the rows only: the others are 0 once they are standardised."""
        seen = rng.random(self.scales.size) < share
        return replace(self, scales=np.where(seen, self.scales, np.inf))

    def _grown(self, tree: Tree, node: int, balanced: bool, rng: np.random.Generator) -> Tree:
        """A leaf split between its two heaviest classes, which weigh the same if `balanced`."""
        here = passing(tree, node, self.values, self.labels)
        right, left = np.argsort(tree.sums[node], kind="stable")[-2:]
        own = self.labels.take(here)
        rises = own.weights * ((own.classes == right).astype(np.float64) - (own.classes == left))
        if balanced:
            rises *= tree.sums[node].sum() / tree.sums[node][own.classes]
        grown = self._with_split(opened(tree, node), node, here, rises, [], rng)
        return grown.filled(self.values, self.labels) if grown else tree

    def _with_split(
        self, tree: Tree, node: int, here: Ints, rises: Floats, starts: list[Hyperplane], rng: np.random.Generator
    ) -> Tree | None:
        """The tree with the best hyperplane that the descent finds at a node, if it finds one."""
        bulk = self.labels.weights[here]
        least = max(self.goal.min_bucket * (1 - LEAST_FALL), float(bulk.min()) / 2)
        task = Sides(self.standardised(here), rises, bulk, least, float(bulk.sum()))
        starts = starts + drawn_starts(task, self.slots, _RANDOM_STARTS, rng)
        rows, weights, cost = best_hyperplane(task, np.array([r for r, _ in starts]), np.array([w for _, w in starts]))
        goes_left = weights[rows >= 0] @ task.columns[rows[rows >= 0]] <= 0
        if not np.isfinite(cost) or goes_left.all() or not goes_left.any():
            return None
        return self.placed(tree, node, here, goes_left, (rows[:-1], weights[:-1]))

    def placed(self, tree: Tree, node: int, here: Ints, goes_left: NDArray[np.bool_], found: Hyperplane) -> Tree | None:
        """The tree with a split that parts its samples thus, if rounding allows it."""
        there = (found[0] >= 0) & (found[1] != 0)
        rows, weights = found[0][there], found[1][there]
        order = np.argsort(rows)
        rows, weights = rows[order], weights[order] / self.scales[rows[order]]
        # The first weight is 1, so that a split on one feature reads as one.
        flipped, weights = bool(weights[0] < 0), weights / weights[0]
        new = replace(
            tree, features=tree.features.copy(), weights=tree.weights.copy(), thresholds=tree.thresholds.copy()
        )
        new.features[node], new.weights[node] = LEAF, 0.0
        new.features[node, : rows.size], new.weights[node, : rows.size] = rows, weights
        new = mirrored(new, node) if flipped else new
        sums = new.projected(self.values, node, here)
        low, high = sums[goes_left ^ flipped].max(), sums[goes_left == flipped].min()
        new.thresholds[node] = between(low, high)
        return new if low < high else None

    def _hyperplane(self, tree: Tree, node: int) -> Hyperplane:
        """The split of a node on the standardised rows."""
        there = tree.features[node] != LEAF
        rows, weights = np.append(tree.features[node], len(self.scales)), np.append(tree.weights[node], 0.0)
        weights[:-1][there] *= self.scales[rows[:-1][there]]
        offset = tree.weights[node][there] @ self.centres[rows[:-1][there]]
        weights[-1] = tree.thresholds[node] - offset
        return rows, weights / np.abs(weights[:-1]).max()
