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
    """Permutations of a response over the samples that count, or signs for them; draws are addressed by the seed."""

    there: Mask
    seed: int

    def __call__(self, response: Target) -> FloatMatrix:
        responses = np.tile(response, (SHUFFLES, 1))
        responses[:, self.there] = self._rng().permuted(responses[:, self.there], axis=1)
        return responses

    def flipped(self, residual: Target) -> FloatMatrix:
        """Hemerik, Goeman and Finos (2020): what a sample adds to a score keeps its size."""
        signs: FloatMatrix = self._rng().choice([-1.0, 1.0], (SHUFFLES, residual.size))
        return residual * signs

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(np.random.SeedSequence([self.seed, _ADDRESS]))


@dataclass(frozen=True, slots=True)
class ChancePanel:
    """Two questions: what a column scores, and the best that it scores for any of the shuffled responses."""

    own: Panel
    shuffled: Panel
    n_questions: ClassVar[int] = 2

    def __call__(self, columns: Columns) -> FloatMatrix:
        return np.vstack([self.own(columns), self.shuffled(columns).max(axis=0)])
