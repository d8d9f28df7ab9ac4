from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from backbone_dask.errors import InvalidSettingError, MissingExtraError
from backbone_dask.exact.trees import dp
from backbone_dask.exact.trees.dp import TreeDp
from backbone_dask.exact.trees.mio import TreeMio
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.testing.tree_cases import TreeCase, Weights, brute_force, draw_case, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination


def solve(case: TreeCase, seconds: float = 30.0) -> Outcome[Tree]:
    return TreeDp(width=2, seed=0)(case.table, case.labels, case.goal, seconds=seconds)


def noise(n: int, p: int, goal: Goal, *, cuts: int = 4, seed: int = 0) -> TreeCase:
    rng = np.random.default_rng(seed)
    return TreeCase(TreeTable.of(rng.standard_normal((p, n)), cuts), labels_of(rng.integers(0, 2, n)), goal)


def rare_corner(price: float, *, n: int = 3000) -> TreeCase:
    """A leaf makes 1000 mistakes, a split 990; the split costs as much as `price` mistakes."""
    classes, row = np.zeros(n, np.int64), np.zeros(n)
    classes[:1000], row[:10] = 1, 1.0
    return TreeCase(TreeTable.of(row[None], 1), labels_of(classes), Goal(1, 1.0, price / n))


@pytest.mark.parametrize("weights", ["equal", "whole"])
@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_is_proven(seed: int, weights: Weights) -> None:
    case = draw_case(seed + 500, weights=weights)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), abs=1e-9)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("seed", range(8))
def test_at_depth_3_too(seed: int) -> None:
    case = draw_case(seed + 600, depth=3, weights="whole", n_samples=14)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), abs=1e-9)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("seed", range(20))
def test_the_look_at_every_number_of_splits_finds_the_optimum_by_itself(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(dp, "_SLACK", 1.0)
    case = draw_case(seed + 700, weights="whole")
    monkeypatch.setattr(dp._Programme, "cheapest", lambda programme: dp._Run(programme.problem.start, optimal=True))
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), abs=1e-9)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize(("price", "n_splits"), [(9.5, 1), (9.95, 1), (9.999, 1), (10.001, 0), (10.05, 0)])
def test_a_gain_below_the_slack_of_the_library_is_seen(
    monkeypatch: pytest.MonkeyPatch, price: float, n_splits: int
) -> None:
    """pystreed takes 999.95 for 1000. The search is made blind, for it would find the tree before."""
    monkeypatch.setattr("backbone_dask.exact.trees.search._Search._descend", lambda _, features, *__: features.fill(-1))
    outcome = solve(rare_corner(price))
    assert outcome.model.n_splits == n_splits
    assert outcome.termination is Termination.PROVEN


def test_mixed_integer_optimisation_agrees() -> None:
    for seed in range(800, 810):
        case = draw_case(seed, weights="whole")
        other = TreeMio(width=2, seed=0)(case.table, case.labels, case.goal, seconds=30.0)
        assert other.termination is Termination.PROVEN
        assert solve(case).objective == pytest.approx(other.objective, abs=1e-9)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_local_search_is_never_below_the_proven_optimum(depth: int) -> None:
    for seed in range(5):
        case = noise(60, 5, Goal(depth, 2.0, 0.004), seed=seed)
        proven = solve(case)
        found = TreeSearch((0, 1, 2, 3), 2, 0).trees(case.table, case.labels, case.goal, deadline=np.inf)[0][0].tree
        assert proven.termination is Termination.PROVEN
        assert case.goal.objective(found) >= proven.objective - 1e-9


def test_whole_weights_are_repeated_samples() -> None:
    case = draw_case(901, weights="whole")
    often = np.repeat(np.arange(case.labels.classes.size), case.labels.weights.astype(int))
    table = TreeTable(case.table.values[:, often], case.table.cuts, case.table.codes[:, often])
    repeated = replace(case, table=table, labels=labels_of(case.labels.classes[often]))
    assert solve(case).objective == pytest.approx(solve(repeated).objective, abs=1e-12)


def test_weights_may_have_any_common_measure() -> None:
    case = draw_case(902, weights="whole")
    expected = solve(case).objective
    for factor in (2.0, 7.0):
        goal = replace(case.goal, min_bucket=case.goal.min_bucket * factor)
        larger = replace(case, labels=case.labels.weighted(case.labels.weights * factor), goal=goal)
        assert solve(larger).objective == pytest.approx(expected, abs=1e-12)


def test_without_time_it_is_local_search_with_the_floor() -> None:
    case = noise(200, 30, Goal(5, 1.0, 0.0005), cuts=10)
    outcome = solve(case, 0.3)
    found = TreeSearch((0,), 2, 0).trees(case.table, case.labels, case.goal, deadline=np.inf)[0][0].tree
    assert outcome.objective <= case.goal.objective(found) + 1e-12
    assert outcome.termination is Termination.TIME_LIMIT
    assert outcome.bound == pytest.approx(case.goal.floor(case.table.codes, case.labels))


def test_what_it_does_not_take_is_refused() -> None:
    case = noise(20, 3, Goal(2, 1.0, 0.01))
    with pytest.raises(InvalidSettingError, match="depth up to 5, not 6"):
        solve(replace(case, goal=replace(case.goal, depth=6)))
    with pytest.raises(InvalidSettingError, match="equal or whole-number"):
        solve(replace(case, labels=case.labels.weighted(np.linspace(0.1, 1, 20))))
    with pytest.raises(InvalidSettingError, match="equal or whole-number"):
        solve(replace(case, labels=case.labels.weighted(np.r_[1e30, np.ones(19)])))
    with pytest.raises(InvalidSettingError, match=r"1000019 are more than 100000"):
        solve(replace(case, labels=case.labels.weighted(np.r_[1e6, np.ones(19)])))
    with pytest.raises(InvalidSettingError, match=r"up to 2000 splits, and there are \d+"):
        solve(noise(100, 60, Goal(2, 1.0, 0.001), cuts=90))


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pystreed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'backbone-dask\[tree\]'"):
        solve(noise(20, 3, Goal(2, 1.0, 0.01)))


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    solve(noise(30, 4, Goal(3, 1.0, 0.01)))
    assert capfd.readouterr() == ("", "")
