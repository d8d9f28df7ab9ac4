from __future__ import annotations

import subprocess
import sys

import numpy as np  # noqa: F401  # loads the BLAS whose threads are counted
from threadpoolctl import threadpool_info

from backbone_dask.threads import one_blas_thread


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_the_limit_holds_until_the_last_user_leaves() -> None:
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


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


def test_a_library_that_is_loaded_later_is_limited_too() -> None:
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "{1}"
