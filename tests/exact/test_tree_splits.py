from __future__ import annotations

import numpy as np

from backbone_dask.exact.trees.splits import Splits
from backbone_dask.testing.tree_cases import labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.labels import Labels
from backbone_dask.trees.table import TreeTable


def splits_of(values: object, labels: Labels, min_bucket: float = 1.0) -> Splits:
    return Splits.of(TreeTable.of(np.array(values, np.float64), 8), labels, Goal(2, min_bucket, 0.01))


def test_rows_that_part_the_samples_alike_come_once() -> None:
    row = np.array([1.0, 2, 3, 4])
    splits = splits_of([row, -row, row**3, [5, 5, 5, 5], [1, 0, 0, 1]], labels_of([0, 1, 0, 1]))
    assert splits.rows.tolist() == [0, 0, 0, 4]
    assert splits.cuts.tolist() == [0, 1, 2, 0]
    assert splits.right.astype(int).tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1]]


def test_only_splits_with_full_buckets_on_both_sides() -> None:
    labels = labels_of([0, 1, 0, 1, 1]).weighted(np.array([1.0, 1, 2, 1, 1]))
    assert splits_of([[1, 2, 3, 4, 5]], labels, 2.0).cuts.tolist() == [1, 2]
    assert splits_of([[1, 2, 3, 4, 5]], labels, 3.0).cuts.tolist() == []


def test_samples_without_weight_are_on_no_side() -> None:
    labels = labels_of([0, 1, 0, 1]).weighted(np.array([0.0, 1, 1, 0]))
    splits = splits_of([[1, 2, 3, 4]], labels, 0.0)
    assert splits.present.tolist() == [1, 2]
    assert splits.cuts.tolist() == [1]
    assert splits.right.tolist() == [[False, True]]
