"""The settings of every figure and table, written out once more from the paper: a changed number does not pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backbone_dask.subproblems.relaxation import fit_relaxation
from benchmarks.paper import real, real_regression, real_trees, sensitivity, simulated, trees
from benchmarks.paper.catalogue import IDS, experiments
from benchmarks.paper.experiment import Case
from benchmarks.paper.permuted import Expanded

TEN, THREE = list(range(1, 11)), [1, 2, 3]
LINEAR_SMALL = {"kind": "linear", "k": 10, "beta": 0.5, "B_max": 50, "limit": 10.0, "seed": THREE}
LINEAR_PAPER = {"kind": "linear", "k": 50, "beta": 0.5, "B_max": 250, "limit": 300.0, "seed": TEN}
F8_SMALL = {
    "kind": "linear",
    **{"n": 1000, "p": 100_000, "k": 10, "screen": 2000, "beta": 0.2, "M": 10, "B_max": 200, "limit": 10.0},
    "seed": THREE,
}
F8_PAPER = {
    "kind": "linear",
    **{"n": 5000, "p": 10**6, "k": 50, "screen": 10**4, "beta": 0.2, "M": 10, "B_max": 1000, "limit": 300.0},
    "seed": TEN,
}
BETAS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
# F1 to F6: of the backbone; the rivals have the same data.
CASES: dict[tuple[str, str], dict[str, Any]] = {
    ("F1", "small"): {**LINEAR_SMALL, "n": 1000, "p": [10**4, 3 * 10**4, 10**5, 3 * 10**5], "screen": 4000, "M": 10},
    ("F1", "paper"): {
        **LINEAR_PAPER,
        **{"n": 5000, "p": [10**6, 3 * 10**6, 10**7, 3 * 10**7, 10**8, 3 * 10**8], "screen": 20_000, "M": 10},
    },
    ("F3", "small"): {**LINEAR_SMALL, "n": [200, 600, 1000, 1400, 1800], "p": 10**5, "screen": 2000, "M": 15},
    ("F3", "paper"): {**LINEAR_PAPER, "n": [1000, 3000, 5000, 7000, 9000], "p": 10**6, "screen": 10**4, "M": 15},
    ("F4", "small"): {
        **{**LINEAR_SMALL, "kind": "logistic", "limit": 10.0},
        **{"n": [600, 1000, 1400, 1800, 2200], "p": 10**5, "screen": 2000, "M": 15},
    },
    ("F4", "paper"): {
        **{**LINEAR_PAPER, "kind": "logistic", "limit": 900.0},
        **{"n": [3000, 5000, 7000, 9000, 11_000], "p": 10**6, "screen": 10**4, "M": 15},
    },
    ("F6", "small"): {
        **{**LINEAR_SMALL, "beta": 0.4},
        **{"n": [100, 200, 300, 400, 500], "p": 2000, "screen": 500, "M": 10},
    },
    ("F6", "paper"): {
        **{**LINEAR_PAPER, "beta": 0.4},
        **{"n": [1000, 2000, 3000, 4000, 5000], "p": 20_000, "screen": 5000, "M": 10},
    },
    ("F8-M", "small"): {**F8_SMALL, "M": 30},
    ("F8-M", "paper"): {**F8_PAPER, "M": 30},
    ("F8-construct", "small"): {**F8_SMALL, "M": 30, "construct": ["random_sample", "screening_sample"]},
    ("F8-construct", "paper"): {**F8_PAPER, "M": 30, "construct": ["random_sample", "screening_sample"]},
    ("F8-solve", "small"): {**F8_SMALL, "solve": ["SR-REL", "lasso"]},
    ("F8-solve", "paper"): {**F8_PAPER, "solve": ["SR-REL", "lasso"]},
    ("F8-alpha", "small"): {
        **{**F8_SMALL, "p": 20_000, "B_max": 20},
        **{"screen": [10, 20, 100, 1000, 10_000, 20_000], "M": [10, 12, 14, 16]},
    },
    ("F8-alpha", "paper"): {
        **{**F8_PAPER, "p": 100_000, "B_max": 100},
        **{"screen": [50, 100, 500, 5000, 50_000, 100_000], "M": [13, 15, 17, 19]},
    },
    ("F8-beta", "small"): {**F8_SMALL, "beta": BETAS},
    ("F8-beta", "paper"): {**F8_PAPER, "beta": BETAS},
    ("F8-B_max", "small"): {**F8_SMALL, "B_max": [10, 20, 50, 100, 200, 300]},
    ("F8-B_max", "paper"): {**F8_PAPER, "B_max": [50, 100, 250, 500, 1000, 1500]},
    ("F2", "small"): {"n": 5000, "p": [5000, 10_000], "seed": [1, 2]},
    ("F2", "paper"): {"n": 5000, "p": [20_000, 40_000, 60_000, 80_000, 100_000], "seed": TEN},
    ("F5", "small"): {"n": [3000, 5000], "p": 5000, "seed": [1, 2]},
    ("F5", "paper"): {"n": [3000, 5000, 7000], "p": 100_000, "seed": TEN},
    ("F7", "small"): {"n": [250, 500], "p": 2000, "seed": [1, 2, 3, 4]},
    ("F7", "paper"): {"n": [250, 500, 1000, 1500, 2000], "p": 2000, "seed": TEN},
    ("T1", "small"): {"table": "communities", "split": [0, 1], "seed": [0, 1], "copies": 100},
    ("T1", "paper"): {"table": "communities", "split": [0, 1, 2, 3, 4], "seed": [0, 1, 2, 3, 4], "copies": 1000},
    ("T2", "small"): {"table": "housing", "split": [0, 1], "seed": [0, 1], "copies": 100},
    ("T2", "paper"): {"table": "housing", "split": [0, 1, 2, 3, 4], "seed": [0, 1, 2, 3, 4], "copies": 1000},
    ("T3", "small"): {"table": "breast cancer", "split": [0, 1], "seed": [0, 1], "copies": 100},
    ("T3", "paper"): {"table": "breast cancer", "split": [0, 1, 2, 3, 4], "seed": [0, 1, 2, 3, 4], "copies": 1000},
    ("T4", "small"): {"table": "ionosphere", "split": [0, 1], "seed": [0, 1], "copies": 100},
    ("T4", "paper"): {"table": "ionosphere", "split": [0, 1, 2, 3, 4], "seed": [0, 1, 2, 3, 4], "copies": 1000},
}
OWN = {"F2": "BB", "F5": "BB", "F7": "BB", "T1": "BB", "T2": "BB", "T3": "BB", "T4": "BB"}
METHODS = {
    **{id: {"backbone", "SIS-ENET", "SIS-ENET apart"} for id in ("F1", "F3", "F4")},
    "F6": {"backbone", "SR"},
    **{id: {"backbone"} for id, _ in CASES if id.startswith("F8")},
    **{id: {"BB", "BB as published", rival} for id, rival in (("F2", "CART"), ("F5", "CART"), ("F7", "OCT"))},
    **{id: {"BB", "BB as published", "SR-ORACLE", "SIS-ENET", "RFE", "DECO", "chance + ENET"} for id in ("T1", "T2")},
    **{
        id: {"BB", "BB as published", "OCT-ORACLE", "CART", "RF", "RFE", "chance + CART"}
        | {"BB, five folds", "OCT-ORACLE, five folds"}
        for id in ("T3", "T4")
    },
}
TREES = {
    "F2": {
        "asked": {"screen": "none", "subproblem_fraction": 0.1, "n_subproblems": 50, "subproblem_depth": (2, 3)},
        "depth": (3, 4, 5, 6, 7),
        "truth": {"depth": 5, "n_relevant": 31, "rho": 0.9},
    },
    "F5": {
        "asked": {"screen": "none", "subproblem_fraction": 0.5, "n_subproblems": 10, "subproblem_depth": (2,)},
        "depth": (3, 4, 5),
        "truth": {"depth": 3, "n_relevant": 7, "rho": 0.6},
    },
    "F7": {
        "asked": {"screen": "logistic", "screen_size": 1000, "subproblem_fraction": 0.5, "n_subproblems": 10}
        | {"subproblem_depth": (2, 3), "n_starts": 1},
        "depth": (3, 5, 7),
        "truth": {"depth": 5, "n_relevant": 31, "rho": 0.9},
    },
}


class ToldError(Exception):
    """What a method would have asked an estimator for."""


def telling(*positional: Any, **asked: Any) -> None:
    raise ToldError(positional, asked)


def told(call: Callable[..., Any], *given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    with pytest.raises(ToldError) as found:
        call(*given)
    positional, asked = found.value.args
    return positional, asked


def values(cases: list[Case]) -> dict[str, Any]:
    """What each key is in these cases; in order where it is more than one thing."""
    found = {key: sorted({case[key] for case in cases}) for key in cases[0]}
    return {key: several[0] if len(several) == 1 else several for key, several in found.items()}


def test_every_experiment_is_in_the_tables_of_this_file() -> None:
    assert {each.id for each in experiments(["all"])} == {id for id, _ in CASES}
    assert {id.split("-")[0] for id, _ in CASES} == set(IDS)


@pytest.mark.parametrize(("id", "size"), CASES, ids=[f"{id}-{size}" for id, size in CASES])
def test_the_cases_are_those_of_the_paper(id: str, size: str) -> None:
    (experiment,) = experiments([id])
    cases = experiment.cases(size)
    assert {case["method"] for case in cases} == METHODS[id]
    own = values([case for case in cases if case["method"] == OWN.get(id, "backbone")])
    assert {key: own[key] for key in own if key not in ("method", "part", "figure")} == CASES[id, size]
    assert own.get("figure", id) == id


@pytest.mark.parametrize(("id", "size"), [key for key in CASES if key[0] in ("F1", "F3", "F4", "F6", "F2", "F5", "F7")])
def test_rivals_have_the_same_data_and_what_they_are_told_is_the_same(id: str, size: str) -> None:
    (experiment,) = experiments([id])
    cases = experiment.cases(size)
    for method in METHODS[id]:
        own = values([case for case in cases if case["method"] == method])
        assert {key: own[key] for key in own if key in CASES[id, size]}.items() <= CASES[id, size].items()
        assert {"n", "p", "seed"} <= own.keys()


@pytest.mark.parametrize(
    ("size", "pairs"),
    [
        ("small", [(10, 10), (20, 10), (100, 12), (1000, 14), (10_000, 16), (20_000, 16)]),
        ("paper", [(50, 13), (100, 13), (500, 15), (5000, 17), (50_000, 19), (100_000, 19)]),
    ],
)
def test_alpha_goes_with_the_number_of_subproblems_of_the_theorem(size: str, pairs: list[tuple[int, int]]) -> None:
    (experiment,) = experiments(["F8-alpha"])
    assert sorted({(case["screen"], case["M"]) for case in experiment.cases(size)}) == pairs


@pytest.mark.parametrize(
    ("id", "gamma"), [("F1", None), ("F3", None), ("F4", "grid"), ("F6", None)], ids=["F1", "F3", "F4", "F6"]
)
def test_a_backbone_is_asked_for_what_its_case_says(id: str, gamma: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (experiment,) = experiments([id])
    case = next(each for each in experiment.cases("paper") if each["method"] == "backbone")
    monkeypatch.setattr(simulated, "fit", telling)
    (_, asked), _ = told(experiment.run, case)
    found = (asked.n_nonzero, asked.screen_size, asked.subproblem_fraction, asked.n_subproblems, asked.backbone_max)
    assert found == tuple(case[key] for key in ("k", "screen", "beta", "M", "B_max"))
    assert (asked.time_limit, asked.seed, asked.patience, asked.subproblem_size) == (case["limit"], 1, None, "grid")
    assert (asked.subproblem_gamma, len(asked.gamma)) == (gamma, 5)


@pytest.mark.parametrize("id", ["F8-M", "F8-solve", "F8-alpha", "F8-beta", "F8-B_max"])
def test_the_parts_of_f8_ask_for_what_their_case_says(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (experiment,) = experiments([id])
    monkeypatch.setattr(sensitivity, "fit", telling)
    case = next(each for each in experiment.cases("paper") if each["screen"] > each["B_max"])
    (_, asked), _ = told(experiment.run, case)
    found = (asked.n_nonzero, asked.screen_size, asked.subproblem_fraction, asked.n_subproblems, asked.backbone_max)
    assert found == tuple(case[key] for key in ("k", "screen", "beta", "M", "B_max"))
    assert (asked.seed, asked.gamma, asked.patience) == (1, None, None)
    assert asked.time_limit == (300.0 if id in ("F8-beta", "F8-B_max") else 1.0)


@pytest.mark.parametrize("id", TREES)
def test_trees_are_asked_for_what_the_paper_says(id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (experiment,) = experiments([id])
    case = next(each for each in experiment.cases("paper") if each["method"] == "BB")
    train = trees.drawn(case, 0)
    monkeypatch.setattr(trees, "BackboneTreeClassifier", telling)
    _, asked = told(trees.METHODS["BB"], train, case)
    own = {key: asked[key] for key in asked if key not in ("executor", "random_state")}
    assert own == {**TREES[id]["asked"], "depth": TREES[id]["depth"], "backbone_max": 250, "pricing_rounds": 3}
    _, published = told(trees.METHODS["BB as published"], train, {**case, "method": "BB as published"})
    assert published == {**asked, "pricing_rounds": 0}
    recipe = train.recipe
    assert {key: getattr(recipe, key) for key in ("depth", "n_relevant", "rho")} == TREES[id]["truth"]
    assert (recipe.n_samples, recipe.n_features, recipe.seed) == (case["n"], case["p"], case["seed"])


def test_rivals_of_trees_have_the_same_depths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "cart_on_store", telling)
    monkeypatch.setattr(trees, "optimal_tree", telling)
    small = {"n": 60, "p": 40, "seed": 3}
    for id, method in (("F2", "CART"), ("F5", "CART"), ("F7", "OCT")):
        case = {"figure": id, "method": method, **small}
        (_, *given), _ = told(trees.METHODS[method], trees.drawn(case, 0), case)
        depths = given[1].depth if method == "OCT" else given[0]
        assert depths == TREES[id]["depth"]
    assert (given[1].n_starts, given[1].screen, given[1].time_limit) == (1, "none", 1e6)


def blank(p: int) -> Expanded:
    X, y = np.zeros((20, p), np.float32), np.arange(20.0) % 2
    return Expanded(X, y, X, y, 5)


@pytest.mark.parametrize("table", real.REGRESSIONS)
def test_a_backbone_as_published_has_the_settings_of_the_paper(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_regression, "BackboneRegressor", telling)
    _, asked = told(real.methods(table)["BB as published"], blank(50), 7)
    assert {key: asked[key] for key in asked if key not in ("executor", "random_state", "gamma")} == {
        "n_nonzero": (10, 20, 30, 40, 50),
        "screen_size": 10_000,
        "subproblem_fraction": 0.5,
        "n_subproblems": 10,
        "subproblem": "SR-REL of 10, 20 or 30",
        "patience": None,
        "backbone_max": 500,
        "time_limit": 10.0,
    }
    assert (len(asked["gamma"]), asked["random_state"]) == (5, 7)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_subproblems_as_published_choose_among_the_sizes_of_the_paper(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 100)).astype(np.float32)
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    y = X[:18].sum(axis=0) - X[:18].sum(axis=0).mean()
    found = real_regression.of_papers_sizes(X, y, n_nonzero=50, gamma=7.0, seed=seed)
    tried = {k: fit_relaxation(X, y, n_nonzero=k, gamma=0.1, seed=0).support.size for k in (10, 20, 30)}
    assert found.support.size in tried.values()
    assert found.support.size >= 18


@pytest.mark.parametrize(("table", "p", "kept"), [("breast cancer", 9009, 1000), ("ionosphere", 330, 330)])
def test_a_tree_as_published_has_the_settings_of_the_paper(
    table: str, p: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_trees, "BackboneTreeClassifier", telling)
    _, asked = told(real.methods(table)["BB as published"], blank(p), 7)
    assert {key: asked[key] for key in asked if key not in ("executor", "random_state")} == {
        "depth": (3, 4, 5, 6, 7, 8),
        "subproblem_fraction": 0.5,
        "n_subproblems": 15,
        "subproblem_depth": (2, 3, 4, 5),
        "backbone_max": 100,
        "pricing_rounds": 0,
        "screen_size": kept,
        "validation": 0.7,
    }
