"""The spine on both executors: the same bits, whatever the workers, the blocks and the order of answers."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime import budget
from backbone_dask.runtime.checkpoint import open_run
from backbone_dask.runtime.events import Event
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.runtime.run import warm_start
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore, Recipe, VirtualStore, open_store, write_store
from backbone_dask.values import Answer, LevelRecord

RECIPE = Recipe(kind="linear", n_samples=200, n_features=3000, n_relevant=5, rho=0.7, snr=5.0, seed=2)
SETTINGS = Settings(n_nonzero=5, screen_size=600, n_subproblems=6, backbone_max=12, seed=4)


@pytest.fixture(scope="module")
def store():
    return VirtualStore(RECIPE)


@pytest.fixture(scope="module")
def serial(store):
    return fit_sparse(prepare(store, store.target(), SETTINGS), SerialExecutor())


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


def bits(fitted):
    """Everything that a run found, without its times."""
    finding = fitted.finding
    answers = [(a.level, a.index, a.relevant.tobytes(), a.objective) for r in finding.levels for a in r.answers]
    return (
        finding.screening.candidates.tobytes(),
        finding.screening.utilities.tobytes(),
        answers,
        [(record.backbone.tobytes(), record.coverage) for record in finding.levels],
        fitted.model.ids.tobytes(),
        fitted.model.coefficients.tobytes(),
        fitted.model.intercept,
        finding.outcome.objective,
        finding.outcome.bound,
        finding.outcome.termination,
    )


def fit(store, executor, settings=SETTINGS, **more):
    return fit_sparse(prepare(store, store.target(), settings), executor, **more)


def test_the_hierarchy_has_several_levels_here(serial):
    assert len(serial.finding.levels) > 1
    assert serial.finding.backbone.size <= SETTINGS.backbone_max


def test_the_truth_is_found(store):
    """Covering, since a candidate that no subproblem examines cannot be found."""
    fitted = fit(store, SerialExecutor(), replace(SETTINGS, sampling="covering"))
    np.testing.assert_array_equal(fitted.model.ids, store.truth.ids)


def test_dask_gives_the_same_bits_as_serial(serial, store, client):
    assert bits(fit(store, DaskExecutor(client))) == bits(serial)


@pytest.mark.parametrize("n_workers", [1, 3])
def test_any_number_of_workers_gives_the_same_bits(serial, store, n_workers):
    with local_cluster(n_workers) as client:
        assert bits(fit(store, DaskExecutor(client))) == bits(serial)


@pytest.mark.parametrize(
    ("block_bytes", "span_bytes", "partition_bytes"), [(1 << 14, 1 << 15, 1 << 15), (1 << 21, 1, 1)]
)
def test_any_cut_gives_the_same_bits(serial, store, client, monkeypatch, block_bytes, span_bytes, partition_bytes):
    monkeypatch.setattr("backbone_dask.store.base.BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(budget, "SPAN_BYTES", span_bytes)
    monkeypatch.setattr(budget, "PARTITION_BYTES", partition_bytes)
    assert bits(fit(store, SerialExecutor())) == bits(serial)
    assert bits(fit(store, DaskExecutor(client))) == bits(serial)


def test_disk_memory_and_virtual_give_the_same_bits(serial, store, client, tmp_path):
    write_store(store, tmp_path / "s.zarr")
    on_disk = open_store(tmp_path / "s.zarr")
    in_memory = MemoryStore(store.read(store.blocks(3000)[0]).values.T, targets={"y": store.target()})
    for executor in (SerialExecutor(), DaskExecutor(client)):
        assert bits(fit(on_disk, executor)) == bits(serial)
        assert bits(fit(in_memory, executor)) == bits(serial)


@pytest.mark.parametrize("sampling", ["uniform", "proportional", "covering"])
def test_every_sampling_runs_and_agrees(store, client, sampling):
    settings = replace(SETTINGS, sampling=sampling)
    assert bits(fit(store, DaskExecutor(client), settings)) == bits(fit(store, SerialExecutor(), settings))


def test_covering_examines_every_candidate(store):
    fitted = fit(store, SerialExecutor(), replace(SETTINGS, sampling="covering", subproblem_fraction=0.05))
    assert [record.coverage for record in fitted.finding.levels] == [1.0] * len(fitted.finding.levels)


def test_a_level_stops_when_subproblems_add_nothing(store, client):
    settings = replace(SETTINGS, n_subproblems=40, subproblem_fraction=1.0)
    fitted = fit(store, SerialExecutor(), settings)
    assert len(fitted.finding.levels[0].answers) == 3
    assert bits(fit(store, DaskExecutor(client), settings)) == bits(fitted)


def test_seed_changes_the_draws(store, serial):
    other = fit(store, SerialExecutor(), replace(SETTINGS, seed=5))
    assert bits(other) != bits(serial)
    np.testing.assert_array_equal(other.finding.screening.candidates, serial.finding.screening.candidates)


def test_a_killed_worker_does_not_change_the_answer(store, serial):
    with local_cluster(2) as client:
        killed = []

        def kill_one(event: Event) -> None:
            if event.phase == "levels" and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        fitted = fit(store, DaskExecutor(client), listen=kill_one)
        assert killed
    assert bits(fitted) == bits(serial)


def test_the_only_worker_may_die(store, serial):
    with local_cluster(1) as client:
        killed = []

        def kill(event: Event) -> None:
            if event.phase == "levels" and not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        assert bits(fit(store, DaskExecutor(client), listen=kill)) == bits(serial)
        assert killed


def test_a_lost_worker_with_columns_of_a_table_in_memory_gets_them_again(store, serial):
    table = MemoryStore(store.read(store.blocks(3000)[0]).values.T, targets={"y": store.target()})
    with local_cluster(1) as client:
        killed = []

        def kill(event: Event) -> None:
            if event.phase == "levels" and len(killed) < 3:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[-1], signal.SIGKILL)

        assert bits(fit(table, DaskExecutor(client), listen=kill)) == bits(serial)
        assert len(killed) == 3


def test_phases_are_timed_and_reported(store):
    events: list[Event] = []
    fitted = fit(store, SerialExecutor(), listen=events.append)
    assert list(fitted.finding.seconds) == ["screen", "compact", "levels", "reduced"]
    assert list(dict.fromkeys(event.phase for event in events)) == ["screen", "compact", "levels", "reduced"]
    assert [event for event in events if event.phase == "screen"][-1].done == store.n_features


class CutOffError(Exception):
    pass


@pytest.mark.parametrize("phase", ["screen", "compact", "levels", "reduced"])
def test_a_run_cut_off_in_any_phase_goes_on_to_the_same_bits(store, serial, tmp_path, phase):
    def cut(event: Event) -> None:
        if event.phase == phase and event.done == event.total // 2:
            raise CutOffError

    with (
        open_run(tmp_path, {"a": 1}, resume=False, overwrite=False) as directory,
        pytest.raises(CutOffError),
    ):
        fit(store, SerialExecutor(), journal=directory, listen=_early(cut))
    with open_run(tmp_path, {"a": 1}, resume=True, overwrite=False) as directory:
        assert bits(fit(store, SerialExecutor(), journal=directory)) == bits(serial)


def _early(listen):
    """Also call at the first event of a phase, so that short phases are cut off too."""
    seen = set()

    def both(event: Event) -> None:
        first = event.phase not in seen
        seen.add(event.phase)
        listen(replace(event, done=event.total // 2) if first else event)

    return both


def test_finished_subproblems_are_not_solved_again(store, serial, tmp_path, monkeypatch):
    with open_run(tmp_path, {}, resume=False, overwrite=False) as directory:
        fit(store, SerialExecutor(), journal=directory)
    monkeypatch.setattr("backbone_dask.runtime.run.solve_subproblem", None)
    monkeypatch.setattr("backbone_dask.runtime.screening.screen_span", None)
    with open_run(tmp_path, {}, resume=True, overwrite=False) as directory:
        assert bits(fit(store, SerialExecutor(), journal=directory)) == bits(serial)


def test_map_answers_in_order_and_stops_what_is_not_wanted(client):
    executor = DaskExecutor(client)
    answers = executor.map(_slow_square, ((at,) for at in range(50)))
    assert [next(answers) for _ in range(3)] == [0, 1, 4]
    answers.close()
    deadline = time.monotonic() + 10
    while any(client.processing().values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(client.processing().values())


def _slow_square(x):
    time.sleep(0.05 * (x % 3))
    return x * x


def test_only_a_few_tasks_are_started_at_once(client):
    started = []
    items = ((started.append(at) or at,) for at in range(100))
    next(DaskExecutor(client).map(_slow_square, items))
    assert len(started) <= 10


def test_an_error_on_a_worker_arrives_as_itself(client):
    with pytest.raises(ZeroDivisionError):
        list(DaskExecutor(client).map(_divide, [(1, 1), (1, 0)]))


def _divide(a, b):
    return a / b


def test_warm_start_is_the_best_answer_as_positions():
    answers = tuple(
        Answer(0, index, np.array(ids), objective, 0.0)
        for index, (ids, objective) in enumerate([([2, 9], 3.0), ([5, 9], 1.0), ([2, 5], float("nan"))])
    )
    record = LevelRecord(0, 10, 3, 1.0, answers, np.array([2, 5, 9]))
    np.testing.assert_array_equal(warm_start(record), [1, 2])


def test_two_clients_in_one_process(store, serial, client):
    """Each waits for its own cluster."""
    with local_cluster(1) as newer:
        for each in (client, newer, client):
            assert bits(fit(store, DaskExecutor(each))) == bits(serial)


def test_two_runs_at_once_on_one_cluster(store, serial, client):
    """Dask returns the old result for a reused key: the two must not meet."""
    found = {}

    def run(seed):
        found[seed] = bits(fit(store, DaskExecutor(client), replace(SETTINGS, seed=seed)))

    threads = [threading.Thread(target=run, args=(seed,)) for seed in (4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[4] == bits(serial)
    assert found[5] == bits(fit(store, SerialExecutor(), replace(SETTINGS, seed=5)))
