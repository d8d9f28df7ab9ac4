"""What is made from a file on the way to a store: a folder that has its name once it is whole, and is found again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import locate
from backbone_dask.store.ingest.table import Workshop


def require_local_file(path: str) -> None:
    if locate.is_url(path) or not os.path.isfile(path):
        raise InvalidDataError(f"{path} is no file on this machine; download it, or correct the path")


def place_for(path: str, workshop: Workshop) -> str:
    """Where to keep what is made from a file: called after its size and time, so that of an older file is not found."""
    if locate.is_url(workshop.scratch):
        raise InvalidDataError(f"{path} is converted on a local disk first; write the store to a path, then copy it")
    os.makedirs(workshop.scratch, exist_ok=True)
    found = os.stat(path)
    about = repr((os.path.abspath(path), found.st_size, found.st_mtime_ns))
    return f"{workshop.scratch}/{hashlib.sha256(about.encode()).hexdigest()[:16]}"


def made_once(final: str, make: Callable[[str], None]) -> str:
    """The folder that `make` writes, under its final name; what a killed writer left is made anew."""
    if not os.path.isdir(final):
        scratch = final + locate.SCRATCH
        with locate.disk_errors(final):
            locate.remove(scratch)
            make(scratch)
            os.rename(scratch, final)
    return final
