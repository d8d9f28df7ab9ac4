"""Any store as a zarr store on disk: partition by partition, here or on the workers of an executor."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.protocols import Executor
from backbone_dask.store.base import FeatureStore
from backbone_dask.store.missing import Label
from backbone_dask.store.schema import plan_schema
from backbone_dask.store.writer import About, Draft, init_store

# Compressing costs more than reading most formats.
WRITERS = 2


def write_store(
    source: FeatureStore,
    location: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    executor: Executor | None = None,
    listen: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Copy any store into a zarr store, partition by partition; goes on where a killed writer left it.

    With an executor its workers read and write partitions, unless the source lives in this process. The bytes are the
    same.

    Examples
    --------
    >>> import tempfile
    >>> from backbone_dask import open_store, write_store
    >>> from backbone_dask.store import Recipe, VirtualStore
    >>> recipe = Recipe(kind="linear", n_samples=50, n_features=1000, n_relevant=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_store(VirtualStore(recipe), folder + "/simulated.zarr")
    ...     open_store(folder + "/simulated.zarr").truth.ids.size
    3
    """
    draft = draft_of(source, location, overwrite=overwrite)
    fill(draft, source, executor, listen)
    draft.finalise()


def fill(draft: Draft, source: FeatureStore, executor: Executor | None, listen: Callable[[int, int], None]) -> None:
    """Write every partition of a draft; `listen` hears how many columns are done, and of how many."""
    for index in _written(source, draft, executor):
        listen(draft.schema.partition(index).stop, source.n_features)


def draft_of(source: FeatureStore, location: str | os.PathLike[str], *, overwrite: bool = False) -> Draft:
    """The empty draft of a copy of `source`."""
    kind = source.dtype.name
    schema = plan_schema(source.n_features, source.n_samples, kind, missing=source.missing, named=source.named)
    about = About(source.sample_ids, source.labels, source.origin)
    return init_store(location, schema, targets=source.targets, truth=source.truth, about=about, overwrite=overwrite)


def copy_partition(source: FeatureStore, draft: Draft, index: int) -> None:
    """Read one partition of `source` and write it."""
    draft.write_partition(index, *_partition(source, draft, index), called=_labels(source, draft, index))


def _written(source: FeatureStore, draft: Draft, executor: Executor | None) -> Iterator[int]:
    """Every partition that is looked at, in its turn, once it is whole on disk."""
    pending = set(draft.pending())
    # A draft of the same origin holds the same columns: what is finished need not be read again.
    unsure = range(draft.schema.n_partitions) if source.origin is None else sorted(pending)
    shared = source if executor is None else executor.share(source)
    lives_here = source.portion(np.zeros(1, np.int64)) is not source
    # A handle that is the value itself belongs to an executor that works in this process.
    if executor is None or lives_here or shared is source:
        yield from _written_here(source, draft, unsure, pending)
        return
    items: Iterable[tuple[Any, ...]] = ((shared, draft, index, index in pending) for index in unsure)
    yield from executor.map(_ensure, items)


def _written_here(source: FeatureStore, draft: Draft, indices: Iterable[int], pending: set[int]) -> Iterator[int]:
    """Partitions are read one after the other; meanwhile the last few are compressed and written."""
    with ThreadPoolExecutor(WRITERS) as pool:
        begun: deque[Future[int]] = deque()
        for index in indices:
            columns, names = _partition(source, draft, index)
            called = _labels(source, draft, index)
            begun.append(pool.submit(_keep, draft, index, index in pending, columns, names, called))
            if len(begun) > WRITERS:
                yield begun.popleft().result()
        for future in begun:
            yield future.result()


def _ensure(source: FeatureStore, draft: Draft, index: int, pending: bool) -> int:
    """Copy a partition unless it is there."""
    return _keep(draft, index, pending, *_partition(source, draft, index), _labels(source, draft, index))


def _keep(
    draft: Draft, index: int, pending: bool, columns: NDArray[Any], names: list[str] | None, called: Label
) -> int:
    """Write a partition unless it is there. A draft that was left behind may be of another table of the same shape."""
    if pending or not draft.holds(index, columns, names, called=called):
        draft.write_partition(index, columns, names, called=called)
    return index


def _labels(source: FeatureStore, draft: Draft, index: int) -> Label:
    """The source may know more of a feature than its name."""
    start = draft.schema.partition(index).start
    return lambda row: source.label(start + row)


def _partition(source: FeatureStore, draft: Draft, index: int) -> tuple[NDArray[Any], list[str] | None]:
    block = draft.schema.partition(index)
    return source.raw(block), source.names(np.arange(block.start, block.stop)) if source.named else None
