"""From what people have to a FeatureStore: a path, a URL, a recipe, or data in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import StoreError
from backbone_dask.store import locate
from backbone_dask.store.base import FeatureStore
from backbone_dask.store.documents import ROOT, require_free
from backbone_dask.store.memory import MemoryStore
from backbone_dask.store.reader import ZarrStore
from backbone_dask.store.schema import MissingPolicy, plan_schema
from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore
from backbone_dask.store.writer import Draft, init_store


def open_store(location: str | os.PathLike[str]) -> FeatureStore:
    """Open a zarr store, or the recipe of a virtual one, at a path or any URL that fsspec opens."""
    place = locate.plain(location)
    # The root document is asked for first: a web server answers for a folder as if it were a file.
    if not locate.exists(place, ROOT) and locate.is_file(place):
        return VirtualStore(_recipe(place), place)
    return ZarrStore(place)


def as_store(data: Any, *, missing: MissingPolicy = "refuse") -> FeatureStore:
    """A store over `data`: one already, a path or URL, or a samples x features table in memory."""
    if isinstance(data, FeatureStore):
        return data
    if isinstance(data, str | os.PathLike):
        return open_store(data)
    return MemoryStore(data, missing=missing)


def write_store(
    source: FeatureStore,
    location: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    listen: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Copy any store into a zarr store, partition by partition; goes on where a killed writer left it."""
    draft = draft_of(source, location, overwrite=overwrite)
    done = set(range(draft.schema.n_partitions)) - set(draft.pending())
    for index in range(draft.schema.n_partitions):
        # A draft that was left behind may be of another table of the same shape.
        if index not in done or not _is_copied(source, draft, index):
            copy_partition(source, draft, index)
        listen(draft.schema.partition(index).stop, source.n_features)
    draft.finalise()


def draft_of(source: FeatureStore, location: str | os.PathLike[str], *, overwrite: bool = False) -> Draft:
    """The empty draft of a copy of `source`."""
    kind = source.dtype.name
    schema = plan_schema(source.n_features, source.n_samples, kind, missing=source.missing, named=source.named)
    return init_store(location, schema, targets=source.targets, truth=source.truth, overwrite=overwrite)


def copy_partition(source: FeatureStore, draft: Draft, index: int) -> None:
    """Read one partition of `source` and write it."""
    draft.write_partition(index, *_partition(source, draft, index))


def _is_copied(source: FeatureStore, draft: Draft, index: int) -> bool:
    return draft.holds(index, *_partition(source, draft, index))


def _partition(source: FeatureStore, draft: Draft, index: int) -> tuple[NDArray[Any], list[str] | None]:
    block = draft.schema.partition(index)
    return source.raw(block), source.names(np.arange(block.start, block.stop)) if source.named else None


def write_recipe(recipe: Recipe, location: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Keep a recipe in a file: it opens as a virtual store."""
    place = locate.plain(location)
    require_free(place, overwrite=overwrite)
    system, path = locate.filesystem(place + locate.SCRATCH)
    with locate.disk_errors(place):
        system.makedirs(system._parent(path), exist_ok=True)
        system.pipe_file(path, (recipe.to_json() + "\n").encode())
    locate.publish_file(place + locate.SCRATCH, place)


def _recipe(place: str) -> Recipe:
    system, path = locate.filesystem(place)
    try:
        return Recipe.from_json(system.cat_file(path).decode())
    except (StoreError, UnicodeDecodeError) as cause:
        raise StoreError(f"{place} is neither a feature store nor a recipe ({cause})") from cause
