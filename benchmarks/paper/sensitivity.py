"""F8: what the backbone holds: by the number of subproblems, how they are drawn and solved, alpha, beta and B_max."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from backbone_dask import screen
from backbone_dask.algorithm.hierarchy import union
from backbone_dask.algorithm.sampling import Sampler
from backbone_dask.problems.fitting import Fitted
from backbone_dask.store import VirtualStore
from backbone_dask.values import CandidateIds, Screening
from benchmarks.paper.baselines.sis_enet import fit_net
from benchmarks.paper.experiment import Case, Experiment, Metrics, Size, constants
from benchmarks.paper.metrics import accuracy, recovery
from benchmarks.paper.simulated import fit, settings, training

BASES: dict[Size, dict[str, Any]] = {
    "small": {"n": 1_000, "p": 100_000, "k": 10, "screen": 2_000, "beta": 0.2, "M": 10, "B_max": 200, "limit": 10.0},
    "paper": {"n": 5_000, "p": 10**6, "k": 50, "screen": 10**4, "beta": 0.2, "M": 10, "B_max": 1_000, "limit": 300.0},
}
SEEDS: dict[Size, tuple[int, ...]] = {"small": (1, 2, 3), "paper": tuple(range(1, 11))}
NARROWER = {100_000: 20_000, 10**6: 10**5}
"""Columns where alpha is varied: with all of them surviving, they must fit into memory."""
MOST_SUBPROBLEMS = 30
BETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
UNHURRIED = 1.0
"""Seconds for the exact fit where only the backbone is looked at."""
SAMPLINGS = {"random_sample": "uniform", "screening_sample": "exponential"}
BUILDING = ("screen", "compact", "levels")


def cases(part: str, varied: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> Callable[[Size], list[Case]]:
    """All variants of the base for every seed."""

    def of(size: Size) -> list[Case]:
        base = {"method": "backbone", "part": part, "kind": "linear", **BASES[size]}
        return [{**base, **change, "seed": seed} for change in varied(base) for seed in SEEDS[size]]

    return of


def one_gamma(case: Case, **changes: Any) -> tuple[Fitted, float]:
    return fit(case, settings(case, gamma=None, **changes))


def after_each(parts: Sequence[CandidateIds], relevant: CandidateIds, single: str, total: str) -> Metrics:
    """Recovery in each part, and in all parts so far."""
    metrics: dict[str, float] = {}
    for m, part in enumerate(parts, start=1):
        metrics[f"{single}@{m}"] = accuracy(part, relevant)
        metrics[f"{total}@{m}"] = accuracy(union(parts[:m]), relevant)
    return metrics


def by_subproblem(case: Case) -> Metrics:
    found, _ = one_gamma(case, time_limit=UNHURRIED)
    parts = [answer.relevant for answer in found.finding.levels[0].answers]
    return after_each(parts, training(case).truth.ids, "selected", "selected in total")


def by_construction(case: Case) -> Metrics:
    """What subproblems examine; nothing is solved."""
    store = training(case)
    parts = list(_drawn(case, _screened(store, case), SAMPLINGS[case["construct"]]))
    return after_each(parts, store.truth.ids, "sampled", "sampled in total")


def by_solver(case: Case) -> Metrics:
    """Recovery and size of the union of what subproblems found, before the hierarchy makes it smaller."""
    relevant = training(case).truth.ids
    parts = [*(_lasso_parts(case) if case["solve"] == "lasso" else _relaxation_parts(case))]
    unions = {m: union(parts[:m]) for m in range(1, len(parts) + 1)}
    return {
        **{f"in backbone@{m}": accuracy(ids, relevant) for m, ids in unions.items()},
        **{f"backbone size@{m}": ids.size for m, ids in unions.items()},
    }


def by_alpha(case: Case) -> Metrics:
    """Up to B_max survivors are the backbone themselves, as in the paper; the time is that of screen and backbone."""
    store = training(case)
    if case["screen"] <= case["B_max"]:
        began = time.perf_counter()
        kept = _screened(store, case).candidates
        return _backbone_metrics(kept, store.truth.ids, time.perf_counter() - began)
    found, _ = one_gamma(case, time_limit=UNHURRIED)
    seconds = sum(found.finding.seconds[phase] for phase in BUILDING)
    return _backbone_metrics(found.finding.backbone, store.truth.ids, seconds)


def whole_fit(case: Case) -> Metrics:
    """For beta and B_max: the time includes the exact fit."""
    found, seconds = one_gamma(case)
    metrics = _backbone_metrics(found.finding.backbone, training(case).truth.ids, seconds)
    return {**metrics, "gap": found.finding.outcome.gap}


def _backbone_metrics(ids: CandidateIds, relevant: CandidateIds, seconds: float) -> dict[str, float]:
    found = recovery(ids, relevant)
    return {
        "in backbone": found["accuracy"],
        "false alarms in backbone": found["false alarms"],
        "backbone size": ids.size,
        "seconds": seconds,
    }


def _screened(store: VirtualStore, case: Case) -> Screening:
    (found,) = screen(store, keep=case["screen"]).values()
    return found


def _drawn(case: Case, screening: Screening, sampling: str) -> Iterator[CandidateIds]:
    draw = Sampler(sampling, case["beta"], least=1, seed=case["seed"])
    return (each.candidates for each in draw(screening, level=0, count=case["M"]))


def _relaxation_parts(case: Case) -> Iterator[CandidateIds]:
    found, _ = one_gamma(case, time_limit=UNHURRIED)
    return (answer.relevant for answer in found.finding.levels[0].answers)


def _lasso_parts(case: Case) -> Iterator[CandidateIds]:
    """The same subproblems, each with a lasso whose penalty is chosen on a hold-out."""
    store = training(case)
    screening = _screened(store, case)
    values = store.gather(screening.candidates).values
    for ids in _drawn(case, screening, "exponential"):
        X = values[np.searchsorted(screening.candidates, ids)].astype(np.float64).T
        net = fit_net(X, store.target(None), "linear", seed=case["seed"], mixes=(1.0,))
        yield ids[net.support]


def alphas(base: dict[str, Any]) -> list[dict[str, Any]]:
    """alpha p of k, 2k, ..., 1,000k and p, on fewer columns, with B_max = 2k and the paper's M for each."""
    k, p = base["k"], NARROWER[base["p"]]
    kept = [k, 2 * k, 10 * k, 100 * k, 1_000 * k, p]
    return [{"p": p, "screen": each, "B_max": 2 * k, "M": _theorem(each, k, base["beta"])} for each in kept]


