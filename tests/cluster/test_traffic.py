"""How far columns travel, on real workers: counted by us, and by Dask as an independent witness."""

from __future__ import annotations

import json
import socket
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from distributed import Client, LocalCluster

from backbone_dask import BackboneRegressor, screen
from backbone_dask.cli.main import cli
from backbone_dask.errors import InvalidSettingError
from backbone_dask.launch.local import local_cluster
from backbone_dask.problems.fitting import fit_sparse, prepare
from backbone_dask.runtime import budget
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.runtime.site import settle
from backbone_dask.settings import Settings
from backbone_dask.store import MemoryStore, Recipe, VirtualStore, open_store, write_store
from backbone_dask.store.locality import shards

N, P, KEEP = 200, 4096, 512
RECIPE = Recipe(kind="linear", n_samples=N, n_features=P, n_relevant=5, rho=0.7, snr=5.0, seed=2)
SETTINGS = Settings(n_nonzero=5, screen_size=KEEP, n_subproblems=4, patience=None, backbone_max=60, seed=4)
WIDTH = N * 4


@pytest.fixture(scope="module")
def store():
    return VirtualStore(RECIPE)


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Spans of 128 features and partitions of 64, so that a small table is spread like a large one."""
    monkeypatch.setattr(budget, "FEWEST_SPANS", P // 128)
    monkeypatch.setattr("backbone_dask.store.base.BLOCK_BYTES", 64 * WIDTH)
    monkeypatch.setattr("backbone_dask.store.schema.CHUNK_BYTES", 64 * WIDTH)
    monkeypatch.setattr(budget, "PARTITION_BYTES", 64 * WIDTH)


def fit(store, executor, **changes):
    settings = replace(SETTINGS, **changes)
    return fit_sparse(prepare(store, store.target(), settings), executor)


@contextmanager
def dask_counts(client):
    """Bytes that the workers sent, by Dask's own counters."""
    found = {}
    before = client.run(_sent)
    yield found
    found["sent"] = sum(client.run(_sent).values()) - sum(before.values())


def _sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


def test_a_serial_fit_reads_the_table_once_and_the_survivors_once_more(store):
    traffic = fit(store, SerialExecutor()).traffic
    assert traffic["bytes_read"] == (P + KEEP) * WIDTH
    assert traffic["bytes_moved"] == traffic["bytes_from_cache"] == 0
    assert traffic["tasks_placed"] == traffic["tasks_at_home"] > 0


def test_workers_read_no_more_than_one_process(store, client):
    assert fit(store, DaskExecutor(client)).traffic["bytes_read"] == (P + KEEP) * WIDTH


def test_tasks_run_where_their_data_are(store, client):
    traffic = fit(store, DaskExecutor(client)).traffic
    spans, partitions = P // 128, KEEP // 64
    # Spans, partitions and their sizes, pieces of four subproblems from the other worker, subproblems, the reduced fit.
    assert traffic["tasks_placed"] >= spans + 2 * partitions + 4 * partitions // 2 + 4 + 1
    assert traffic["tasks_at_home"] >= 0.9 * traffic["tasks_placed"]


