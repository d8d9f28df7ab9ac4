"""Small regression tables whose truth is known; the same arguments give the same table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, measured
from backbone_dask.values import CandidateIds, Standardised, Target

Dtype: TypeAlias = Literal["float32", "float64", "int8", "uint8"]
MISSING: dict[str, int] = {"int8": -128, "uint8": 255}
"""The code of a missing value, for the dtypes that have one."""
_QUARTILES = (-0.6744897501960817, 0.6744897501960817)


@dataclass(frozen=True, slots=True)
class Planted:
    """A table, its target, and what made the target.

    Attributes
    ----------
    columns : Columns of shape (features, samples), as stored
    X : array (features, samples), the same table as solvers take it
    y : array (samples,), signal plus noise
    signal : array (samples,), the target without its noise
    truth : sorted ids of the features that made the signal
    """

    columns: Columns
    X: Standardised
    y: Target
    signal: Target
    truth: CandidateIds


def planted(
    *,
    n_samples: int,
    n_features: int,
    n_relevant: int,
    rho: float = 0.0,
    snr: float = 10.0,
    dtype: Dtype = "float32",
    missing: float = 0.0,
    seed: int = 0,
) -> Planted:
    """A linear signal of coefficients -1 and 1 on `n_relevant` features of a table, plus noise.

    Neighbouring features have correlation `rho`; `snr` is var(signal) / var(noise), and infinity means no noise.
    Integer tables hold 0, 1 and 2 in the shares of a genotype of frequency one half. A share `missing` of an integer
    table then gets the dtype's code in `MISSING`; the signal was made before that.
    """
    rng = np.random.default_rng([seed, n_samples, n_features, n_relevant])
    values = _table(rng, n_features, n_samples, rho, dtype)
    truth = np.sort(rng.choice(n_features, n_relevant, replace=False))
    signal = rng.choice([-1.0, 1.0], n_relevant) @ measured(values[truth])[0].standardised().astype(np.float64)
    y = signal + rng.standard_normal(n_samples) * (signal.std() / math.sqrt(snr))
    code = MISSING[dtype] if missing > 0 else None
    if code is not None:
        values[rng.random(values.shape) < missing] = code
    columns, _ = measured(values, code)
    return Planted(columns, columns.standardised(), y, signal, truth)


def _table(rng: np.random.Generator, n_features: int, n_samples: int, rho: float, dtype: Dtype) -> NDArray[Any]:
    rows = rng.standard_normal((n_features, n_samples))
    for j in range(1, n_features):
        rows[j] = rho * rows[j - 1] + math.sqrt(1 - rho**2) * rows[j]
    if np.dtype(dtype).kind == "f":
        return rows.astype(dtype)
    return np.searchsorted(_QUARTILES, rows).astype(dtype)


def with_constants(table: Planted, every: int = 5) -> Planted:
    """The same table with every `every`-th feature that is not relevant made constant (0.1, or 1 in integers)."""
    values = table.columns.values.copy()
    fixed = np.setdiff1d(np.arange(0, len(values), every), table.truth)
    values[fixed] = 0.1 if values.dtype.kind == "f" else 1
    columns, _ = measured(values, table.columns.missing)
    return Planted(columns, columns.standardised(), table.y, table.signal, table.truth)
