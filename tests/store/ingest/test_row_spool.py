"""Interrupted, resumed, on real workers, and in little memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from distributed import Client, LocalCluster
from row_cases import batches_of, matrix, open_csv, open_svm, put

from backbone_dask.errors import InvalidDataError
from backbone_dask.runtime.executor import DaskExecutor

HERE = Path(__file__).parent


def write_csv(path, n, p, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, p))
    np.savetxt(path, X, delimiter=",", header=",".join(f"g{j}" for j in range(p)), comments="", fmt="%.17g")
    return X


def child(code):
    head = f"import sys\nsys.path.insert(0, {str(HERE)!r})\nfrom row_cases import *\n"
    return [sys.executable, "-c", head + textwrap.dedent(code)]


def finished(scratch):
    return {path: path.stat().st_mtime_ns for path in scratch.rglob("0*.json")}


@pytest.mark.parametrize("packed", [False, True])
def test_a_killed_pass_goes_on(tmp_path, packed):
    X = write_csv(tmp_path / f"t.csv{'.gz' * packed}", 30, 20)
    path, scratch = tmp_path / f"t.csv{'.gz' * packed}", tmp_path / "s"
    code = f"""
    import time
    from backbone_dask.store.ingest import lines
    lines.BATCH_BYTES = lines.MOST_BATCH_BYTES = 1000
    open_csv({str(path)!r}, scratch={str(scratch)!r}, told=lambda *_: time.sleep(0.1))
    """
    process = subprocess.Popen(child(code))
    end = time.monotonic() + 60
    while len(finished(scratch)) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = finished(scratch)
    with pytest.MonkeyPatch.context() as patch:
        batches_of(patch, 1000)
        table = open_csv(path, scratch=scratch)
    after = finished(scratch)
    assert 3 <= len(before) < len(after)
    assert {each: after[each] for each in before} == before
    assert matrix(table).tobytes() == X.tobytes()


def test_what_is_finished_is_not_read_again(tmp_path, monkeypatch):
    batches_of(monkeypatch, 20)
    path = put(tmp_path / "t.csv", "a,b\n" + "1,2.5\n" * 20)
    first = open_csv(path, scratch=tmp_path / "s")
    kept = finished(tmp_path / "s")
    assert matrix(open_csv(path, scratch=tmp_path / "s")).tobytes() == matrix(first).tobytes()
    assert finished(tmp_path / "s") == kept


@pytest.mark.parametrize("change", ["time", "size", "request", "batches"])
def test_another_file_or_request_begins_anew(tmp_path, monkeypatch, change):
    text = "a,b\n1,2\n3,4\n"
    path = put(tmp_path / "t.csv", text)
    open_csv(path, scratch=tmp_path / "s")
    kept = finished(tmp_path / "s")
    if change == "batches":
        batches_of(monkeypatch, 4)
    put(tmp_path / "t.csv", text.replace("4", "44" if change == "size" else "5"))
    if change == "time":
        os.utime(path, (1, 1))
    table = open_csv(path, scratch=tmp_path / "s", dtype="float32" if change == "request" else None)
    assert matrix(table)[1, 1] == (44 if change == "size" else 5)
    assert len(finished(tmp_path / "s")) > len(kept)


def test_a_batch_that_was_cut_is_made_again(tmp_path):
    path = put(tmp_path / "t.csv", "a,b\n1,2.5\n3,4\n")
    open_csv(path, scratch=tmp_path / "s")
    (values,) = (tmp_path / "s").rglob("*.values")
    values.write_bytes(values.read_bytes()[:-1])
    assert matrix(open_csv(path, scratch=tmp_path / "s")).tolist() == [[1, 2.5], [3, 4]]


@pytest.fixture(scope="module")
def executor():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        yield DaskExecutor(client)


@pytest.mark.parametrize("packed", [False, True])
def test_workers_give_the_same_bits(tmp_path, monkeypatch, executor, packed):
    batches_of(monkeypatch, 2000)
    X = write_csv(tmp_path / f"t.csv{'.gz' * packed}", 40, 20)
    table = open_csv(tmp_path / f"t.csv{'.gz' * packed}", scratch=tmp_path / "s", executor=executor)
    assert matrix(table).tobytes() == X.tobytes()


def test_svmlight_on_workers(tmp_path, monkeypatch, executor):
    batches_of(monkeypatch, 30)
    path = put(tmp_path / "t.svm", "".join(f"{i} 1:{i} {i + 2}:1\n" for i in range(20)))
    table = open_svm(path, scratch=tmp_path / "s", executor=executor)
    assert matrix(table)[:, 0].tolist() == [*map(float, table.fields["y"])] == list(range(20))


def test_an_error_on_a_worker_arrives_whole(tmp_path, monkeypatch, executor):
    batches_of(monkeypatch, 20)
    path = put(tmp_path / "t.csv", "a,b\n" + "1,2\n" * 30 + "1,x\n" + "1,2\n" * 30)
    with pytest.raises(InvalidDataError, match=rf"^{path}, line 32, column 'b': 'x' is not a number; correct the cell"):
        open_csv(path, scratch=tmp_path / "s", executor=executor)


PEAK = """
import re
from backbone_dask.store.ingest import lines
lines.BATCH_BYTES = lines.MOST_BATCH_BYTES = 1 << 20
table = {opener}({path!r}, scratch={scratch!r})
for start in range(0, table.n_features, 100):
    table.read(FeatureBlock(0, start, min(start + 100, table.n_features)))
print(table.n_samples, re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read()).group(1))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize("opener", ["open_csv", "open_svm"])
def test_memory_is_flat(tmp_path, opener):
    """Six times the text, the same peak: what was added is much more than what the peak may grow by."""
    line = (
        "1 " + " ".join(f"{j}:{j}.123456" for j in range(1, 1500)) if opener == "open_svm" else "1" + ",0.123456" * 1500
    )
    peaks = []
    # The first compiles the kernels, where that was not done before.
    for n in (2, 300, 1800):
        path = put(tmp_path / f"{n}.txt", f"{line}\n" * n)
        code = PEAK.format(opener=opener, path=path, scratch=str(tmp_path / f"s{n}"))
        done = subprocess.run(child(code), capture_output=True, text=True, check=True, timeout=120)
        samples, kilobytes = map(int, done.stdout.split())
        assert samples == n
        peaks.append(kilobytes << 10)
    assert peaks[2] - peaks[1] < 1500 * len(line) / 4
