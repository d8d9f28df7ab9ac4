"""exp and log in lanes against numpy in extended precision."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from backbone_dask.screens.vectorised import MOST, exp_minus, log_1_plus


@numba.njit
def exps(a, out):
    for i in range(a.size):
        out[i] = exp_minus(a[i])


@numba.njit
def logs(e, out):
    for i in range(e.size):
        out[i] = log_1_plus(e[i])


@pytest.mark.parametrize(("kind", "start", "growth"), [("float32", 3e-7, 3e-8), ("float64", 1e-15, 1e-16)])
def test_exp_is_as_close_as_stated(kind: str, start: float, growth: float) -> None:
    a = np.concatenate([np.linspace(0, 2, 20_001), np.linspace(0, MOST, 20_001)]).astype(kind)
    out = np.empty_like(a)
    exps(a, out)
    exact = np.exp(-a.astype(np.longdouble))
    assert (np.abs(out / exact - 1) <= start + growth * a).all()


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_exp_of_anything_larger_is_next_to_nothing(kind: str) -> None:
    a = np.array([MOST, 100, 1e30], kind)
    out = np.empty_like(a)
    exps(a, out)
    assert ((out > 0) & (out < 2e-35)).all()


@pytest.mark.parametrize(("kind", "allowed"), [("float32", 4e-7), ("float64", 1e-15)])
def test_log_is_as_close_as_stated(kind: str, allowed: float) -> None:
    e = np.concatenate([np.linspace(0, 1, 20_001), np.geomspace(1e-30, 1, 1001)]).astype(kind)
    out = np.empty_like(e)
    logs(e, out)
    exact = np.log1p(e.astype(np.longdouble))
    assert (np.abs(out - exact) <= allowed * exact).all()


@pytest.mark.parametrize("function", [exp_minus, log_1_plus])
def test_outside_of_compiled_code_there_is_nothing(function) -> None:
    with pytest.raises(NotImplementedError):
        function(1.0)
