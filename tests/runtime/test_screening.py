"""One pass: the same lists whatever the cut, the executor or the interruption, and little on the coordinator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import zarr

from backbone_dask.columns import measured
from backbone_dask.errors import InvalidDataError
from backbone_dask.launch.local import local_cluster
from backbone_dask.runtime import budget
from backbone_dask.runtime.budget import cut_screen
from backbone_dask.runtime.checkpoint import NoJournal, open_run
from backbone_dask.runtime.events import silent
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor
from backbone_dask.runtime.placement import place
from backbone_dask.runtime.scoring import screen_blocks
from backbone_dask.runtime.screening import Screener
from backbone_dask.runtime.site import settle
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.panels import OneQuestion, TargetsPanel
from backbone_dask.store import MemoryStore, Recipe, VirtualStore, open_store, write_store
from backbone_dask.store.utilities import create_utilities
from backbone_dask.values import Seat

KEEP = 30


@pytest.fixture(scope="module")
def store():
    return VirtualStore(Recipe(kind="linear", n_samples=80, n_features=4001, n_relevant=5, rho=0.5, snr=3.0))


@pytest.fixture(scope="module")
def utilities(store):
    return correlation(store.gather(np.arange(store.n_features)), store.target())


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as client:
        yield client


@pytest.fixture(params=["serial", "dask"])
def executor(request):
    return SerialExecutor() if request.param == "serial" else DaskExecutor(request.getfixturevalue("client"))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Many groups, spans and blocks, so that lists really merge in a tree."""
    monkeypatch.setattr(budget, "UNIT_BYTES", 4 * 80 * 4)
    monkeypatch.setattr(budget, "SPAN_BYTES", 24 * 80 * 4)
    monkeypatch.setattr(budget, "MOST_SPANS", 10**6)
    monkeypatch.setattr("backbone_dask.store.base.BLOCK_BYTES", 3 * 80 * 8)


def screener(store, executor, journal=None, listen=silent):
    site = settle(store, executor)
    return Screener(site, site.serve(), journal or NoJournal(), listen)


def literal_top(utilities, count):
    order = np.lexsort((np.arange(utilities.size), -utilities))[:count]
    return np.sort(order)


def test_the_list_equals_a_sort_of_all_utilities(store, executor, utilities):
    (found,) = screener(store, executor).rank(OneQuestion(correlation, store.target()), KEEP, name="s")
    np.testing.assert_array_equal(found.candidates, literal_top(utilities, KEEP))
    np.testing.assert_array_equal(found.utilities, utilities[found.candidates])
    assert found.n_scored == store.n_features


def test_ties_break_by_id(executor):
    column = np.random.default_rng(0).normal(size=50)
    store = MemoryStore(np.tile(column[:, None], 500), targets={"y": column})
    (found,) = screener(store, executor).rank(OneQuestion(correlation, column), 7, name="s")
    np.testing.assert_array_equal(found.candidates, np.arange(7))


def test_a_task_returns_its_best_at_most(store):
    blocks = store.blocks(50)[:10]
    (found,) = screen_blocks(store, blocks, OneQuestion(correlation, store.target()), KEEP)
    assert found.candidates.size == KEEP
    assert found.n_scored == 500


def test_what_reaches_the_coordinator_is_a_small_part_of_p(store, monkeypatch):
    arrived = []

    class Counting(SerialExecutor):
        def map(self, function, items):
            for answer in super().map(function, items):
                arrived.append(sum(ranking.candidates.size for ranking in answer))
                yield answer

    screener(store, Counting()).rank(OneQuestion(correlation, store.target()), KEEP, name="s")
    assert len(arrived) >= 8
    assert max(arrived) <= KEEP
    assert sum(arrived) <= store.n_features / 6


