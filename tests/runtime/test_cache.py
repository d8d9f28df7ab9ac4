"""Blocks that stay in memory: the same columns, without reading them again."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backbone_dask.runtime import sources
from backbone_dask.runtime.cache import BlockCache
from backbone_dask.runtime.meter import METER, PROCESS, Resident
from backbone_dask.runtime.sources import CachedSource, MeteredSource, weighted_source
from backbone_dask.store import MemoryStore
from backbone_dask.values import FeatureBlock

N, P = 6, 40
STORE = MemoryStore(np.random.default_rng(0).normal(size=(N, P)))
WIDTH = N * 8


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch):
    monkeypatch.setattr(sources, "BLOCKS", BlockCache())
    METER.drain()


def blocks(size):
    return [FeatureBlock(at, start, min(start + size, P)) for at, start in enumerate(range(0, P, size))]


def same(one, other):
    for name in ("values", "mean", "scale"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_a_second_pass_reads_nothing():
    source = CachedSource(MeteredSource(STORE), "a", 10**6)
    for block in blocks(7):
        same(source.read(block), STORE.read(block))
    assert METER.drain() == {"read": P * WIDTH}
    for block in blocks(7):
        same(source.read(block), STORE.read(block))
    assert METER.drain() == {"cached": P * WIDTH}


def test_what_does_not_fit_is_read_again_and_nothing_is_thrown_out_for_it():
    source = CachedSource(MeteredSource(STORE), "a", 15 * WIDTH)
    for _ in range(2):
        METER.drain()
        for block in blocks(7):
            source.read(block)
    assert METER.drain() == {"cached": 14 * WIDTH, "read": (P - 14) * WIDTH}


@given(st.sets(st.integers(0, P - 1), min_size=1), st.integers(0, P), st.integers(1, 9))
def test_gathering_from_memory_and_store_together(chosen, kept, size):
    METER.drain()
    # An example that comes again must not find the blocks of the first time.
    cached = CachedSource(MeteredSource(STORE), uuid4().hex, kept * WIDTH)
    for block in blocks(size):
        cached.read(block)
    held = METER.drain()["read"] // WIDTH
    ids = np.array(sorted(chosen))
    same(cached.gather(ids), STORE.gather(ids))
    counted = METER.drain()
    assert counted.get("cached", 0) + counted.get("read", 0) == ids.size * WIDTH
    full = min(kept // size * size, P) if kept < P else P
    assert counted.get("cached", 0) >= (ids < full).sum() * WIDTH, held


def test_another_table_takes_the_place_of_the_first():
    first, second = (CachedSource(MeteredSource(STORE), name, P * WIDTH) for name in "ab")
    for source in (first, second, first):
        for block in blocks(10):
            source.read(block)
    assert METER.drain() == {"read": 3 * P * WIDTH}


def test_a_block_of_another_cut_is_not_mistaken():
    source = CachedSource(MeteredSource(STORE), "a", 10**6)
    source.read(FeatureBlock(0, 0, 10))
    same(source.read(FeatureBlock(0, 0, 20)), STORE.read(FeatureBlock(0, 0, 20)))


def test_weights_of_a_fold_do_not_reach_the_cache():
    source = CachedSource(MeteredSource(STORE), "a", 10**6)
    nothing = weighted_source(source, np.array([1.0, 0, 0, 0, 0, 0]))
    assert not nothing.read(FeatureBlock(0, 0, P)).scale.any()
    same(source.read(FeatureBlock(0, 0, P)), STORE.read(FeatureBlock(0, 0, P)))


def test_columns_that_came_from_elsewhere_are_counted_once():
    piece = Resident(np.zeros((3, 4), np.float32), origin="another process")
    for _ in range(2):
        piece.here()
    assert METER.drain() == {"moved": 48}
    assert piece.origin == PROCESS
    Resident(np.zeros((3, 4), np.float32)).here()
    assert METER.drain() == {}
