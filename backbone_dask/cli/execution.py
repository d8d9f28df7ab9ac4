"""The executor that a command runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from backbone_dask.launch.local import available_cores, local_cluster
from backbone_dask.protocols import Executor
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor


@contextmanager
def executor_of(workers: int | None) -> Iterator[Executor]:
    """This process for 0 workers, else a LocalCluster that ends with the block."""
    if workers == 0:
        yield SerialExecutor()
        return
    with local_cluster(workers) as client:
        yield DaskExecutor(client)


def workers_of(workers: int | None) -> int:
    """How many processes that is."""
    return available_cores() if workers is None else max(1, workers)