def _theorem(survivors: int, k: int, beta: float) -> int:
    return math.ceil(5 + math.log(survivors * k) / (5 * math.log(1 / (1 - beta))))


def _sizes(base: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"B_max": round(base["k"] * times)} for times in (1, 2, 5, 10, 20, 30)]


def _each(key: str, values: Sequence[Any]) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    return lambda base: [{key: value} for value in values]


def _more(key: str, values: Sequence[Any]) -> Callable[[dict[str, Any]], list[dict[str, Any]]]:
    """Watched over 30 subproblems."""
    return lambda base: [{key: value, "M": MOST_SUBPROBLEMS} for value in values]


BACKBONE = ("in backbone", "false alarms in backbone", "backbone size", "seconds")


def _experiment(id: str, title: str, cases: Any, run: Any, **shown: Any) -> Experiment:
    return Experiment(id, title, cases, run, settings=lambda case: constants(run), **shown)


EXPERIMENTS: dict[str, Experiment] = {
    each.id: each
    for each in (
        _experiment(
            "F8-M",
            "recovery after each subproblem",
            cases("M", _each("M", [MOST_SUBPROBLEMS])),
            by_subproblem,
            by=("method", "m"),
            metrics=("selected", "selected in total"),
            x="m",
        ),
        _experiment(
            "F8-construct",
            "relevant features that subproblems examine",
            cases("construct", _more("construct", list(SAMPLINGS))),
            by_construction,
            by=("construct", "m"),
            metrics=("sampled", "sampled in total"),
            x="m",
        ),
        _experiment(
            "F8-solve",
            "how subproblems are solved",
            cases("solve", _each("solve", ["SR-REL", "lasso"])),
            by_solver,
            by=("solve", "m"),
            metrics=("in backbone", "backbone size"),
            x="m",
        ),
        _experiment(
            "F8-alpha",
            "features that survive the screen",
            cases("alpha", alphas),
            by_alpha,
            by=("method", "screen"),
            metrics=BACKBONE,
            x="screen",
        ),
        _experiment(
            "F8-beta",
            "share of the features in a subproblem",
            cases("beta", _each("beta", BETAS)),
            whole_fit,
            by=("method", "beta"),
            metrics=(*BACKBONE, "gap"),
            x="beta",
        ),
        _experiment(
            "F8-B_max",
            "largest backbone",
            cases("B_max", _sizes),
            whole_fit,
            by=("method", "B_max"),
            metrics=(*BACKBONE, "gap"),
            x="B_max",
        ),
    )
}
