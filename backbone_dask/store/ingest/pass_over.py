"""One pass over files that lie sample by sample: batches of lines to workers, finished ones found again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from backbone_dask.errors import InvalidDataError
from backbone_dask.store.ingest.lines import Lines, batches, size_of
from backbone_dask.store.ingest.sources import stamp
from backbone_dask.store.ingest.spool import Spool
from backbone_dask.store.ingest.table import Workshop

Task = Callable[[Lines, Any, Spool, int], dict[str, Any]]
"""Parses a batch and keeps it in the spool: the lines, what they have in common, the spool, the batch's number."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file from the byte of its text where the samples begin, in batches of `size` bytes."""

    path: str
    start: int
    size: int


@contextmanager
def unchanged(paths: tuple[str, ...]) -> Iterator[list[dict[str, Any]]]:
    """What tells the files from others; a file that changes in the meantime is refused."""
    stamps = [stamp(path) for path in paths]
    yield stamps
    for path, known in zip(paths, stamps, strict=True):
        if stamp(path) != known:
            raise InvalidDataError(f"{path} changed while it was read; ingest it again")


def pass_over(
    sources: Sequence[Source], spool: Spool, workshop: Workshop, task: Task, how: Any
) -> list[dict[str, Any]]:
    """The records of all batches, in the order of the lines."""
    sizes = [size_of(source.path) for source in sources]
    under_way: deque[tuple[Lines, int]] = deque()

    def items() -> Iterator[tuple[Any, ...]]:
        for index, (behind, lines) in enumerate(_batches(sources, sizes, spool)):
            under_way.append((lines, behind + lines.done))
            yield task, lines, how, spool, index

    records = []
    for record in workshop.executor.map(_once, items()):
        lines, done = under_way.popleft()
        lines.discard()
        records.append(record)
        workshop.told("reading", done, sum(sizes), "bytes")
    return records


def _batches(sources: Sequence[Source], sizes: list[int], spool: Spool) -> Iterator[tuple[int, Lines]]:
    """Batches of all files, and the bytes of the files before."""
    count = 0
    for at, source in enumerate(sources):
        first = count

        def pending(index: int, first: int = first) -> bool:
            return spool.find(first + index) is None

        for lines in batches(source.path, source.start, source.size, spool.folder, pending):
            yield sum(sizes[:at]), lines
            count += 1


def _once(task: Task, lines: Lines, how: Any, spool: Spool, index: int) -> dict[str, Any]:
    """The record of a batch that is finished, or of one that is made now."""
    return spool.find(index) or task(lines, how, spool, index)
