"""Part files of a draft: what is known of a partition beside its columns. It says that the partition is whole."""

from __future__ import annotations

import io
import os
import uuid
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import IncompleteStoreError
from backbone_dask.store import locate

Part: TypeAlias = dict[str, NDArray[Any]]
FOLDER = "parts"


def finished(scratch: str) -> set[str]:
    """Names of the part files that are there."""
    system, folder = _folder(scratch)
    # Other machines write too: a listing from a cache would miss their parts.
    system.invalidate_cache()
    return {os.path.basename(path) for path in system.ls(folder, detail=False)} if system.exists(folder) else set()


def file_name(index: int) -> str:
    return f"{index:07d}.npz"


def save_part(scratch: str, index: int, part: Part) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **part)
    system, folder = _folder(scratch)
    system.makedirs(folder, exist_ok=True)
    unfinished = f"{folder}/.{uuid.uuid4().hex}"
    system.pipe_file(unfinished, buffer.getvalue())
    system.mv(unfinished, f"{folder}/{file_name(index)}")


def load_part(scratch: str, index: int, *members: str) -> Part:
    """Some members of a part file. One that is damaged is removed, so that its partition is pending again."""
    system, folder = _folder(scratch)
    path = f"{folder}/{file_name(index)}"
    try:
        with system.open(path, "rb") as stream, np.load(stream) as part:
            return {name: part[name] for name in members}
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as cause:
        system.rm_file(path)
        raise IncompleteStoreError(
            f"{path} was damaged ({cause}); write partition {index} again, then finalise"
        ) from cause


def pieces(parts: Iterable[Part], rows: int) -> Iterator[Part]:
    """The same rows in pieces of `rows`, the last one shorter: memory stays flat however many parts there are."""
    held: list[Part] = []
    n_held = 0
    for part in parts:
        held.append(part)
        n_held += len(part["mean"])
        while n_held >= rows:
            whole = _joined(held)
            yield {name: values[:rows] for name, values in whole.items()}
            held, n_held = [{name: values[rows:] for name, values in whole.items()}], n_held - rows
    if n_held:
        yield _joined(held)


def fingerprint(values: NDArray[Any]) -> NDArray[np.uint32]:
    """Tells columns from the same columns with their samples in another order, which have the same means and scales."""
    ends = np.ascontiguousarray(values[[0, -1]])
    return np.array([zlib.crc32(row.data) for row in ends], np.uint32)


def _joined(held: list[Part]) -> Part:
    return {name: np.concatenate([part[name] for part in held]) for name in held[0]}


def _folder(scratch: str) -> tuple[Any, str]:
    system, path = locate.filesystem(scratch)
    return system, f"{path}/{FOLDER}"
