"""Forward selection as a second start of SR-REL, against the textbook's."""

from __future__ import annotations

import numpy as np
import pytest
from relaxation_cases import fit, literal_objective, planted

from backbone_dask.subproblems.forward import PASSES, grow
from backbone_dask.subproblems.polish import polish
from backbone_dask.subproblems.task import normalised


def textbook(X: np.ndarray, y: np.ndarray, k: int, gamma: float) -> list[int]:
    """One feature at a time, each by fitting every model with one feature more."""
    chosen: list[int] = []
    G, b = X.astype(float) @ X.astype(float).T, X.astype(float) @ y
    for _ in range(k):
        others = [j for j in range(len(X)) if j not in chosen]
        explained = []
        for j in others:
            s = [*chosen, j]
            explained.append(b[s] @ np.linalg.solve(G[np.ix_(s, s)] + np.eye(len(s)) / gamma, b[s]))
        chosen.append(others[int(np.argmax(explained))])
    return sorted(chosen)


@pytest.mark.parametrize("seed", range(10))
def test_few_features_are_those_of_the_textbook(seed: int) -> None:
    X, y, _ = planted(seed, n=80, p=50, k=6, rho=0.9, snr=2.0)
    gamma = 10.0 ** (seed % 4 - 2)
    assert grow(normalised(X, y, 8, gamma).task).columns.tolist() == textbook(X, y, 8, gamma)


def test_many_features_come_in_few_passes() -> None:
    X, y, truth = planted(1, n=2_000, p=400, k=3 * PASSES, rho=0.0, snr=20.0)
    found = grow(normalised(X, y, 3 * PASSES, None).task)
    assert found.columns.tolist() == truth.tolist()


@pytest.mark.parametrize("seed", [28, 75, 96, 100, 227, 247])
def test_the_answer_is_not_worse_than_forward_selection(seed: int) -> None:
    """Instances on which the descent from the relaxation alone ends up to a few percent above it."""
    rng = np.random.default_rng([31, seed])
    n, p, k = int(rng.integers(100, 200)), int(rng.integers(200, 500)), int(rng.integers(10, 16))
    X, y, _ = planted(seed, n=n, p=p, k=k, rho=0.9, snr=1.0)
    gamma = 10 / np.sqrt(n)
    forward = np.array(textbook(X, y, k, gamma))
    assert fit(X, y, k, gamma).objective <= literal_objective(X, y, forward, gamma) * (1 + 1e-6)


def test_a_support_that_no_column_improves_ends_it() -> None:
    X = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [0, 0, 0, 0]], np.float32)
    assert grow(normalised(X, X[0] * 3.0, 3, None).task).columns.tolist() == [0]


def test_the_best_of_several_starts_is_kept() -> None:
    X, y, truth = planted(3, n=60, p=40, k=5, rho=0.9, snr=1.0)
    task = normalised(X, y, 5, 1.0).task
    starts = [grow(task), task.choose(task.pool(truth), np.arange(5)), task.nothing()]
    alone = [polish(task, start).explained for start in starts]
    assert polish(task, *starts).explained == pytest.approx(max(alone), rel=1e-9)