def test_groups_and_units_are_the_same_for_any_number_of_workers(store):
    cuts = [cut_screen(store, KEEP, memory, n) for memory in (10**9, 10**11) for n in (1, 7, 64, 10**6)]
    assert len({(cut.block, cut.unit, cut.group) for cut in cuts}) == 1
    assert len({cut.span for cut in cuts}) > 1


def spans(cut, group, n_workers, p=4001):
    return place(p, cut.unit, [Seat(f"{at}") for at in range(n_workers)]).runs(*group, longest=cut.span)


@pytest.mark.parametrize("n_workers", [1, 7, 64])
def test_a_cut_covers_every_feature_once(store, n_workers):
    cut = cut_screen(store, KEEP, 10**9, n_workers)
    assert cut.unit % cut.block == 0
    assert cut.span % cut.unit == 0
    assert cut.group % cut.unit == 0
    covered = [
        j
        for group in cut.groups(4001)
        for span in spans(cut, group, n_workers)
        for b in cut.blocks(*span)
        for j in (b.start, b.stop)
    ]
    assert covered[0] == 0
    assert covered[-1] == 4001
    assert covered[1:-1:2] == covered[2::2]


def test_blocks_shrink_with_the_memory_of_a_worker(monkeypatch):
    wide = VirtualStore(Recipe(kind="linear", n_samples=100_000, n_features=100, n_relevant=1))
    monkeypatch.setattr("backbone_dask.store.base.BLOCK_BYTES", 64 << 20)
    assert cut_screen(wide, 10, 10**9).block * wide.n_samples * 4 <= 10**9 / 32


WIDE = Recipe(kind="linear", n_samples=5000, n_features=10**8, n_relevant=50)


@pytest.mark.parametrize("n_workers", [1, 2, 8, 64, 512])
def test_the_number_of_tasks_is_bounded_and_workers_have_several(monkeypatch, n_workers):
    monkeypatch.undo()
    for p in (10**5, 10**6, 10**7, 10**8, 10**9):
        cut = cut_screen(VirtualStore(replace(WIDE, n_features=p)), 20_000, 4 << 30, n_workers)
        n_tasks = sum(len(spans(cut, group, n_workers, p)) for group in cut.groups(p))
        assert n_tasks <= 1000 + len(cut.groups(p)) + n_workers
        assert len(cut.groups(p)) <= 100
        # A task is worth its scheduling: 64 MB, unless the table is small.
        assert cut.span * 20_000 >= 55 << 20 or cut.span >= p // 35
        assert n_tasks >= min(1.8 * n_workers, p * 20_000 // (64 << 20))


class CutOffError(Exception):
    pass


def test_a_screen_that_was_cut_off_scores_only_the_rest(store, executor, utilities, tmp_path, monkeypatch):
    question = OneQuestion(correlation, store.target())
    seen = []

    def cut(event):
        seen.append(event.done)
        if event.done > 1500:
            raise CutOffError

    with open_run(tmp_path, {}, resume=False, overwrite=False) as journal, pytest.raises(CutOffError):
        screener(store, executor, journal, cut).rank(question, KEEP, name="s")
    kept = len(list((tmp_path / "screen").glob("s-*.npz")))
    assert kept >= 3
    again = []
    with open_run(tmp_path, {}, resume=True, overwrite=False) as journal:
        (found,) = screener(store, executor, journal, again.append).rank(question, KEEP, name="s")
    np.testing.assert_array_equal(found.candidates, literal_top(utilities, KEEP))
    np.testing.assert_array_equal(found.utilities, utilities[found.candidates])
    assert found.n_scored == store.n_features
    assert again[0].done == seen[-1]
    assert len(list((tmp_path / "screen").glob("s-*.npz"))) == kept + len(again) - 1


def test_every_question_has_its_own_list(store, executor):
    targets = np.random.default_rng(0).normal(size=(3, store.n_samples))
    found = screener(store, executor).rank(TargetsPanel(targets), KEEP, name="s")
    columns = store.gather(np.arange(store.n_features))
    for ranking, y in zip(found, targets, strict=True):
        close = correlation(columns, y)
        assert close[ranking.candidates].min() >= np.sort(close)[-KEEP] - 1e-6
        np.testing.assert_allclose(ranking.utilities, close[ranking.candidates], atol=1e-6)


def test_utilities_of_all_columns_are_kept_on_request(store, executor, utilities, tmp_path):
    def open_sink(n_questions, chunk):
        return create_utilities(tmp_path / "u.zarr", n_questions, store.n_features, chunk)

    question = OneQuestion(correlation, store.target())
    screener(store, executor).rank(question, KEEP, name="s", open_sink=open_sink)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "u.zarr", mode="r")[:], utilities[None])


