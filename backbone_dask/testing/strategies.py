"""Hypothesis strategies for the values that travel: screenings, settings, columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from backbone_dask.columns import Columns, measured
from backbone_dask.settings import Settings
from backbone_dask.testing.planted import MISSING
from backbone_dask.values import CandidateIds, Screening, Utilities

FEW_UTILITIES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
"""Ties are common, and so is 0."""
ANY_UTILITY = st.floats(0, 1e300, allow_nan=False)


def seeds() -> st.SearchStrategy[int]:
    """Seeds of a run."""
    return st.integers(0, 2**63 - 1)


def candidate_ids(min_size: int = 1, max_size: int = 60) -> st.SearchStrategy[CandidateIds]:
    """Sorted unique ids, in tables of any width."""
    ids = st.sets(st.integers(0, 10**8 - 1) | st.integers(0, 2 * max_size), min_size=min_size, max_size=max_size)
    return ids.map(lambda chosen: np.array(sorted(chosen), np.int64))


def utilities(size: int) -> st.SearchStrategy[Utilities]:
    """`size` utilities: finite, >= 0, often equal."""
    return st.one_of(
        arrays.arrays(np.float64, size, elements=FEW_UTILITIES), arrays.arrays(np.float64, size, elements=ANY_UTILITY)
    )


@st.composite
def screenings(draw: st.DrawFn, min_size: int = 1, max_size: int = 60) -> Screening:
    """Survivors of any screen."""
    ids = draw(candidate_ids(min_size, max_size))
    return Screening(ids, draw(utilities(ids.size)), int(ids[-1]) + 1 if ids.size else 0, 0)


@st.composite
def settings(draw: st.DrawFn, *, n_samples: int, n_features: int) -> Settings:
    """Settings that data of this shape accept."""
    k = draw(st.none() | st.integers(1, min(n_samples, n_features)))
    return Settings(
        n_nonzero=k,
        gamma=draw(st.none() | st.floats(1e-6, 1e6)),
        screen_size=draw(st.none() | st.integers(k or 1, 2 * n_features + 1)),
        subproblem_fraction=draw(st.floats(0, 1, exclude_min=True)),
        n_subproblems=draw(st.integers(1, 50)),
        backbone_max=draw(st.integers(k or 1, 500)),
        sampling=draw(st.sampled_from(["exponential", "uniform", "proportional", "covering"])),
        patience=draw(st.none() | st.integers(1, 5)),
        time_limit=draw(st.floats(1e-3, 1e6)),
        gap_tolerance=draw(st.floats(0, 1, exclude_max=True)),
        seed=draw(seeds()),
    )


@st.composite
def columns(draw: st.DrawFn, *, max_features: int = 8, min_samples: int = 1, max_samples: int = 30) -> Columns:
    """Columns of every dtype, with and without missing values; constant and equal features are common."""
    dtype = draw(st.sampled_from(["float32", "float64", "int8", "uint8"]))
    shape = (draw(st.integers(0, max_features)), draw(st.integers(min_samples, max_samples)))
    values = draw(arrays.arrays(dtype, shape, elements=_elements(dtype)))
    code = MISSING.get(dtype) if draw(st.booleans()) else None
    return measured(values, code)[0]


def _elements(dtype: str) -> st.SearchStrategy[Any]:
    if np.dtype(dtype).kind == "f":
        return st.sampled_from([0.0, 0.125, 1.0]) | st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
    limits = np.iinfo(dtype)
    return st.integers(0, 2) | st.sampled_from([MISSING[dtype]]) | st.integers(int(limits.min), int(limits.max))


@st.composite
def cuts(draw: st.DrawFn, size: int, max_parts: int = 5) -> list[NDArray[np.int64]]:
    """Positions 0..size-1 in some parts, in the order of the positions; parts may be empty."""
    at = sorted(draw(st.lists(st.integers(0, size), max_size=max_parts - 1)))
    return np.split(np.arange(size), at)
