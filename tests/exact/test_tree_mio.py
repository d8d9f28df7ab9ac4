from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from backbone_dask.errors import ExactSolveError, InvalidSettingError
from backbone_dask.exact import highs
from backbone_dask.exact.trees.kinds import Kinds
from backbone_dask.exact.trees.mio import TreeMio, _FlowModel
from backbone_dask.exact.trees.proof import Reduced
from backbone_dask.exact.trees.search import TreeSearch
from backbone_dask.exact.trees.splits import Splits
from backbone_dask.testing.tree_cases import TreeCase, Weights, brute_force, draw_case, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.table import TreeTable
from backbone_dask.trees.tree import Tree
from backbone_dask.values import Outcome, Termination

FOREVER = float("inf")


def solve(case: TreeCase, seconds: float = 30.0) -> Outcome[Tree]:
    return TreeMio(width=2, seed=0)(case.table, case.labels, case.goal, seconds=seconds)


def on_codes(case: TreeCase, starts: tuple[int, ...]) -> Tree:
    return TreeSearch(starts, width=2, seed=0).trees(case.table, case.labels, case.goal, deadline=FOREVER)[0][0].tree


def noise(n: int, p: int, goal: Goal, *, cuts: int = 4, seed: int = 0) -> TreeCase:
    rng = np.random.default_rng(seed)
    return TreeCase(TreeTable.of(rng.standard_normal((p, n)), cuts), labels_of(rng.integers(0, 2, n)), goal)


@pytest.mark.parametrize("weights", ["equal", "whole", "any"])
@pytest.mark.parametrize("seed", range(9))
def test_the_optimum_is_proven(seed: int, weights: Weights) -> None:
    case = draw_case(seed + 100, weights=weights)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), abs=1e-9)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("seed", range(4))
def test_at_depth_3_too(seed: int) -> None:
    case = draw_case(seed + 200, depth=3, n_samples=14)
    outcome = solve(case)
    assert outcome.objective == pytest.approx(brute_force(case), abs=1e-9)
    assert outcome.termination is Termination.PROVEN


@pytest.mark.parametrize("seed", range(8))
def test_thresholds_are_cuts(seed: int) -> None:
    case = draw_case(seed + 300)
    tree = solve(case).model
    split = tree.is_split
    assert all(t in case.table.cuts[f] for f, t in zip(tree.features[split, 0], tree.thresholds[split], strict=True))


def test_local_search_is_never_below_the_proven_optimum() -> None:
    for seed in range(400, 408):
        case = draw_case(seed)
        proven = solve(case)
        assert proven.termination is Termination.PROVEN
        assert case.goal.objective(on_codes(case, (0, 1, 2, 3))) >= proven.objective - 1e-9


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_without_time_it_is_local_search_with_an_honest_bound(seconds: float) -> None:
    case = noise(60, 6, Goal(3, 2.0, 0.002))
    outcome = solve(case, seconds)
    assert outcome.objective <= case.goal.objective(on_codes(case, (0,))) + 1e-12
    assert outcome.termination is Termination.TIME_LIMIT
    assert case.goal.floor(case.table.codes, case.labels) - 1e-12 <= outcome.bound < outcome.objective


def flow_model(case: TreeCase, start: Tree) -> _FlowModel:
    splits = Splits.of(case.table, case.labels, case.goal)
    problem = Reduced(case.table, case.labels, case.goal, splits, start, floor=0.0)
    return _FlowModel(problem, Kinds.of(splits, case.labels))


def broken_rows(model: Any) -> list[str]:
    values = [(str(row), pyo.value(row.body), row.lower, row.upper) for row in model.rows.values()]
    return [
        name
        for name, body, lower, upper in values
        if (lower is not None and body < lower - 1e-9) or (upper is not None and body > upper + 1e-9)
    ]


