"""Blocks that a process has read and keeps: a second target, a fold or another pass does not read them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.values import CandidateIds, FeatureBlock


@dataclass(slots=True)
class BlockCache:
    """Blocks of one table at a time; the first that fit stay, since every pass comes by in the same order."""

    _identity: str = ""
    _blocks: dict[int, Columns] = field(default_factory=dict)
    _bytes: int = 0
    _lock: Lock = field(default_factory=Lock)

    def block(self, identity: str, block: FeatureBlock) -> Columns | None:
        kept = self._of(identity).get(block.start)
        return kept if kept is not None and kept.n_features == block.size else None

    def keep(self, identity: str, block: FeatureBlock, columns: Columns, capacity: int) -> None:
        size = columns.values.nbytes
        with self._lock:
            if identity != self._identity:
                self._identity, self._blocks, self._bytes = identity, {}, 0
            if self._bytes + size <= capacity and block.start not in self._blocks:
                self._blocks[block.start] = columns
                self._bytes += size

    def gather(self, identity: str, ids: CandidateIds) -> tuple[NDArray[np.bool_], Columns | None]:
        """Which of sorted features are kept, and their columns if there are any."""
        blocks = self._of(identity)
        there, parts = np.zeros(ids.size, np.bool_), []
        for start in _near(np.array(sorted(blocks), np.int64), ids):
            first, last = np.searchsorted(ids, (start, start + blocks[start].n_features))
            there[first:last] = True
            parts.append(blocks[start][ids[first:last] - start])
        return there, joined_columns(parts) if there.any() else None

    def _of(self, identity: str) -> dict[int, Columns]:
        with self._lock:
            return dict(self._blocks) if identity == self._identity else {}


def _near(starts: NDArray[np.int64], ids: CandidateIds) -> Iterator[int]:
    """Starts of the blocks that may hold some of the features."""
    at = np.unique(np.searchsorted(starts, ids, side="right")) - 1
    yield from starts[at[at >= 0]].tolist()


def joined_columns(parts: Sequence[Columns]) -> Columns:
    """Columns one after another."""
    values, mean, scale = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "mean", "scale")
    )
    return Columns(values, mean, scale, parts[0].missing)


BLOCKS = BlockCache()
"""The blocks of this process."""
