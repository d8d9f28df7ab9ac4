"""Every phase is announced before its first unit is done: what comes first may compile for a while."""

from __future__ import annotations

import numpy as np

from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.problems.tree_fitting import fit_tree, prepare_tree
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore
from backbone_dask.tree_settings import TreeSettings

RNG = np.random.default_rng(8)
X = RNG.normal(size=(80, 60)).astype(np.float32)


def begun(events):
    """What the first event of every phase says to be done."""
    return {event.phase: event.done for event in reversed(events)}


def test_the_phases_of_a_tree():
    events = []
    settings = TreeSettings(depth=1, min_bucket=5, complexity=0.01, backbone_max=5, n_starts=1, n_subproblems=2)
    ready = prepare_tree(MemoryStore(X), (X[:, 3] > 0).astype(float), settings)
    fit_tree(ready, SerialExecutor(), listen=events.append)
    assert begun(events) == dict.fromkeys(["screen", "compact", "levels", "extend", "reduced", "search"], 0)


def test_the_phases_of_a_choice():
    events = []
    ready = prepare(MemoryStore(X), X[:, 3] + RNG.normal(size=80), Settings([1, 2], n_subproblems=2))
    fit_sparse(ready, SerialExecutor(), listen=events.append)
    assert begun(events) == dict.fromkeys(["screen", "compact", "levels", "reduced", "choice"], 0)
