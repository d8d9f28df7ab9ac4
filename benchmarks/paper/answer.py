"""What a method answers on a real table with permuted copies, and how that is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Answer:
    """Ids of the columns in the model, predictions of the test samples, and the gap where there is a proof.

    `support` is None where a model has no small set of columns, as a forest.
    """

    support: NDArray[np.int64] | None
    predicted: NDArray[Any]
    gap: float = np.nan

    def among(self, ids: NDArray[np.int64]) -> Answer:
        """The same for a fit to some of the columns."""
        return Answer(None if self.support is None else ids[self.support], self.predicted, self.gap)

    def counts(self, n_original: int) -> dict[str, float]:
        """SR-ACC and SR-FA as shares, and the number of columns."""
        if self.support is None:
            return {}
        false = int((self.support >= n_original).sum())
        size = self.support.size
        return {
            "accuracy": (size - false) / n_original,
            "false alarms": false / size if size else 0.0,
            "features": float(size),
        }
