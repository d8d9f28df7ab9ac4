"""Interruptions, and memory: real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from ingest_cases import ids, matrix, numbers, parquet

from backbone_dask import ingest
from backbone_dask.errors import InvalidDataError
from backbone_dask.store import open_store, schema
from backbone_dask.store.ingest import parquet as parquet_format

SLOW = """
import time
from backbone_dask.store import schema, writer
from backbone_dask.cli.main import main
schema.CHUNK_BYTES = 2_000
save = writer.parts.save_part
def slowly(*arguments):
    save(*arguments)
    time.sleep(0.1)
writer.parts.save_part = slowly
import sys
main(sys.argv[1:])
"""
PEAK = """
import sys
from backbone_dask import ingest
ingest(sys.argv[1], sys.argv[2])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def started(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def parts(out):
    folder = out.with_name(f"{out.name}.partial") / "parts"
    return sorted(folder.glob("0*.npz")) if folder.exists() else []


def await_parts(process, out, count):
    until = time.monotonic() + 60
    while len(parts(out)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_command_leaves_only_a_draft_and_goes_on(tmp_path, monkeypatch, blow):
    X, out = numbers(20, 300), tmp_path / "out.zarr"
    table = parquet(tmp_path / "a.parquet", X, id=ids(20), y=np.arange(20.0))
    asked = ["ingest", table, out, "--target", "y", "--sample-id", "id", "--quiet"]
    process = started(SLOW, *asked)
    await_parts(process, out, 3)
    process.send_signal(blow)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == (-9 if blow == signal.SIGKILL else 130)
    assert "ingest when called again" in said or blow == signal.SIGKILL
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "out.zarr.partial"]
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out.zarr.partial/X/c").iterdir()}
    assert 3 <= len(before) < 12
    done = {int(path.stem) for path in parts(out)}
    monkeypatch.setattr(schema, "CHUNK_BYTES", 2_000)
    assert ingest(table, out, target="y", sample_id="id").n_features == 300
    np.testing.assert_array_equal(matrix(out), X)
    assert open_store(out).sample_ids == ids(20)
    for index in done:
        assert (out / "X/c" / str(index)).stat().st_mtime_ns == before[str(index)]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.parquet", "out.zarr"]
    assert not (out / "workshop").exists()


class InterruptedReadError(Exception):
    pass


def stopped_after(monkeypatch, blocks):
    """Reading ends after some blocks; the answer counts what was read."""
    read, seen = parquet_format.ParquetTable.read, []

    def counted(table, block):
        if len(seen) == blocks:
            raise InterruptedReadError
        seen.append(block.start)
        return read(table, block)

    monkeypatch.setattr(parquet_format.ParquetTable, "read", counted)
    return seen


def interrupted(table, out, monkeypatch):
    with monkeypatch.context() as patch:
        stopped_after(patch, 2)
        with pytest.raises(InterruptedReadError):
            ingest(table, out)


def test_what_is_finished_is_not_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 240)
    table, out = parquet(tmp_path / "a.parquet", numbers()), tmp_path / "out.zarr"
    interrupted(table, out, monkeypatch)
    with monkeypatch.context() as patch:
        seen = stopped_after(patch, 99)
        ingest(table, out)
    assert seen == [10, 15, 20, 25]
    np.testing.assert_array_equal(matrix(out), numbers())


def test_a_changed_file_or_another_request_begins_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "CHUNK_BYTES", 240)
    table, out = parquet(tmp_path / "a.parquet", numbers()), tmp_path / "out.zarr"
    for change in (lambda: parquet(table, numbers(seed=1)), lambda: os.utime(table, ns=(1, 1)), lambda: None):
        interrupted(table, out, monkeypatch)
        change()
    with monkeypatch.context() as patch:
        seen = stopped_after(patch, 99)
        ingest(table, out, missing="mean")
    assert seen == [0, 5, 10, 15, 20, 25]
    np.testing.assert_array_equal(matrix(out), numbers(seed=1))


def test_a_refusal_keeps_the_store_that_was_to_be_replaced(tmp_path):
    out = tmp_path / "out.zarr"
    ingest(parquet(tmp_path / "a.parquet", numbers()), out)
    bad = numbers()
    bad[3, 7] = np.nan
    with pytest.raises(InvalidDataError, match=r"feature 7 \('g7'\) of .*b\.parquet contains NaN in 1 of 12 samples"):
        ingest(parquet(tmp_path / "b.parquet", bad), out, overwrite=True)
    np.testing.assert_array_equal(matrix(out), numbers())
    ingest(tmp_path / "b.parquet", out, overwrite=True, missing="mean")
    assert open_store(out).missing_counts().sum() == 1


def peak_megabytes(source, out):
    answer, said = (process := started(PEAK, source, out)).communicate(timeout=120)
    assert process.returncode == 0, said
    return int(answer) / 1e3


def test_memory_does_not_grow_with_the_table(tmp_path):
    rng = np.random.default_rng(0)
    peaks = []
    for n_features in (500, 4_000):
        X = rng.standard_normal((n_features, 8_000), np.float32).T
        source = parquet(tmp_path / f"{n_features}.parquet", X)
        peaks.append(peak_megabytes(source, tmp_path / f"{n_features}.zarr"))
    # 16 MB and 128 MB of values.
    assert peaks[1] - peaks[0] < 70, peaks
