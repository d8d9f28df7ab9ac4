"""A tree shows which columns it lacks: those that would improve it at one of its nodes join the backbone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from backbone_dask.exact.trees.pricing import Prices, Visits, best_prices, visits
from backbone_dask.problems.tree import FitTree
from backbone_dask.problems.tree_choice import solved, values_of
from backbone_dask.runtime.meter import Resident
from backbone_dask.runtime.run import Reduction
from backbone_dask.store import FeatureStore
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Answer, CandidateIds, LevelRecord

PRICED_PER_SCORE = 2


@dataclass(frozen=True, slots=True)
class ExtendByPrice:
    """Rounds of: the tree of the backbone, the prices of all survivors at its nodes, a backbone with the best of them.

    A backbone of more than `backbone_max` features loses those that neither the tree uses nor the prices name, the last
    first. It ends early when the prices name nothing new. Survivors that are no more than that are all taken at once.
    """

    store: FeatureStore
    fit: FitTree
    rounds: int
    backbone_max: int
    seconds: float

    def __call__(self, work: Reduction, last: LevelRecord) -> Iterator[LevelRecord]:
        everything = work.held.candidates
        if everything.size <= self.backbone_max:
            if last.backbone.size < everything.size:
                yield LevelRecord(last.level + 1, everything.size, 0, 1.0, (), everything)
            return
        for _ in range(self.rounds):
            began = time.perf_counter()
            work = replace(work, backbone=last.backbone)
            tree, objective = self._tree(work)
            priced = self._priced(work, tree)
            backbone = self._joined(last.backbone, last.backbone[tree.used], priced)
            if np.isin(backbone, last.backbone).all():
                return
            answer = Answer(last.level + 1, 0, np.unique(priced), objective, time.perf_counter() - began)
            last = LevelRecord(last.level + 1, work.held.candidates.size, 1, 1.0, (answer,), backbone)
            yield last

    def _tree(self, work: Reduction) -> tuple[Tree, float]:
        (outcome,) = solved(work, self.store, [self.fit], self.seconds)
        return outcome.model, outcome.objective

    def _priced(self, work: Reduction, tree: Tree) -> CandidateIds:
        """Global ids in the order of rank at their node, the best of every node first."""
        seen = work.executor.submit(_seen, values_of(work, self.store), work.y, tree)
        parts = list(work.held.map(best_prices, seen, PRICED_PER_SCORE))
        starts = [start for start, _ in pairwise(work.held.bounds)]
        return ranked(parts, starts, work.held.candidates)

    def _joined(self, old: CandidateIds, used: CandidateIds, priced: CandidateIds) -> CandidateIds:
        order = np.concatenate([used, priced, old])
        first = np.sort(np.unique(order, return_index=True)[1])
        return np.sort(order[first][: max(self.backbone_max, used.size)])


def ranked(parts: Sequence[Prices], starts: Sequence[int], candidates: CandidateIds) -> CandidateIds:
    """The best of all parts for every score, as ids: first the best of each, then the second of each."""
    scores = np.concatenate([part.scores for part in parts], axis=1)
    places = np.concatenate([part.positions + start for part, start in zip(parts, starts, strict=True)], axis=1)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :PRICED_PER_SCORE]
    useful = np.take_along_axis(scores, best, axis=1) > 0
    ids = candidates[np.take_along_axis(places, best, axis=1)]
    return np.concatenate([column[keep] for column, keep in zip(ids.T, useful.T, strict=True)])


def _seen(values: Resident, y: Labels, tree: Tree) -> Visits:
    return visits(tree, values.here(), y)
