"""Recovery as the paper defines it, by hand."""

from __future__ import annotations

import numpy as np

from backbone_dask.report.metrics import recovery, tree_recovery


def test_recovery_by_hand():
    found = recovery(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 4, 8]), np.array([2, 4, 8, 9]))
    assert found == {
        "accuracy": 0.5,
        "false_alarm": 0.5,
        "backbone_accuracy": 0.75,
        "n_relevant": 4,
        "n_found": 2,
    }


def test_an_empty_support_raises_no_alarm():
    found = recovery(np.empty(0, np.int64), np.empty(0, np.int64), np.array([1]))
    assert (found["accuracy"], found["false_alarm"], found["backbone_accuracy"]) == (0, 0, 0)


def test_tree_recovery_by_hand():
    assert tree_recovery(np.array([1, 2]), np.array([2, 3]), depth=4) == {"fraction_relevant": 0.5, "depth": 4}
