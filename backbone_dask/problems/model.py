"""The linear model that a run ends with, in the units of the data; plain JSON on disk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns
from backbone_dask.errors import FormatVersionError, RunDirectoryError
from backbone_dask.values import CandidateIds

FORMAT = "backbone-dask-linear-model"
VERSION = 1


@dataclass(frozen=True, slots=True)
class LinearModel:
    """intercept + sum of coefficient x feature over the support; a missing value stands for the feature's mean."""

    ids: CandidateIds
    names: tuple[str, ...]
    coefficients: NDArray[np.float64]
    means: NDArray[np.float64]
    intercept: float

    def predict(self, columns: Columns) -> NDArray[np.float64]:
        """Predictions for the raw columns of the support, in its order; shape (samples,)."""
        values = columns.values.astype(np.float64)
        if columns.missing is not None:
            values = np.where(columns.values == columns.missing, self.means[:, None], values)
        return self.intercept + self.coefficients @ values

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "ids": self.ids.tolist(),
            "names": list(self.names),
            "coefficients": self.coefficients.tolist(),
            "means": self.means.tolist(),
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LinearModel:
        found = (content.get("format"), content.get("version")) if isinstance(content, dict) else None
        if found != (FORMAT, VERSION):
            raise FormatVersionError(f"this is model format {found}; this version reads {(FORMAT, VERSION)}")
        lacking = [field for field in ("ids", "names", "coefficients", "means", "intercept") if field not in content]
        if lacking:
            raise RunDirectoryError(f"the model is damaged: it has no {', '.join(lacking)}")
        return cls(
            np.array(content["ids"], np.int64),
            tuple(content["names"]),
            np.array(content["coefficients"], np.float64),
            np.array(content["means"], np.float64),
            float(content["intercept"]),
        )
