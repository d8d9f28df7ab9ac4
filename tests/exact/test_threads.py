from __future__ import annotations

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
