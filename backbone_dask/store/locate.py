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
from zarr.storage import LocalStore

from backbone_dask.errors import DiskSpaceError, StoreError
from backbone_dask.store.remote import RemoteStore

SCRATCH = ".partial"
ASIDE = ".replaced"
WORKSHOP = "workshop"
"""A folder in a half-written store, for what is made on the way to it."""


def is_url(location: str) -> bool:
    return "://" in location


def plain(location: str | os.PathLike[str]) -> str:
    """A local path without its scheme, or a URL as it is; no slash at the end."""
    text = os.fspath(location).removeprefix("file://").removeprefix("local://").rstrip("/")
    return text if is_url(text) else os.path.expanduser(text)


def absolute(location: str) -> str:
    """The same place for a process that works in another folder."""
    return location if is_url(location) else os.path.abspath(location)


def same(one: str, other: str) -> bool:
    """Whether two locations are one place."""
    return one == other if is_url(one) or is_url(other) else os.path.realpath(one) == os.path.realpath(other)


def beside(path: str, location: str) -> str:
    """A path or URL that may be relative to the folder that `location` is in."""
    if is_url(path) or os.path.isabs(path):
        return path
    folder = location.rpartition("/")[0] if is_url(location) else os.path.dirname(absolute(location))
    return joined(folder, path) if is_url(location) else os.path.normpath(joined(folder, path))


def joined(path: str, name: str) -> str:
    return f"{path}/{name}" if path and name else path or name


def zarr_store(location: str, *, read_only: bool = False) -> Any:
    """The zarr store behind a path or any URL that fsspec opens."""
    if is_url(location):
        return RemoteStore.from_url(location, read_only=read_only)
    return LocalStore(absolute(location), read_only=read_only)


def filesystem(location: str) -> tuple[Any, str]:
    """The fsspec file system of a location, and the path in it."""
    try:
        system, path = fsspec.core.url_to_fs(absolute(location))
    except (ValueError, ImportError) as cause:
        raise StoreError(f"{location} cannot be opened: {cause}") from cause
    return system, path


def exists(location: str, name: str = "") -> bool:
    """Whether something is there, or a file of this name in it."""
    system, path = filesystem(location)
    return bool(system.exists(joined(path, name)))


def is_file(location: str) -> bool:
    system, path = filesystem(location)
    return bool(system.isfile(path))


def stamp(location: str, name: str) -> tuple[int, int] | None:
    """Which file has this name on a local disk, so that another in its place is noticed; None if that is not known."""
    if is_url(location):
        return None
    try:
        found = os.stat(joined(absolute(location), name))
    except (FileNotFoundError, NotADirectoryError):
        return (0, 0)
    return found.st_ino, found.st_mtime_ns


def remove(location: str) -> None:
    system, path = filesystem(location)
    if system.exists(path):
        system.rm(path, recursive=True)


def remove_all_but(location: str, name: str) -> None:
    """Empty a folder, except for what has this name."""
    system, path = filesystem(location)
    for each in system.ls(path, detail=False) if system.exists(path) else ():
        if os.path.basename(each.rstrip("/")) != name:
            system.rm(each, recursive=True)


def publish(scratch: str, final: str) -> None:
    """Give a finished store its final name; the one that has it now is there until then."""
    if is_url(final):
        _copy(scratch, final)
    else:
        _rename(scratch, final)


def publish_file(scratch: str, final: str) -> None:
    """The same for a single file."""
    if not is_url(final):
        _rename(scratch, final)
        return
    remove(final)
    system, path = filesystem(scratch)
    system.mv(path, filesystem(final)[1])


def _rename(scratch: str, final: str) -> None:
    """Two renames with the old one moved aside: whatever happens, both are whole under some name."""
    aside = final + ASIDE
    if os.path.lexists(final):
        remove(aside)
        os.rename(final, aside)
    try:
        os.rename(scratch, final)
    except OSError:
        if os.path.lexists(aside):
            os.rename(aside, final)
        raise
    remove(aside)


def _copy(scratch: str, final: str) -> None:
    """Where nothing can be renamed: the root document goes first and comes last, so no reader meets a mixture."""
    system, source = filesystem(scratch)
    target, root = filesystem(final)[1], "/zarr.json"
    if system.exists(target + root):
        system.rm_file(target + root)
    remove(final)
    names = [path[len(source) :] for path in system.find(source) if not path.startswith(f"{source}/parts/")]
    rest = [name for name in names if name != root]
    system.copy([source + name for name in rest], [target + name for name in rest])
    system.cp_file(source + root, target + root)
    remove(scratch)


def require_space(location: str, n_bytes: int) -> None:
    """Refuse before writing what a local disk cannot hold."""
    if is_url(location):
        return
    parent = next(folder for folder in Path(absolute(location)).parents if folder.exists())
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


def remnants(location: str) -> str:
    """What a killed writer left beside a store that is not there, as advice."""
    hints = {
        SCRATCH: f"; {location}{SCRATCH} is half-written: write the same store again, which goes on from there",
        ASIDE: f"; {location}{ASIDE} is the one it was to replace, whole: rename it to have it back",
    }
    return "".join(hint for suffix, hint in hints.items() if exists(location + suffix))
