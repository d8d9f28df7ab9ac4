"""Text files, packed or not, as batches of whole lines that workers can read on their own."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError, StoreError
from backbone_dask.store import locate
from backbone_dask.store.ingest.spool import published

# Enough for a task to be worth its overhead, and for runs of features that are worth a read.
BATCH_BYTES, BATCH_LINES, MOST_BATCH_BYTES = 32 << 20, 32, 256 << 20
_PACKED = b"\x1f\x8b"
_PEEK, _MORE = 1 << 16, 1 << 20
# Enough to tell one line that is wrong from a way to write them.
_LOOKED_LINES, _LOOKED_BYTES = 6, 8 << 20
_MARK = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines that begin in the bytes [start, stop) of a plain file.

    Attributes
    ----------
    path : the file to read.
    called : what people call it: the packed file, where this is a piece of it.
    before : lines of the packed file before this piece.
    done : bytes of that file that are read when these lines are.
    """

    path: str
    start: int
    stop: int
    called: str
    before: int = 0
    done: int = 0

    def read(self) -> tuple[NDArray[np.uint8], int]:
        """The bytes of these lines, and where in the file they begin."""
        begin = max(self.start - 1, 0)
        with opened(self.path) as stream:
            stream.seek(begin)
            text = stream.read(self.stop - begin)
            # A line begins at `start` if the byte before ends one.
            skipped = text.find(b"\n") + 1 if self.start else len(_MARK) * text.startswith(_MARK)
            if (self.start and not skipped) or skipped == len(text):
                return np.empty(0, np.uint8), self.stop
            rest = b"".join(_rest_of_line(stream, text))
        return np.frombuffer(text + rest if rest else text, np.uint8)[skipped:], begin + skipped

    def number(self, at: int) -> int:
        """The number of the line that byte `at` of the file is in, as an editor counts."""
        with opened(self.path) as stream:
            return self.before + 1 + sum(part.count(b"\n") for part in _parts(stream, at))

    def discard(self) -> None:
        """Remove what was unpacked for these lines."""
        if self.path != self.called:
            with suppress(FileNotFoundError):
                os.unlink(self.path)


def _rest_of_line(stream: IO[bytes], text: bytes) -> Iterator[bytes]:
    last = text
    while last and not last.endswith(b"\n"):
        last = stream.read(_MORE)
        end = last.find(b"\n") + 1
        yield last[:end] if end else last
        if end:
            return


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A file as it lies there; a sentence where it cannot be opened."""
    try:
        system, inside = locate.filesystem(path)
        stream = system.open(inside, "rb")
    except FileNotFoundError as cause:
        raise InvalidDataError(f"there is no file {path}; check its name") from cause
    except (OSError, StoreError) as cause:
        raise InvalidDataError(f"{path} cannot be read ({cause}); a text file is needed") from cause
    with closing(stream):
        yield stream


def is_packed(path: str) -> bool:
    """Whether a file is gzip, whatever it is called."""
    with opened(path) as stream:
        return stream.read(len(_PACKED)) == _PACKED


@contextmanager
def unpacked(path: str) -> Iterator[Any]:
    """The text in a file; a sentence where it is broken."""
    packed = is_packed(path)
    with opened(path) as stream, _broken_explained(path):
        yield gzip.GzipFile(fileobj=stream, mode="rb") if packed else stream


@contextmanager
def _broken_explained(path: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as cause:
        raise InvalidDataError(f"{path} is a broken gzip file ({cause}); copy or download it again") from cause


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first lines of a file that are not blank, and how many bytes and lines come before each."""

    lines: tuple[bytes, ...]
    starts: tuple[int, ...]
    before: tuple[int, ...]


def beginning(path: str, needed: str) -> Beginning:
    """Look at the first lines, two if they are long; what is not text, or empty, is refused: `needed` says what is."""
    lines, starts, before, at = [], [], [], 0
    with unpacked(path) as stream:
        _require_text(path, stream.read(_PEEK))
        stream.seek(0)
        for count, line in enumerate(iter(stream.readline, b"")):
            if line.strip():
                lines.append(line.rstrip(b"\r\n"))
                starts.append(at)
                before.append(count)
            at += len(line)
            if len(lines) == _LOOKED_LINES or (len(lines) >= 2 and at > _LOOKED_BYTES):
                break
    if not lines:
        raise InvalidDataError(f"{path} is empty; {needed}")
    return Beginning(tuple(lines), tuple(starts), tuple(before))


def _require_text(path: str, text: bytes) -> None:
    if text.startswith(_UTF16):
        raise InvalidDataError(f"{path} is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 {path}")
    if b"\0" in text:
        raise InvalidDataError(f"{path} is no text (byte {text.index(0)} is 0); say --format if it is something else")


def batch_bytes(line: bytes) -> int:
    """How much text is parsed at once: many lines, unless they are very long."""
    return max(BATCH_BYTES, min(BATCH_LINES * len(line), MOST_BATCH_BYTES))


def size_of(path: str) -> int:
    """Bytes of a file as it lies there."""
    system, inside = locate.filesystem(path)
    return int(system.size(inside) or 0)


def batches(path: str, start: int, size: int, folder: str, wanted: Callable[[int], bool]) -> Iterator[Lines]:
    """A file from byte `start` of its text on, in runs of whole lines of about `size` bytes.

    A plain file is read where it lies. The pieces of a packed one are unpacked into `folder`, except those that are
    not `wanted`: `discard` removes them.
    """
    if is_packed(path):
        return _packed_batches(path, start, size, folder, wanted)
    whole = size_of(path)
    return (Lines(path, at, at + size, path, 0, min(at + size, whole)) for at in range(start, whole, size))


def _packed_batches(path: str, start: int, size: int, folder: str, wanted: Callable[[int], bool]) -> Iterator[Lines]:
    with opened(path) as raw, _broken_explained(path), gzip.GzipFile(fileobj=raw, mode="rb") as stream:
        before = sum(text.count(b"\n") for text in _parts(stream, start))
        for index, text in enumerate(_pieces(stream, size)):
            piece = os.path.join(folder, f"piece-{index:06d}.txt")
            if wanted(index):
                with published(piece) as target:
                    target.write(text)
            yield Lines(piece, 0, len(text), path, before, raw.tell())
            before += text.count(b"\n")


def _parts(stream: Any, n_bytes: int) -> Iterator[bytes]:
    return (stream.read(min(_MORE, n_bytes - done)) for done in range(0, n_bytes, _MORE))


def _pieces(stream: Any, size: int) -> Iterator[bytes]:
    """Runs of whole lines of about `size` bytes."""
    carried: list[bytes] = []
    while text := stream.read(size):
        end = text.rfind(b"\n") + 1
        if end:
            yield b"".join((*carried, text[:end]))
            carried = []
        carried.append(text[end:])
    if any(carried):
        yield b"".join(carried)
