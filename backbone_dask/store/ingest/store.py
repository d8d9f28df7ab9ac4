"""A table in files as a feature store: samples chosen, targets joined, one dtype, one rule for missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.store.base import FeatureStore
from backbone_dask.store.ingest.casting import cast
from backbone_dask.store.ingest.table import Table
from backbone_dask.store.missing import Label, admit
from backbone_dask.store.schema import MissingPolicy
from backbone_dask.values import CandidateIds, FeatureBlock, Target


class IngestedStore(FeatureStore):
    """Reads a table block by block, on any worker. `samples` are positions in the table; None is all of them."""

    waits = True

    def __init__(
        self,
        table: Table,
        *,
        samples: NDArray[np.int64] | None = None,
        targets: Mapping[str, Target] | None = None,
        labels: Mapping[str, Sequence[str]] | None = None,
        dtype: str | None = None,
        missing: MissingPolicy | None = None,
        origin: Mapping[str, Any] | None = None,
    ) -> None:
        self.table, self.location, self._samples = table, table.location, samples
        self.n_features = table.n_features
        self.n_samples = table.n_samples if samples is None else samples.size
        self.dtype = np.dtype(dtype or table.dtype)
        self.missing = missing or table.missing
        self.named = table.names(0, 1) is not None
        self.labels, self.origin = labels or {}, origin
        self._targets = dict(targets or {})

    @property
    def targets(self) -> Mapping[str, Target]:
        return self._targets

    @property
    def sample_ids(self) -> Sequence[str] | None:
        ids = self.table.sample_ids
        return ids if ids is None or self._samples is None else [ids[at] for at in self._samples]

    def raw(self, block: FeatureBlock) -> NDArray[Any]:
        self.require_block(block)
        read = self.table.read(block)
        values = read if self._samples is None else read[:, self._samples]
        called = self._labels(block)
        return cast(values, self.table.missing == "mean", self.dtype, self.missing, called)

    def read(self, block: FeatureBlock) -> Columns:
        return admit(np.ascontiguousarray(self.raw(block)), self.missing, self._labels(block))[0]

    def gather(self, ids: CandidateIds) -> Columns:
        self.require_ids(ids)
        blocks = [FeatureBlock(0, int(run[0]), int(run[-1]) + 1) for run in _runs(ids)]
        values = np.concatenate([self.raw(block) for block in blocks])
        return admit(values, self.missing, lambda row: self.label(int(ids[row])))[0]

    def label(self, j: int) -> str:
        """A feature in messages, with the file that it is from."""
        return f"{super().label(j)} of {self.table.part_of(j)}"

    def names(self, ids: CandidateIds) -> list[str]:
        if not self.named:
            return super().names(ids)
        self.require_ids(ids)
        return [name for run in _runs(ids) for name in self.table.names(int(run[0]), int(run[-1]) + 1) or ()]

    def _labels(self, block: FeatureBlock) -> Label:
        return lambda row: self.label(block.start + row)


def _runs(ids: CandidateIds) -> list[CandidateIds]:
    """Ids that follow one another, together."""
    return [run for run in np.split(ids, np.flatnonzero(np.diff(ids) != 1) + 1) if run.size]
