"""From what people have to a FeatureStore: a path, a URL, a recipe, interactions, or data in memory."""

from __future__ import annotations

import os
from typing import Any

from backbone_dask.errors import StoreError
from backbone_dask.store import locate
from backbone_dask.store.base import FeatureStore
from backbone_dask.store.documents import ROOT, require_free
from backbone_dask.store.interactions import InteractionStore, base_beside, is_link, link_json, linked_base
from backbone_dask.store.locality import shards
from backbone_dask.store.memory import MemoryStore
from backbone_dask.store.reader import ZarrStore
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore


def open_store(
    location: str | os.PathLike[str], *, missing: MissingPolicy | None = None, locality: Any = None
) -> FeatureStore:
    """Open a zarr store, the recipe of a virtual one, or interactions, at a path or any URL that fsspec opens.

    `missing="mean"` takes NaN, and an integer's code of a missing value, for the mean of its column also where the
    store declares that it has none. `locality` says which features lie on which host, {"host": [[start, stop], ...]}:
    workers there read them.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from backbone_dask import open_store, write_store
    >>> from backbone_dask.store import MemoryStore
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_store(MemoryStore(np.eye(3), targets={"y": np.arange(3.0)}), folder.name + "/small.zarr")
    >>> store = open_store(folder.name + "/small.zarr")
    >>> store.n_features, store.n_samples, store.target("y").tolist()
    (3, 3, [0.0, 1.0, 2.0])
    >>> folder.cleanup()
    """
    store = _opened(locate.plain(location), missing)
    if locality is not None:
        store.locality = shards(locality, store.n_features)
    return store


def _opened(place: str, missing: MissingPolicy | None) -> FeatureStore:
    # The root document is asked for first: a web server answers for a folder as if it were a file.
    if not locate.exists(place, ROOT) and locate.is_file(place):
        return _open_file(place, missing)
    return ZarrStore(place, missing)


def as_store(data: Any, *, missing: MissingPolicy = "refuse") -> FeatureStore:
    """A store over `data`: one already, a path or URL, or a samples x features table in memory."""
    if isinstance(data, FeatureStore):
        return data
    if isinstance(data, str | os.PathLike):
        return open_store(data, missing="mean" if missing == "mean" else None)
    return MemoryStore(data, missing=missing)


def write_recipe(recipe: Recipe, location: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Keep a recipe in a file: it opens as a virtual store."""
    place = locate.plain(location)
    require_free(place, overwrite=overwrite)
    _write_file(place, recipe.to_json())


def write_interactions(
    base: str | os.PathLike[str], location: str | os.PathLike[str], *, overwrite: bool = False
) -> InteractionStore:
    """Keep in a file where the base is: it opens as the store of all products of two of the base's features.

    A relative path of the base is kept relative to the file, so that both can be moved together.
    """
    source, place = locate.plain(base), locate.plain(location)
    if locate.same(source, place):
        raise StoreError(f"{place} is the base itself; give its interactions another name")
    require_free(place, overwrite=overwrite)
    store = InteractionStore(open_store(source), place)
    _write_file(place, link_json(base_beside(source, place)))
    return store


def _write_file(place: str, text: str) -> None:
    system, path = locate.filesystem(place + locate.SCRATCH)
    with locate.disk_errors(place):
        system.makedirs(system._parent(path), exist_ok=True)
        system.pipe_file(path, (text + "\n").encode())
    locate.publish_file(place + locate.SCRATCH, place)


def _open_file(place: str, missing: MissingPolicy | None) -> FeatureStore:
    """The store that a small file stands for."""
    system, path = locate.filesystem(place)
    try:
        text = system.cat_file(path).decode()
        if not is_link(text):
            return VirtualStore(Recipe.from_json(text), place)
        base = linked_base(text, place)
    except (StoreError, UnicodeDecodeError) as cause:
        raise StoreError(f"{place} is neither a feature store nor a recipe nor interactions ({cause})") from cause
    return InteractionStore(_open_base(base, place, missing), place)


def _open_base(base: str, place: str, missing: MissingPolicy | None) -> FeatureStore:
    try:
        return open_store(base, missing=missing)
    except RecursionError as cause:
        raise StoreError(f"{place} is its own base by way of {base}; give it another one") from cause
    except StoreError as cause:
        raise StoreError(f"{place} are interactions of a store that cannot be opened: {cause}") from cause
