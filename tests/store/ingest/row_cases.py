"""Text tables opened here, whole or in many batches."""

from __future__ import annotations

import numpy as np

from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store.ingest import csv, lines, svmlight
from backbone_dask.store.ingest.table import Wanted, Workshop
from backbone_dask.values import FeatureBlock


def workshop(folder, told=lambda *_: None, executor=None):
    return Workshop(str(folder), executor or SerialExecutor(), told)


def put(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def open_csv(*paths, scratch, told=lambda *_: None, executor=None, **wanted):
    return csv.open_table(tuple(map(str, paths)), Wanted(**wanted), workshop(scratch, told, executor))


def open_svm(*paths, scratch, told=lambda *_: None, executor=None, **wanted):
    return svmlight.open_table(tuple(map(str, paths)), Wanted(**wanted), workshop(scratch, told, executor))


def batches_of(monkeypatch, n_bytes):
    """Cut text into batches of so many bytes from now on."""
    monkeypatch.setattr(lines, "BATCH_BYTES", n_bytes)
    monkeypatch.setattr(lines, "MOST_BATCH_BYTES", n_bytes)


def matrix(table, step=None):
    """All values, samples x features, read in blocks of `step` features."""
    step = step or table.n_features
    starts = range(0, table.n_features, step)
    blocks = [FeatureBlock(i, start, min(start + step, table.n_features)) for i, start in enumerate(starts)]
    read = [table.read(block) for block in blocks]
    assert {part.dtype for part in read} == {table.dtype}
    return np.concatenate(read).T


def names(table):
    return table.names(0, table.n_features)
