"""Files that are whole or not there."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from backbone_dask.errors import RunDirectoryError


@contextmanager
def published(path: Path) -> Iterator[IO[bytes]]:
    """A stream that becomes `path` only if the block succeeds."""
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.replace(scratch, path)
    except OSError as cause:
        Path(scratch).unlink(missing_ok=True)
        if cause.errno in (errno.ENOSPC, errno.EDQUOT):
            raise RunDirectoryError(f"no space left while writing {path}; make room and use --resume") from cause
        raise
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
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
