"""Paths and URLs: where a store is, and how something half-written gets its final name."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import zarr
from zarr.storage import FsspecStore, LocalStore

from backbone_dask.errors import DiskSpaceError, StoreError


def is_url(location: str) -> bool:
    return "://" in location and not location.startswith("file://")


def plain(location: str | os.PathLike[str]) -> str:
    """A local path without its scheme, or a URL as it is; no slash at the end."""
    return os.fspath(location).removeprefix("file://").rstrip("/")


def zarr_store(location: str, *, read_only: bool = False) -> Any:
    """The zarr store behind a path or any URL that fsspec opens."""
    if is_url(location):
        return FsspecStore.from_url(location, read_only=read_only)
    return LocalStore(location, read_only=read_only)


def filesystem(location: str) -> tuple[Any, str]:
    """The fsspec file system of a location, and the path in it."""
    system, path = fsspec.core.url_to_fs(location)
    return system, path


def exists(location: str) -> bool:
    system, path = filesystem(location)
    return bool(system.exists(path))


def remove(location: str) -> None:
    system, path = filesystem(location)
    if system.exists(path):
        system.rm(path, recursive=True)


def publish(scratch: str, final: str) -> None:
    """Give what is finished its final name: atomic on a local disk, a move elsewhere."""
    if not is_url(final):
        os.rename(scratch, final)
        return
    system, source = filesystem(scratch)
    system.mv(source, filesystem(final)[1], recursive=True)


def require_space(location: str, n_bytes: int) -> None:
    """Refuse before writing what a local disk cannot hold."""
    if is_url(location):
        return
    parent = next(folder for folder in Path(location).absolute().parents if folder.exists())
    free = shutil.disk_usage(parent).free
    if n_bytes > free:
        raise DiskSpaceError(
            f"{location} needs {n_bytes / 2**30:.2f} GiB, {parent} has {free / 2**30:.2f} GiB free; "
            "make room, or choose another disk"
        )


@contextmanager
def disk_errors(location: str) -> Iterator[None]:
    """Turn a full disk into a sentence."""
    try:
        yield
    except OSError as cause:
        if cause.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskSpaceError(
                f"no space left while writing {location}; make room and go on: what is written so far is kept"
            ) from cause
        raise


def open_group(location: str) -> zarr.Group:
    """The root group of a store, read-only."""
    try:
        return zarr.open_group(zarr_store(location, read_only=True), mode="r")
    except (FileNotFoundError, KeyError) as cause:
        hint = f"; {location}.partial is half-written: finalise it or write it again" if exists(location + ".partial") else ""
        raise StoreError(f"there is no store at {location}{hint}") from cause
