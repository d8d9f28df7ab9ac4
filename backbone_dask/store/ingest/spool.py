"""What is finished of a table that is being turned round: one file a batch, whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store import locate

# Raised when what is in a spool changes its form.
_VERSION = 1


@contextmanager
def published(path: str) -> Iterator[IO[bytes]]:
    """A stream that becomes `path` only if the block succeeds."""
    scratch = f"{path}.{uuid4().hex}"
    try:
        with locate.disk_errors(path):
            with open(scratch, "xb") as stream:
                yield stream
            os.replace(scratch, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(scratch)
        raise


@dataclass(frozen=True, slots=True)
class Spool:
    """A folder of batches that belongs to the same files and the same request."""

    folder: str

    @classmethod
    def of(cls, scratch: str, request: dict[str, Any]) -> Spool:
        """The spool of a request; another request, or a file that changed, has another one."""
        text = json.dumps({"version": _VERSION, **request}, sort_keys=True)
        folder = os.path.join(os.path.abspath(scratch), f"rows-{hashlib.sha256(text.encode()).hexdigest()[:24]}")
        with locate.disk_errors(folder):
            os.makedirs(folder, exist_ok=True)
        return cls(folder)

    def path(self, index: int, what: str) -> str:
        return os.path.join(self.folder, f"{index:06d}.{what}")

    def find(self, index: int) -> dict[str, Any] | None:
        """The record of a batch that is finished; None if it is not, or its arrays are not as long as they were."""
        try:
            with open(self.path(index, "json"), "rb") as stream:
                record: dict[str, Any] = json.load(stream)
            sizes = {what: os.path.getsize(self.path(index, what)) for what in record["bytes"]}
        except FileNotFoundError:
            return None
        return record if sizes == record["bytes"] else None

    def keep(
        self, index: int, record: dict[str, Any], texts: dict[str, list[str]], arrays: dict[str, NDArray[Any]]
    ) -> dict[str, Any]:
        """Write a batch; its record comes last, and says that all is there."""
        with published(self.path(index, "texts")) as stream:
            stream.write(json.dumps(texts).encode())
        for what, values in arrays.items():
            with published(self.path(index, what)) as stream:
                # `tofile` says that a disk is full in words of its own, without the number of the error.
                stream.write(np.ascontiguousarray(values).data)
        whole = {**record, "bytes": {what: values.nbytes for what, values in arrays.items()}}
        with published(self.path(index, "json")) as stream:
            stream.write(json.dumps(whole).encode())
        return whole

    def texts(self, count: int) -> dict[str, list[str]]:
        """What `count` batches set apart, one below another."""
        found: dict[str, list[str]] = {}
        for index in range(count):
            with open(self.path(index, "texts"), "rb") as stream:
                for name, cells in json.load(stream).items():
                    found.setdefault(name, []).extend(cells)
        return found

    def read(self, index: int, what: str, dtype: str, start: int, count: int) -> NDArray[Any]:
        """A run of one array of a batch."""
        return np.fromfile(self.path(index, what), dtype, count, offset=start * np.dtype(dtype).itemsize)
