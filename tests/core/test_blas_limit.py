"""One BLAS thread: inside, outside, one inside the other, and for libraries that come later."""

from __future__ import annotations

import subprocess
import sys

from threadpoolctl import threadpool_info

from backbone_dask.threads import one_blas_thread

LATER = """
from threadpoolctl import threadpool_info
from backbone_dask.threads import one_blas_thread
with one_blas_thread():
    before = len(threadpool_info())
import scipy.linalg
assert len(threadpool_info()) > before, "nothing has come"
with one_blas_thread():
    print({each["num_threads"] for each in threadpool_info()})
"""


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_the_last_one_out_lifts_the_limit():
    outside = blas_threads()
    with one_blas_thread():
        assert set(blas_threads()) == {1}
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == outside


def test_a_library_that_is_loaded_later_is_limited_too():
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"