@pytest.mark.parametrize("turned", [(), (0,), (1,), (0, 1)])
def test_a_start_is_feasible_whichever_way_its_splits_turn(turned: tuple[int, ...]) -> None:
    """The start uses the last three rows; the model has the first three, which are the same, some turned round."""
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 5, (3, 40)).astype(np.float64)
    labels, goal = labels_of(np.where(rows[0] > 2, rows[1] > 1, rows[2] > 2)), Goal(3, 2.0, 0.01)
    tree = on_codes(TreeCase(TreeTable.of(rows, 5), labels, goal), (0,))
    values = np.concatenate([rows * np.where(np.isin([[0], [1], [2]], turned), -1, 1), rows])
    start = replace(tree, features=np.where(tree.features >= 0, tree.features + 3, -1))
    flow = flow_model(TreeCase(TreeTable.of(values, 5), labels, goal), start)
    assert start.n_splits >= 3
    assert flow.problem.splits.rows.max() < 3
    assert broken_rows(flow.model) == []
    assert pyo.value(flow.model.objective) / flow.unit == pytest.approx(goal.objective(start))


@pytest.mark.parametrize("seed", [seed for seed in range(14) if seed != 10])
def test_the_start_of_any_problem_with_splits_is_feasible(seed: int) -> None:
    case = draw_case(seed + 320, weights=("equal", "whole", "any")[seed % 3])
    flow = flow_model(case, on_codes(case, (0,)))
    assert broken_rows(flow.model) == []
    assert pyo.value(flow.model.objective) / flow.unit == pytest.approx(case.goal.objective(flow.problem.start))


def test_buckets_of_weights_that_add_up_only_almost() -> None:
    """Three times 0.1 is more than 0.3 in one order of adding, and less than that in another."""
    case = TreeCase(TreeTable.of(np.arange(6.0)[None], 5), labels_of([0, 0, 0, 1, 1, 1]), Goal(1, 0.3, 0.01))
    case = replace(case, labels=case.labels.weighted(np.full(6, 0.1)))
    assert solve(case).objective == pytest.approx(0.01)


@pytest.mark.parametrize("factor", [1e4, 1e12, 1e30])
def test_weights_of_any_size(factor: float) -> None:
    case = draw_case(330, weights="whole")
    weights = case.labels.weights * factor
    weights[0] += 1
    goal = replace(case.goal, min_bucket=case.goal.min_bucket * factor)
    outcome = solve(replace(case, labels=case.labels.weighted(weights), goal=goal))
    assert outcome.objective == pytest.approx(solve(case).objective, abs=1e-3)
    assert outcome.termination is Termination.PROVEN


def test_too_large_a_problem_is_refused_with_its_size() -> None:
    case = noise(3000, 50, Goal(4, 1.0, 0.001), cuts=20)
    with pytest.raises(
        InvalidSettingError, match=r"1000 splits, 3000 different samples and depth 4 .* fewer thresholds"
    ):
        solve(case)


def test_waiting_for_another_solve_ends_with_the_time() -> None:
    case = noise(30, 4, Goal(2, 1.0, 0.01))
    expected = solve(case, 0.0)
    answers: list[Outcome[Tree]] = []
    with highs._turn:
        waiting = threading.Thread(target=lambda: answers.append(solve(case, 0.2)))
        waiting.start()
        waiting.join(10)
    assert answers[0].objective == expected.objective
    assert answers[0].termination is Termination.TIME_LIMIT


def test_a_failing_solver_keeps_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no licence")

    monkeypatch.setattr("backbone_dask.exact.highs.QuietHighs._solve", fail)
    with pytest.raises(ExactSolveError, match="HiGHS failed on the tree problem") as caught:
        solve(noise(30, 4, Goal(2, 1.0, 0.01)))
    assert "no licence" in str(caught.value.__cause__)


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    solve(noise(20, 3, Goal(2, 1.0, 0.01)))
    assert capfd.readouterr() == ("", "")
