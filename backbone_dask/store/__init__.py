"""Feature stores: on disk, in memory, or virtual."""

from backbone_dask.store.base import FeatureStore
from backbone_dask.store.copying import write_store
from backbone_dask.store.interactions import InteractionStore
from backbone_dask.store.memory import MemoryStore
from backbone_dask.store.opening import as_store, open_store, write_interactions, write_recipe
from backbone_dask.store.reader import ZarrStore
from backbone_dask.store.schema import plan_schema
from backbone_dask.store.synthetic import Recipe
from backbone_dask.store.virtual import VirtualStore
from backbone_dask.store.writer import Draft, init_store

__all__ = [
    "Draft",
    "FeatureStore",
    "InteractionStore",
    "MemoryStore",
    "Recipe",
    "VirtualStore",
    "ZarrStore",
    "as_store",
    "init_store",
    "open_store",
    "plan_schema",
    "write_interactions",
    "write_recipe",
    "write_store",
]
