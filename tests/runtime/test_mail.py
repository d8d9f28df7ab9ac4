"""Solves on workers tell of their progress, and find the same where nobody hears of it."""

from __future__ import annotations

import numpy as np
import pytest

from backbone_dask import cluster
from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
from backbone_dask.problems.linear import FitReduced
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.runtime.meter import Resident
from backbone_dask.runtime.tasks import solve_reduced
from backbone_dask.testing.planted import planted

TABLE = planted(n_samples=80, n_features=60, n_relevant=6, rho=0.8, snr=1, seed=0)
FIT = FitReduced(fit_branch_and_bound, n_nonzero=6, gamma=0.1, gap_tolerance=1e-4)
HARD = FitReduced(fit_branch_and_bound, n_nonzero=20, gamma=10.0, gap_tolerance=1e-4)


@pytest.fixture(scope="module")
def client():
    with cluster(workers=1) as client:
        yield client


def solved(executor, fit=FIT, seconds=60.0):
    y = TABLE.y - TABLE.y.mean()
    item = ([Resident(TABLE.X)], y, fit, np.empty(0, np.int64), seconds)
    return next(iter(executor.map(solve_reduced, [item])))


def same(found, expected):
    np.testing.assert_array_equal(found.model.weights, expected.model.weights)
    assert (found.objective, found.bound, found.rounds) == (expected.objective, expected.bound, expected.rounds)


def test_a_watcher_hears_of_the_way_to_the_answer_on_both_executors(client):
    for executor in (SerialExecutor(), DaskExecutor(client)):
        told = []
        with executor.watching(told.append):
            outcome = solved(executor, HARD, seconds=1.2)
        heard = len(told)
        assert 2 <= heard <= 8
        assert [point.bound for point in told] == sorted(point.bound for point in told)
        assert told[-1].objective >= outcome.objective * (1 - 1e-9)
        solved(executor)
        assert len(told) == heard


def test_a_watcher_that_fails_and_messages_that_are_lost_change_nothing(client):
    expected = solved(SerialExecutor())

    def fail(point):
        raise OSError("no space left")

    for executor in (SerialExecutor(), DaskExecutor(client)):
        with executor.watching(fail):
            same(solved(executor), expected)
    told, deaf = [], DaskExecutor(client)
    client.unsubscribe_topic(deaf._topic)
    with deaf.watching(told.append):
        same(solved(deaf), expected)
    assert not told


def test_a_cluster_has_a_dashboard_and_a_process_has_none(client):
    assert DaskExecutor(client).dashboard == client.dashboard_link
    assert client.dashboard_link.startswith("http://127.0.0.1:")
    assert SerialExecutor().dashboard is None


def test_without_bokeh_there_is_no_dashboard_to_speak_of(client, monkeypatch):
    monkeypatch.setattr("backbone_dask.runtime.connection.find_spec", lambda name: None)
    assert DaskExecutor(client).dashboard is None
