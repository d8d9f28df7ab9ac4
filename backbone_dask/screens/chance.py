"""What chance explains: the scores of columns for responses that have nothing to do with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.protocols import Panel
from backbone_dask.values import Mask, Target

SHUFFLES = 10
"""Of columns of noise, however many, the best exceeds all scores for ten shuffled responses once in eleven times."""
_ADDRESS = 31_415
FloatMatrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Shuffles:
    """Permutations of a response over the samples that count; the draw is addressed by the seed."""

    there: Mask
    seed: int

    def __call__(self, response: Target) -> FloatMatrix:
        rng = np.random.default_rng(np.random.SeedSequence([self.seed, _ADDRESS]))
        responses = np.tile(response, (SHUFFLES, 1))
        responses[:, self.there] = rng.permuted(responses[:, self.there], axis=1)
        return responses


@dataclass(frozen=True, slots=True)
class ChancePanel:
    """Two questions: what a column scores, and the best that it scores for any of the shuffled responses."""

    own: Panel
    shuffled: Panel
    n_questions: ClassVar[int] = 2

    def __call__(self, columns: Columns) -> FloatMatrix:
        return np.vstack([self.own(columns), self.shuffled(columns).max(axis=0)])
