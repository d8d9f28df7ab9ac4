"""How many columns a screen should keep: those that score better than any column does for a shuffled response."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask import screen

SHUFFLES = 10
_SHUFFLES = 31_415
"""Address of the draws."""


def survivors(X: NDArray[Any], y: NDArray[np.float64], *, kind: str, most: int, seed: int) -> int:
    """The number of columns, 1 to `most`, whose utility exceeds the largest one for ten permutations of y.

    Of columns that have nothing to do with y, the best is kept with a probability of one in eleven, however many there
    are. The threshold of Fan, Feng and Song (2011), at the maximum; one pass over X serves y and all permutations.
    """
    rng = np.random.default_rng([_SHUFFLES, seed])
    responses = np.column_stack([y, *(rng.permutation(y) for _ in range(SHUFFLES))])
    found, *shuffled = screen(X, responses, screen=kind, keep=most, executor="serial").values()
    chance = max(each.utilities.max() for each in shuffled)
    return max(int((found.utilities > chance).sum()), 1)
