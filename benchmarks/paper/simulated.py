"""The paper's simulated data, and what its methods share on them: settings from a case, metrics from a model."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.estimators.execution import chosen_executor
from backbone_dask.problems.fitting import Fitted, fit_sparse, prepare
from backbone_dask.settings import Settings
from backbone_dask.store import Recipe, VirtualStore
from backbone_dask.values import CandidateIds
from benchmarks.paper.experiment import Case, Metrics
from benchmarks.paper.metrics import TEST_SAMPLES, accuracy, auc, linear_predictor, r2, recovery

RHO, SNR = 0.9, 2.0
N_GAMMAS = 5
ALL_SOLVED = {"subproblem_size": "grid", "patience": None}
"""k_m of k/3, 2k/3 and k; no level ends early."""
RIDGE_BY_HOLDOUT = {"linear": None, "logistic": "grid"}
"""gamma_m: 1/sqrt(n_m), or chosen."""
TASKS = {"linear": "regression", "logistic": "classification"}


def training(case: Case) -> VirtualStore:
    return _store(case, case["n"], draw=0)


def test(case: Case) -> VirtualStore:
    """Another draw from the same truth."""
    return _store(case, TEST_SAMPLES, draw=1)


def _store(case: Case, n_samples: int, draw: int) -> VirtualStore:
    shape = {"n_samples": n_samples, "n_features": case["p"], "n_relevant": case["k"]}
    return VirtualStore(Recipe(kind=case["kind"], rho=RHO, snr=SNR, seed=case["seed"], draw=draw, **shape))


def gammas(n_samples: int, n_nonzero: int) -> list[float]:
    """The paper's five ridge weights, from p/(k n max |x_i|^2), which is about 1/(k n) here, to 1/sqrt(n)."""
    return [float(gamma) for gamma in np.geomspace(1 / (n_nonzero * n_samples), n_samples**-0.5, N_GAMMAS)]


def settings(case: Case, **changes: Any) -> Settings:
    """The paper's: all M subproblems are solved, with k_m of k/3, 2k/3 and k, and gamma_m = 1/sqrt(n_m)."""
    asked = {
        "n_nonzero": case["k"],
        "gamma": gammas(case["n"], case["k"]),
        "screen_size": case["screen"],
        "subproblem_fraction": case["beta"],
        "n_subproblems": case["M"],
        "subproblem_gamma": RIDGE_BY_HOLDOUT[case["kind"]],
        "backbone_max": case["B_max"],
        **ALL_SOLVED,
        "time_limit": case["limit"],
        "seed": case["seed"],
    }
    return Settings(**{**asked, **changes})


def fit(case: Case, asked: Settings) -> tuple[Fitted, float]:
    """The fit of the training draw on whatever executor there is, and its seconds, in which columns are made too."""
    warm_up()
    store = training(case)
    began = time.perf_counter()
    ready = prepare(store, store.target(None), asked, task=TASKS[case["kind"]])
    return fit_sparse(ready, chosen_executor("auto")), time.perf_counter() - began


def backbone(case: Case) -> Metrics:
    """The backbone method as the paper sets it up; for classes the ridge weight of subproblems is chosen too."""
    found, seconds = fit(case, settings(case))
    relevant = training(case).truth.ids
    model, finding = found.model, found.finding
    return {
        **judged(case, model.ids, model.coefficients, model.intercept),
        "in screen": accuracy(finding.screening.candidates, relevant),
        "in backbone": accuracy(finding.backbone, relevant),
        "backbone size": finding.backbone.size,
        "gap": finding.outcome.gap,
        "gamma sqrt(n)": found.gamma * case["n"] ** 0.5,
        "seconds": seconds,
        **{f"{phase} seconds": taken for phase, taken in finding.seconds.items()},
    }


def judged(case: Case, ids: CandidateIds, coefficients: NDArray[np.float64], intercept: float) -> dict[str, float]:
    """Recovery of the truth, and R2 or AUC on a test draw."""
    other = test(case)
    predicted = linear_predictor(other, ids, coefficients, intercept)
    quality = {"R2": r2} if case["kind"] == "linear" else {"AUC": auc}
    scores = {name: score(other.target(None), predicted) for name, score in quality.items()}
    return {**recovery(ids, other.truth.ids), **scores}


@cache
def warm_up() -> None:
    """Load the compiled kernels once a process, before anything is timed."""
    for kind, task in TASKS.items():
        store = VirtualStore(Recipe(kind=kind, n_samples=100, n_features=60, n_relevant=2, snr=5.0))
        asked = Settings(n_nonzero=2, subproblem_size="grid", backbone_max=10, time_limit=1.0)
        fit_sparse(prepare(store, store.target(None), asked, task=task), chosen_executor("serial"))