def test_only_sampled_columns_travel(store, client):
    """Every subproblem takes half of the survivors, and half of those lie with the worker that solves it."""
    with dask_counts(client) as dask:
        fitted = fit(store, DaskExecutor(client))
    moved = fitted.traffic["bytes_moved"]
    sampled = sum(record.n_candidates // 2 for record in fitted.finding.levels[:1]) * 4 * WIDTH
    assert 0 < moved <= 0.75 * sampled
    # Dask also counts targets, lists and pickles, and nothing like the whole table.
    assert moved <= dask["sent"] <= moved + 0.1 * P * WIDTH


def test_many_subproblems_move_every_survivor_once_at_most(store, client):
    """Twelve of half of the survivors each would move three times as much, column by column."""
    with dask_counts(client) as dask:
        fitted = fit(store, DaskExecutor(client), n_subproblems=12)
    moved = fitted.traffic["bytes_moved"]
    # On a busy machine a few tasks run away from home, and their partition comes back.
    away = fitted.traffic["tasks_placed"] - fitted.traffic["tasks_at_home"]
    assert 0.9 * KEEP * WIDTH <= moved <= (1.2 * KEEP + 64 * away) * WIDTH
    assert moved < 2.5 * KEEP * WIDTH
    assert moved <= dask["sent"] <= moved + 0.1 * P * WIDTH
    alone = fit(store, SerialExecutor(), n_subproblems=12)
    np.testing.assert_array_equal(fitted.model.coefficients, alone.model.coefficients)
    assert [a.relevant.tolist() for r in fitted.finding.levels for a in r.answers] == [
        a.relevant.tolist() for r in alone.finding.levels for a in r.answers
    ]


@pytest.mark.parametrize(
    ("n_subproblems", "available", "everywhere"), [(12, 1 << 40, True), (4, 1 << 40, False), (12, 0, False)]
)
def test_survivors_are_everywhere_if_that_moves_less_and_fits(store, n_subproblems, available, everywhere):
    ready = prepare(store, store.target(), replace(SETTINGS, n_subproblems=n_subproblems))
    cut = ready.budget(2, available)
    assert cut.everywhere is everywhere
    shared = ready.budget(2).worker_bytes
    assert cut.worker_bytes - shared == (KEEP // 2 * WIDTH if everywhere else 0)
    assert ready.budget(2, cut.worker_bytes).everywhere is everywhere
    assert not ready.budget(2, shared + KEEP // 2 * WIDTH - 1).everywhere


def test_one_worker_moves_nothing(store):
    with local_cluster(1) as client:
        traffic = fit(store, DaskExecutor(client)).traffic
    assert traffic["bytes_moved"] == 0
    assert traffic["tasks_at_home"] == traffic["tasks_placed"]


def test_folds_read_the_table_once_if_blocks_are_kept(store, client, tmp_path):
    write_store(store, tmp_path / "s.zarr")
    table = open_store(tmp_path / "s.zarr")
    chosen = {"n_nonzero": [3, 5], "validation": 3}
    plain = fit(table, DaskExecutor(client), **chosen)
    kept = fit(table, DaskExecutor(client, keeps_blocks=True), **chosen)
    assert plain.traffic["bytes_read"] == 4 * (P + KEEP) * WIDTH
    # A task that ran away from home read its block there once more.
    assert P * WIDTH <= kept.traffic["bytes_read"] <= 1.2 * P * WIDTH
    total = kept.traffic["bytes_read"] + kept.traffic["bytes_from_cache"]
    assert total == plain.traffic["bytes_read"]
    np.testing.assert_array_equal(kept.model.coefficients, plain.model.coefficients)
    again = fit(table, DaskExecutor(client, keeps_blocks=True), **chosen)
    assert again.traffic["bytes_read"] <= 0.2 * P * WIDTH


def test_a_second_target_reads_nothing_if_blocks_are_kept(client, tmp_path):
    table = np.random.default_rng(0).normal(size=(N, P)).astype(np.float32)
    write_store(MemoryStore(table, targets={"a": table[:, 1], "b": table[:, 2]}), tmp_path / "s.zarr")
    model = BackboneRegressor(1, screen_size=50, keep_blocks=True)
    model.fit(str(tmp_path / "s.zarr"), "a")
    assert model.traffic_["bytes_read"] >= P * WIDTH
    model.fit(str(tmp_path / "s.zarr"), "b")
    assert model.support_.tolist() == [2]
    assert model.traffic_["bytes_read"] <= 0.2 * P * WIDTH


def test_a_store_that_is_written_again_is_not_taken_from_memory(client, tmp_path):
    rng = np.random.default_rng(0)
    for seed in range(2):
        X = rng.normal(size=(N, P)).astype(np.float32)
        write_store(MemoryStore(X, targets={"y": X[:, 7 + seed]}), tmp_path / "s.zarr", overwrite=True)
        ((_, best),) = screen(str(tmp_path / "s.zarr"), keep=1, keep_blocks=True).items()
        assert best.candidates.tolist() == [7 + seed]


@pytest.mark.parametrize("names", [("0", "1"), ("1", "0")])
def test_blocks_are_read_where_they_are_said_to_lie(client, names):
    store, half = VirtualStore(RECIPE), P // 128 // 2
    store.locality = shards({names[0]: [[0, P // 2]], names[1]: [[P // 2, P]]}, P)
    executor = DaskExecutor(client)
    assert settle(store, executor).placement.homes == (names[0],) * half + (names[1],) * half
    traffic = fit(store, executor).traffic
    assert traffic["tasks_at_home"] >= 0.9 * traffic["tasks_placed"]


def test_hosts_that_alternate_are_still_read_where_they_lie(client, monkeypatch):
    """Units are shorter than tasks here: a task ends where the next unit lies elsewhere."""
    monkeypatch.setattr(budget, "UNIT_BYTES", 64 * WIDTH)
    store = VirtualStore(RECIPE)
    store.locality = shards({f"{at}": [[j, j + 64] for j in range(64 * at, P, 128)] for at in range(2)}, P)
    executor = DaskExecutor(client)
    traffic = fit(store, executor).traffic
    assert executor.ledger.tasks["screen_span"] == P // 64
    assert traffic["tasks_at_home"] >= 0.9 * traffic["tasks_placed"]


def test_workers_without_a_limit_of_memory(store):
    """Dask says 0 for no limit; that is not no memory."""
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, memory_limit=None, dashboard_address=None) as free,
        Client(free) as client,
    ):
        executor = DaskExecutor(client, keeps_blocks=True)
        assert executor.worker_bytes > 1 << 30
        assert fit(store, executor).traffic["bytes_from_cache"] == KEEP * WIDTH


def test_a_host_is_known_by_its_name_and_by_its_address(client):
    store = VirtualStore(RECIPE)
    executor = DaskExecutor(client)
    for host in (socket.gethostname(), "127.0.0.1"):
        store.locality = shards({host: [[0, P]]}, P)
        seats = settle(store, executor).placement.seats
        assert all(seat.answers_to(host) for seat in seats)
    assert not seats[0].answers_to("elsewhere")


@pytest.mark.parametrize(
    ("locality", "words"),
    [
        ([[0, 10]], "no mapping"),
        ({"a": [[0]]}, "of a has .0., which is no range"),
        ({"a": 7}, "of a has 7, which is no range"),
        ({"a": [[0, P + 1]]}, "the table has features 0 to 4095"),
        ({"a": [[9, 9]]}, "of a has the range"),
    ],
)
def test_a_locality_that_is_none_is_refused(locality, words):
    with pytest.raises(InvalidSettingError, match=words):
        shards(locality, P)


def test_the_result_of_the_command_line_has_the_counts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cli.main(["simulate", "linear", "s.zarr", "--n", "100", "--p", "3000", "--k", "3"], standalone_mode=False)
    (tmp_path / "where.json").write_text(json.dumps({"0": [[0, 1500]], "1": [[1500, 3000]]}))
    arguments = ["fit", "s.zarr", "-k", "3", "--out", "run", "--workers", "2", "--locality", "where.json", "--quiet"]
    cli.main(arguments, standalone_mode=False)
    traffic = json.loads((tmp_path / "run" / "result.json").read_text())["traffic"]
    assert traffic["bytes_read"] == (3000 + 1000) * 100 * 4
    assert set(traffic) == {"bytes_read", "bytes_from_cache", "bytes_moved", "tasks_placed", "tasks_at_home"}
