"""What formats of genotypes have in common: their missing value, and which ids cannot name a variant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from backbone_dask.store.schema import MISSING_CODES

MISSING = MISSING_CODES["int8"]
NAMELESS = ("", ".")
"""What files write where a variant has no id."""


def hashed(ids: Iterable[str]) -> NDArray[np.int64]:
    """64 bits for each id."""
    return np.fromiter(map(hash, ids), np.int64)


@dataclass(frozen=True, slots=True)
class Anonymous:
    """Variants that their id does not tell from others: it is not there, or occurs twice. Positions, sorted."""

    positions: NDArray[np.int64]

    def within(self, start: int, stop: int) -> set[int]:
        first, last = np.searchsorted(self.positions, (start, stop))
        return set(self.positions[first:last].tolist())


def anonymous(parts: Iterable[NDArray[np.int64]]) -> Anonymous:
    """From the hashes of all ids. Two ids that share one hash only get longer names than they need."""
    hashes = np.concatenate([np.empty(0, np.int64), *parts])
    order = np.argsort(hashes, kind="stable")
    same = np.flatnonzero(np.diff(hashes[order]) == 0)
    nameless = np.flatnonzero(np.isin(hashes, hashed(NAMELESS)))
    return Anonymous(np.unique(np.concatenate([order[same], order[same + 1], nameless])))
