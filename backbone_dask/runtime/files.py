"""Files that are whole or not there."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from backbone_dask.errors import RunDirectoryError


@contextmanager
def published(path: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes `path` only if the block succeeds."""
    if not path.parent.is_dir():
        raise RunDirectoryError(f"{path} cannot be written: there is no folder {path.parent}; make it first")
    scratch = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with full_disk_explained(path):
            with scratch.open("xb") as stream:
                yield stream
            scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


@contextmanager
def full_disk_explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as cause:
        if cause.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunDirectoryError(f"no space left while writing {path}; make room and use --resume") from cause
        raise


def write_json(path: Path, content: Any) -> None:
    with published(path) as stream:
        stream.write(json.dumps(content, indent=2, allow_nan=False).encode() + b"\n")


def write_text(path: Path, content: str) -> None:
    with published(path) as stream:
        stream.write(content.encode())


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except FileNotFoundError as cause:
        raise RunDirectoryError(f"there is no {path.name} in {path.parent}; is it a finished run?") from cause
    except ValueError as cause:
        raise RunDirectoryError(f"{path} is damaged ({cause})") from cause
