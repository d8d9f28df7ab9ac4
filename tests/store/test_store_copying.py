"""Copies of a store by an executor: the same files, whoever writes them."""

from __future__ import annotations

import pytest
from store_cases import contents, in_memory, table

from backbone_dask.errors import StoreError
from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store import InteractionStore, Recipe, VirtualStore, ZarrStore, schema, write_store
from backbone_dask.store.copying import copy_partition, draft_of


class Recording(SerialExecutor):
    """Counts what it is asked to do; handles are numbers, so that nothing uses a value in the wrong process."""

    def __init__(self):
        self.shared, self.calls = [], 0

    def share(self, value):
        self.shared.append(value)
        return len(self.shared) - 1

    def map(self, function, items):
        for handle, *rest in items:
            self.calls += 1
            yield function(self.shared[handle], *rest)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 1_000)


@pytest.mark.parametrize("coding", ["gaussian", "genotype"])
def test_an_executor_writes_what_one_process_writes(tmp_path, coding):
    source = VirtualStore(Recipe(kind="linear", n_samples=20, n_features=300, n_relevant=3, rho=0.5, coding=coding))
    executor, seen = Recording(), []
    write_store(source, tmp_path / "one")
    write_store(source, tmp_path / "two", executor=executor, listen=lambda done, total: seen.append((done, total)))
    assert contents(ZarrStore(tmp_path / "two")) == contents(ZarrStore(tmp_path / "one"))
    assert executor.calls == len(seen) == ZarrStore(tmp_path / "one").schema.n_partitions > 5
    assert executor.shared == [source]
    assert seen[-1] == (300, 300)
    assert seen == sorted(seen)


@pytest.mark.parametrize("wrap", [lambda base: base, InteractionStore])
def test_a_table_of_this_process_is_written_by_it(tmp_path, wrap):
    source, executor = wrap(in_memory(table("int8", 12, 30))), Recording()
    write_store(source, tmp_path / "s", executor=executor)
    assert executor.calls == 0
    assert ZarrStore(tmp_path / "s").n_features == source.n_features


def test_an_executor_goes_on_where_another_writer_stopped(tmp_path):
    source = VirtualStore(Recipe(kind="linear", n_samples=20, n_features=300, n_relevant=3))
    draft = draft_of(source, tmp_path / "s")
    for index in (0, 3):
        copy_partition(source, draft, index)
    chunk = tmp_path / "s.partial" / "X" / "c" / "3" / "0"
    before = chunk.stat().st_mtime_ns
    write_store(source, tmp_path / "s", executor=Recording())
    assert (tmp_path / "s" / "X" / "c" / "3" / "0").stat().st_mtime_ns == before
    write_store(source, tmp_path / "whole")
    assert contents(ZarrStore(tmp_path / "s")) == contents(ZarrStore(tmp_path / "whole"))


def test_an_error_of_a_worker_reaches_the_caller_and_leaves_no_store(tmp_path):
    source = VirtualStore(Recipe(kind="linear", n_samples=20, n_features=300, n_relevant=3))

    class Failing(Recording):
        def map(self, function, items):
            for done, item in enumerate(super().map(function, items)):
                if done == 2:
                    raise StoreError("the disk is gone")
                yield item

    with pytest.raises(StoreError, match="the disk is gone"):
        write_store(source, tmp_path / "s", executor=Failing())
    assert not (tmp_path / "s").exists()
    write_store(source, tmp_path / "s")
    assert ZarrStore(tmp_path / "s").n_features == 300
