"""The recorder by itself: what makes a point, how many there are, and that the outcome has the last word."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.exact import trace
from backbone_dask.exact.trace import MOST_POINTS, Recorder
from backbone_dask.exact.trees.mio import TreeMio
from backbone_dask.testing.contracts.trace import check_trace
from backbone_dask.testing.tree_cases import TreeCase, labels_of
from backbone_dask.trees.goal import Goal
from backbone_dask.trees.table import TreeTable
from backbone_dask.values import Outcome, Termination, TracePoint
from backbone_dask.watching import watched_by


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass by one whenever the recorder looks at them."""
    now = iter(range(10**6))
    monkeypatch.setattr(trace.time, "monotonic", lambda: float(next(now)))


def test_a_point_for_every_hundredth_that_comes_off_the_gap(clock):
    recorder = Recorder()
    for objective, bound in ((10.0, 0.0), (10.0, 0.09), (9.91, 0.0), (9.8, 0.01), (9.7, 5.0), (9.7, 5.0)):
        recorder.note(objective, bound)
    assert recorder.trace(9.5, 6.0, 99.0) == (
        TracePoint(1.0, 10.0, 0.0),
        TracePoint(2.0, 9.8, 0.01),
        TracePoint(3.0, 9.7, 5.0),
        TracePoint(99.0, 9.5, 6.0),
    )


def test_no_point_is_better_than_the_outcome(clock):
    recorder = Recorder()
    recorder.note(2.0, 1.0)
    recorder.note(1.4999999, 1.4999998)
    assert recorder.trace(1.5, 1.49, 9.0)[1:] == (TracePoint(2.0, 1.5, 1.49), TracePoint(9.0, 1.5, 1.49))


def test_a_solve_without_a_word_has_its_outcome(clock):
    assert Recorder().trace(1.0, 0.5, 3.0) == (TracePoint(3.0, 1.0, 0.5),)


def test_a_gap_that_closes_for_ever_makes_few_points():
    recorder, told = Recorder(), []
    with watched_by(told.append):
        watched = Recorder()
    for width in np.exp2(-np.linspace(0, 1000, 20_000)):
        recorder.note(1.0, 1.0 - width)
        watched.note(1.0 + width, 0.0)
    for points in (recorder.trace(1.0, 1.0, 1.0), watched.trace(1.0, 0.0, 1.0)):
        assert 20 < len(points) <= MOST_POINTS + 1
        assert points[0].objective - points[0].bound == pytest.approx(1.0, abs=1.1)
    assert len(told) < 1500


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(-10, 10)), max_size=40), st.floats(0, 5), st.floats(-5, 0))
def test_whatever_a_solver_says_the_trace_keeps_its_promises(notes, objective, bound):
    recorder = Recorder()
    for each in notes:
        recorder.note(*each)
    seconds = recorder.seconds
    points = recorder.trace(objective, bound, seconds)
    check_trace(Outcome(None, objective, bound, Termination.ROUND_LIMIT, 0, seconds, points))


def test_mixed_integer_optimisation_tells_of_its_bound_on_the_way():
    rng = np.random.default_rng(1)
    values = rng.standard_normal((4, 60))
    classes = (values[0] * values[1] + 0.5 * rng.standard_normal(60) > 0).astype(int)
    case = TreeCase(TreeTable.of(values, 4), labels_of(classes), Goal(2, 1.0, 0.001))
    told: list[TracePoint] = []
    with watched_by(told.append):
        outcome = TreeMio(2, 0)(case.table, case.labels, case.goal, seconds=30.0)
    bounds = [point.bound for point in outcome.trace]
    assert len({*bounds}) > 3
    assert told[-1].bound <= outcome.bound + 1e-9