def test_reading_goes_on_while_a_block_is_scored():
    """A source that waits for the scorer would never be asked for its second block before the first is scored."""
    order = []

    class Source:
        n_samples, itemsize, waits = 10, 4, True

        def read(self, block):
            order.append(("read", block.index))
            return measured(np.random.default_rng(block.index).normal(size=(block.size, 10)))[0]

    def slow(columns, y):
        import time

        time.sleep(0.05)
        order.append(("score", len([what for what, _ in order if what == "score"])))
        return np.ones(columns.n_features)

    blocks = VirtualStore(Recipe(kind="linear", n_samples=10, n_features=40, n_relevant=1)).blocks(10)
    screen_blocks(Source(), blocks, OneQuestion(slow, np.arange(10.0)), 5)
    assert order.index(("read", 1)) < order.index(("score", 0))
    assert order.index(("read", 3)) > order.index(("score", 1))


def test_an_error_in_a_block_stops_the_screen_and_keeps_what_is_finished(tmp_path):
    table = np.random.default_rng(0).normal(size=(80, 4000))
    table[5, 3210] = np.nan
    store = MemoryStore(table, targets={"y": table[:, 0]})
    with (
        open_run(tmp_path, {}, resume=False, overwrite=False) as journal,
        pytest.raises(InvalidDataError, match="feature 3210"),
    ):
        screener(store, SerialExecutor(), journal).rank(OneQuestion(correlation, table[:, 0]), KEEP, name="s")
    assert list((tmp_path / "screen").glob("s-*.npz"))


def test_a_bad_column_is_named_with_its_block():
    table = np.random.default_rng(0).normal(size=(80, 400))
    table[5, 321] = np.nan
    store = MemoryStore(table)
    with pytest.raises(InvalidDataError, match=r"block 32 .features 320 to 329.: feature 321 contains NaN"):
        screen_blocks(store, store.blocks(10), OneQuestion(correlation, table[:, 0]), KEEP)


def test_a_nan_that_another_program_put_into_a_store_is_named(tmp_path):
    """Its checksum is right, so only the values tell."""
    table = np.random.default_rng(0).normal(size=(80, 400))
    write_store(MemoryStore(table, targets={"y": table[:, 0]}), tmp_path / "s.zarr")
    zarr.open_array(tmp_path / "s.zarr" / "X", mode="r+")[321, 5] = np.nan
    store = open_store(tmp_path / "s.zarr")
    with pytest.raises(InvalidDataError, match=r"block 32 .features 320 to 329.: feature 321 contains NaN in 1 of 80"):
        screen_blocks(store, store.blocks(10), OneQuestion(correlation, store.target()), KEEP)


def test_a_score_that_is_no_number_is_an_error():
    store = MemoryStore(np.random.default_rng(0).normal(size=(80, 400)))

    def unsure(columns, y):
        return np.where(columns.mean == columns.mean[1], np.nan, 1.0)

    with pytest.raises(InvalidDataError, match=r"block 3 .features 30 to 39.: feature 31 has no score"):
        screen_blocks(store, store.blocks(10)[3:], OneQuestion(unsure, np.arange(80.0)), KEEP)
