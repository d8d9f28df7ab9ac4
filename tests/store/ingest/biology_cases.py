"""What the tests of the formats share: a workshop in this process, and whole tables read through their blocks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.runtime.executor import SerialExecutor
from backbone_dask.store.ingest.formats import opener
from backbone_dask.store.ingest.table import Table, Wanted, Workshop
from backbone_dask.values import FeatureBlock


def bench(folder: Path) -> Workshop:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return Workshop(str(scratch), SerialExecutor(), lambda phase, done, total, unit: None)


def opened(kind: str, path: Path, wanted: Wanted | None = None) -> Table:
    """A table as a worker has it: opened, sent, and opened again there."""
    table: Table = pickle.loads(pickle.dumps(opener(kind)((str(path),), wanted or Wanted(), bench(path.parent))))
    return table


def whole(table: Table, step: int = 3) -> NDArray[Any]:
    """All values (features, samples), read in blocks that no format is cut into."""
    starts = range(0, table.n_features, step)
    blocks = [FeatureBlock(i, at, min(at + step, table.n_features)) for i, at in enumerate(starts)]
    parts = [table.read(block) for block in blocks]
    for part, block in zip(parts, blocks, strict=True):
        assert part.dtype == table.dtype
        assert part.shape == (block.size, table.n_samples)
        assert part.flags.c_contiguous
    return np.concatenate(parts)
