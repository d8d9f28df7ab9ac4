from __future__ import annotations

import threading
from itertools import combinations

import highspy
import numpy as np
import pytest

from backbone_dask.errors import ExactSolveError
from backbone_dask.exact.cuts import Cut
from backbone_dask.exact.highs import Master


def random_cuts(seed: int, p: int, count: int) -> list[Cut]:
    rng = np.random.default_rng(seed)
    return [Cut(float(rng.uniform(5, 6)), rng.uniform(0, 1, p)) for _ in range(count)]


def least(cuts: list[Cut], p: int, k: int) -> float:
    supports = [list(s) for s in combinations(range(p), k)]
    return min(max(cut.intercept - cut.slopes[s].sum() for cut in cuts) for s in supports)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_growing_by_cuts_it_keeps_finding_the_least_maximum(unit: float) -> None:
    cuts = random_cuts(0, 9, 12)
    master = Master(9, 3, unit=unit, floor=2 * unit)
    for stage in (cuts[:1], cuts[1:6], cuts[6:]):
        for cut in stage:
            master.add_cut(Cut(cut.intercept * unit, cut.slopes * unit))
        answer = master.solve(seconds=10, mip_gap=0.0, start=np.array([0, 1, 2]))
    expected = least(cuts, 9, 3) * unit
    assert answer.bound <= expected
    assert answer.bound == pytest.approx(expected, rel=1e-6)
    assert answer.support.size <= 3


def test_slopes_too_large_for_the_solver_are_harmless() -> None:
    master = Master(4, 2, unit=1.0, floor=0.0)
    master.add_cut(Cut(5.0, np.array([1e25, 1.0, 2.0, 1e18])))
    master.add_cut(Cut(4.0, np.array([1.0, 3.0, 1.0, 0.5])))
    assert master.solve(seconds=10, mip_gap=0.0, start=np.array([1])).bound == pytest.approx(0.0, abs=1e-6)


def test_it_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    master = Master(9, 3, unit=1.0, floor=0.0)
    for cut in random_cuts(1, 9, 5):
        master.add_cut(cut)
    master.solve(seconds=10, mip_gap=0.0, start=np.array([0]))
    assert capfd.readouterr() == ("", "")


def test_another_thread_count_used_before_in_the_process_does_no_harm() -> None:
    other = highspy.Highs()
    other.setOptionValue("output_flag", False)
    highspy.Highs.resetGlobalScheduler(True)
    other.setOptionValue("threads", 2)
    other.addVariable(lb=1)
    other.run()
    master = Master(9, 3, unit=1.0, floor=0.0)
    master.add_cut(random_cuts(2, 9, 1)[0])
    assert np.isfinite(master.solve(seconds=10, mip_gap=0.0, start=np.array([0])).bound)


def test_waiting_for_another_solve_ends_with_the_time() -> None:
    from backbone_dask.exact import highs

    master = Master(9, 3, unit=1.0, floor=0.0)
    master.add_cut(random_cuts(3, 9, 1)[0])
    answers = []
    with highs._turn:
        waiting = threading.Thread(
            target=lambda: answers.append(master.solve(seconds=0.1, mip_gap=0.0, start=np.array([4])))
        )
        waiting.start()
        waiting.join(10)
    assert answers[0].bound == -np.inf
    np.testing.assert_array_equal(answers[0].support, [4])


def test_a_failing_solver_keeps_its_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no licence")

    monkeypatch.setattr("backbone_dask.exact.highs.QuietHighs._solve", fail)
    master = Master(9, 3, unit=1.0, floor=0.0)
    master.add_cut(random_cuts(4, 9, 1)[0])
    with pytest.raises(ExactSolveError, match="HiGHS") as caught:
        master.solve(seconds=10, mip_gap=0.0, start=np.array([0]))
    assert "no licence" in str(caught.value.__cause__)


def test_an_infeasible_master_is_an_error_not_an_answer() -> None:
    master = Master(9, 3, unit=1.0, floor=0.0)
    master.add_cut(Cut(float("nan"), np.ones(9)))
    with pytest.raises(ExactSolveError):
        master.solve(seconds=10, mip_gap=0.0, start=np.array([0]))
