"""Temporary certificates in files, for workers that are started by a command on other machines."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distributed.security import Security

from backbone_dask.errors import ClusterError
from backbone_dask.launch.listening import LOOPBACK
from backbone_dask.launch.temporary_tls import temporary_tls

ROLES = ("client", "scheduler", "worker")
NAMES = ("tls_ca_file", *(f"tls_{role}_{part}" for role in ROLES for part in ("cert", "key")))


@contextmanager
def certificates_in_files(shared: str) -> Iterator[Security]:
    """Certificates in a folder of their own that only this user can read; it is gone after the block."""
    try:
        folder = tempfile.TemporaryDirectory(prefix=".backbone-dask-tls-", dir=os.path.expanduser(shared))
    except OSError as cause:
        raise ClusterError(f"certificates cannot be written into {shared} ({cause.strerror})") from cause
    with folder as place, temporary_tls({LOOPBACK}) as made:
        yield Security(require_encryption=True, **{name: _written(Path(place), name, made) for name in NAMES})


def _written(folder: Path, name: str, made: Security) -> str:
    path = folder / f"{name}.pem"
    path.write_text(getattr(made, name))
    return str(path)
