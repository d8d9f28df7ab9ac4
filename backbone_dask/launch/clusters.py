"""The one door to a cluster: by a name or an address to a Client, which ends with the block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from distributed import Client

from backbone_dask.errors import InvalidSettingError, UnknownNameError
from backbone_dask.launch.config import read_config


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a launcher: how many workers, its options, and whether all connections are encrypted."""

    kind: str
    workers: int | None
    options: Mapping[str, Any]
    tls: bool


Launcher = Callable[[Request], AbstractContextManager[Client]]

# By name, so that a batch system's library is imported only by those who use it.
LAUNCHERS = {
    "local": "backbone_dask.launch.local",
    "tcp://": "backbone_dask.launch.address",
    "tls://": "backbone_dask.launch.address",
    **dict.fromkeys(("slurm", "pbs", "sge", "lsf"), "backbone_dask.launch.batch"),
    "kubernetes": "backbone_dask.launch.kubernetes",
}


@contextmanager
def cluster(
    kind: str = "local",
    *,
    workers: int | None = None,
    config: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    tls: bool = False,
) -> Iterator[Client]:
    """A Client of the cluster that is asked for, as the active one; leaving the block ends what was started for it.

    Parameters
    ----------
    kind : "local", the address of a running scheduler (tcp://host:port or tls://host:port), "slurm", "pbs", "sge",
        "lsf" or "kubernetes".
    workers : worker processes, batch jobs or pods; for an address, how many to wait for.
    config : a YAML file, or the mapping that it would hold: options of the launcher.
    tls : encrypt and authenticate all connections with temporary certificates.

    Examples
    --------
    >>> from backbone_dask import cluster
    >>> with cluster(workers=1) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    if workers is not None and workers < 1:
        raise InvalidSettingError(f"workers is {workers}; it must be at least 1, or None for the default of {kind}")
    launch = _launcher(kind)
    with launch(Request(kind, workers, read_config(config), tls)) as client:
        yield client


def _launcher(kind: str) -> Launcher:
    scheme, separator, _ = kind.partition("://")
    try:
        home = LAUNCHERS[scheme + separator]
    except KeyError:
        known = ", ".join(f"{name}HOST:PORT" if name.endswith("//") else name for name in LAUNCHERS)
        raise UnknownNameError(f"no cluster is called {kind!r}; use one of: {known}") from None
    launcher: Launcher = import_module(home).launch
    return launcher
