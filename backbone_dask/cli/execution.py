"""The executor that a command runs on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from backbone_dask.cli.options import Place
from backbone_dask.launch.clusters import cluster
from backbone_dask.launch.local import available_cores
from backbone_dask.protocols import Executor
from backbone_dask.runtime.executor import DaskExecutor, SerialExecutor


@contextmanager
def executor_of(place: Place) -> Iterator[Executor]:
    """This process for 0 workers, else a cluster whose connection ends with the block."""
    if place.workers == 0:
        _require_plain(place)
        yield SerialExecutor(keeps_blocks=place.keep_blocks)
        return
    with cluster(place.cluster, workers=place.workers, config=place.cluster_config, tls=place.tls) as client:
        yield DaskExecutor(client, keeps_blocks=place.keep_blocks)


def _require_plain(place: Place) -> None:
    if not place.is_local or place.tls or place.cluster_config:
        raise click.UsageError("--workers 0 runs in this process, without a cluster; leave the other options out")


def workers_of(workers: int | None) -> int:
    """How many processes that is."""
    return available_cores() if workers is None else max(1, workers)
