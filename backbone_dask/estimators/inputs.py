"""What the estimators take for a table and for a target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
from backbone_dask.store import FeatureStore


class HasShape(Protocol):
    """An array or a frame: of numpy, scipy.sparse, pandas, polars, dask or xarray."""

    @property
    def shape(self) -> Any: ...


TableLike: TypeAlias = HasShape | Sequence[Sequence[float]] | FeatureStore | str | os.PathLike[str]
"""Samples x features: an array or frame, lists, a FeatureStore, or the path or URL of one."""
TargetLike: TypeAlias = HasShape | Sequence[float] | Sequence[str] | str | None
"""One value per sample; for a store also the name of its target, or None for its only one."""
WeightsLike: TypeAlias = HasShape | Sequence[float] | None
"""One weight per sample, 0 or more; None is 1 for each."""

CovariatesLike: TypeAlias = HasShape | Sequence[Any] | Mapping[str, Any] | None
"""In every model, unpenalised: a table (samples, q), a mapping from names to columns, or names or ids of features."""
Seed: TypeAlias = int | np.random.RandomState | None
"""Where randomness comes from; None is somewhere else in every fit."""


def as_target(y: TargetLike) -> NDArray[Any]:
    """The target as numpy has it, whatever library it came from; a sample without a value is refused."""
    target = np.asarray(y)
    if target.dtype == object or (target.dtype.kind == "f" and np.isnan(target).any()):
        _require_values(target)
    return target


def _require_values(target: NDArray[Any]) -> None:
    for place, value in np.ndenumerate(target):
        if _is_absent(value):
            called = "NaN" if isinstance(value, float | np.floating) else value
            raise InvalidDataError(
                f"y contains {called} at sample {place[0]}; give it a value, or leave the sample out"
            )


def _is_absent(value: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    is_nan = isinstance(value, float | np.floating) and bool(np.isnan(value))
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def header(names: list[Any] | None, n_features: int) -> Any:
    """A table of that many columns and no values, from which scikit-learn learns their names."""
    if names is None:
        return np.broadcast_to(np.zeros(1), (1, n_features))
    # A table with names came from a library that needs pandas itself.
    import pandas as pd

    return pd.DataFrame(columns=names)


def is_stored(X: TableLike) -> bool:
    """Whether the table is a store, or the place of one."""
    return isinstance(X, FeatureStore | str | os.PathLike)
