"""Workers have one thread; Numba in the process that starts them keeps its own."""

import os
import subprocess
import sys

from backbone_dask import cluster

CODE = """
import numba, numpy
from backbone_dask import cluster

@numba.njit(parallel=True)
def doubled(values):
    for at in numba.prange(values.size):
        values[at] *= 2
    return values

if __name__ == "__main__":
    threads = numba.get_num_threads()
    with cluster(workers=1):
        assert doubled(numpy.ones(4)).tolist() == [2.0] * 4
    assert doubled(numpy.ones(4, numpy.int64)).tolist() == [2] * 4
    assert numba.get_num_threads() == threads
"""


def variables():
    return {name: os.environ.get(f"{name}_NUM_THREADS") for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def test_workers_have_one_thread_and_numba_here_keeps_its_own():
    before = os.environ.get("NUMBA_NUM_THREADS")
    with cluster(workers=1) as client:
        (there,) = client.run(variables).values()
        assert os.environ.get("NUMBA_NUM_THREADS") == before
    assert set(there.values()) == {"1"}
    assert os.environ.get("NUMBA_NUM_THREADS") == before


def test_a_user_of_numba_can_compile_beside_a_cluster(tmp_path):
    """With threads of its own, Numba refuses to compile once its variable has changed."""
    script = tmp_path / "script.py"
    script.write_text(CODE)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_NUM_THREADS"}
    found = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
