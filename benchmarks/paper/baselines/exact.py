"""SR on the entire feature set: the exact solver without a backbone, tuned as the reduced problem is."""

from __future__ import annotations

import time

import numpy as np

from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.subproblems.holdout import Split, SquaredLearner, draw_split, excerpt
from backbone_dask.subproblems.relaxation import fit_relaxation
from backbone_dask.values import Outcome, SparseFit, Standardised, Target
from benchmarks.paper.experiment import Case, Metrics
from benchmarks.paper.simulated import gammas, judged, training, warm_up

GAP_TOLERANCE = 1e-4


def exact_on_all(case: Case) -> Metrics:
    """Five ridge weights on a hold-out share the time limit; the chosen one has it again, on all samples."""
    warm_up()
    store = training(case)
    began = time.perf_counter()
    columns, y = store.gather(np.arange(case["p"])), store.target(None)
    X, centred = columns.standardised(), y - y.mean()
    found = _solved(X, centred, case["k"], _chosen_gamma(X, centred, case), case["limit"])
    ids = found.model.support
    coefficients = found.model.weights / columns.scale[ids]
    seconds = time.perf_counter() - began
    intercept = float(y.mean() - coefficients @ columns.mean[ids])
    return {**judged(case, ids, coefficients, intercept), "gap": found.gap, "seconds": seconds}


def _chosen_gamma(X: Standardised, y: Target, case: Case) -> float:
    split = draw_split(y.size, case["seed"])
    part, few = excerpt(X, split.training), y[split.training]
    tried = gammas(split.training.size, case["k"])
    errors = {}
    for gamma in tried:
        found = _solved(part.X, few, case["k"], gamma, case["limit"] / len(tried))
        errors[gamma] = _error(part.in_units_of_the_whole(found.model), X, y, split)
    # The same share of what the number of samples allows.
    return gammas(y.size, case["k"])[tried.index(min(errors, key=errors.__getitem__))]


def _error(fit: SparseFit, X: Standardised, y: Target, split: Split) -> float:
    return SquaredLearner().error(fit, X, y, split)


def _solved(X: Standardised, y: Target, k: int, gamma: float, seconds: float) -> Outcome[SparseFit]:
    """From the support of the boolean relaxation, as in the paper."""
    start = fit_relaxation(X, y, n_nonzero=k, gamma=gamma, seed=0).support
    limits = {"seconds": seconds, "gap_tolerance": GAP_TOLERANCE}
    return fit_branch_and_bound(X, y, n_nonzero=k, gamma=gamma, warm_start=start, **limits)
