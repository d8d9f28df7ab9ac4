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
VERSION = 2


@dataclass(frozen=True, slots=True)
class Terms:
    """coefficient x feature, summed; a missing value stands for the feature's mean."""

    ids: CandidateIds
    names: tuple[str, ...]
    coefficients: NDArray[np.float64]
    means: NDArray[np.float64]

    @classmethod
    def none(cls) -> Terms:
        return cls(np.empty(0, np.int64), (), np.empty(0), np.empty(0))

    def __call__(self, columns: Columns) -> NDArray[np.float64]:
        """The sum for raw columns of these features, in their order; shape (samples,)."""
        values = columns.values.astype(np.float64)
        if columns.missing is not None:
            values = np.where(columns.values == columns.missing, self.means[:, None], values)
        return np.asarray(self.coefficients @ values)

    def to_json(self) -> dict[str, Any]:
        return {
            "ids": self.ids.tolist(),
            "names": list(self.names),
            "coefficients": self.coefficients.tolist(),
            "means": self.means.tolist(),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Terms:
        _require(content, "ids", "names", "coefficients", "means")
        return cls(
            np.array(content["ids"], np.int64),
            tuple(content["names"]),
            np.array(content["coefficients"], np.float64),
            np.array(content["means"], np.float64),
        )


@dataclass(frozen=True, slots=True)
class LinearModel:
    """intercept + the chosen features + covariates, which are features of the table or given beside it.

    `beside` holds the coefficients of covariates that are no features of the table, `beside_names` what they are called
    if they have names. With two `classes`, labels as they
    are in the data, the sum is the log odds of the second; `labels` are their names, where they have some.
    """

    support: Terms
    intercept: float
    covariates: Terms
    beside: NDArray[np.float64]
    classes: tuple[float, ...] = ()
    beside_names: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def ids(self) -> CandidateIds:
        return self.support.ids

    @property
    def names(self) -> tuple[str, ...]:
        return self.support.names

    @property
    def coefficients(self) -> NDArray[np.float64]:
        return self.support.coefficients

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            **self.support.to_json(),
            "intercept": self.intercept,
            "covariates": self.covariates.to_json(),
            "beside": self.beside.tolist(),
            "beside_names": list(self.beside_names),
            "classes": list(self.classes),
            **({"labels": list(self.labels)} if self.labels else {}),
        }

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> LinearModel:
        found = (content.get("format"), content.get("version")) if isinstance(content, dict) else None
        if found != (FORMAT, VERSION):
            raise FormatVersionError(f"this is model format {found}; this version reads {(FORMAT, VERSION)}")
        _require(content, "intercept", "covariates", "beside", "classes")
        return cls(
            Terms.from_json(content),
            float(content["intercept"]),
            Terms.from_json(content["covariates"]),
            np.array(content["beside"], np.float64),
            tuple(content["classes"]),
            tuple(content.get("beside_names", ())),
            tuple(content.get("labels", ())),
        )


def _require(content: dict[str, Any], *fields: str) -> None:
    lacking = [field for field in fields if field not in content]
    if lacking:
        raise RunDirectoryError(f"the model is damaged: it has no {', '.join(lacking)}")
