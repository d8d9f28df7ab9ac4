"""The dual of the logistic loss: c(S) = max over a of sum_i s_i H(q_i) - gamma/2 sum_{j in S} (X_j'a)^2.

H is the binary entropy, q_i = y_i a_i / s_i lies in [0, 1], and basis @ a = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import entr, logit

from backbone_dask.losses.logistic import Margin, dual_vector, free_part
from backbone_dask.losses.squared import Matrix, Vector

_EPS = float(np.finfo(np.float64).eps)
_MOST_SHARE = 1 - 2.0**-40
"""Closer to 1, the distance from 1 would have lost too many digits."""
_FARTHEST = 0.25
"""The largest relative change of q(1-q) for which the estimates below hold."""
LARGEST_FREE = 1e6
"""Proofs are about coefficients of the basis up to this, times the root mean square of their row."""
_CARE = 1.01
"""Makes up for the rounding of the few operations that an error bound itself takes."""


@dataclass(frozen=True, slots=True)
class Feasible:
    """A dual vector and what is proven of it, rounding included.

    Some a' with |a' - a| <= error has c(S) >= value - gamma/2 sum_{j in S} (X_j'a')^2 for every S, if the free part is
    what LARGEST_FREE allows.
    """

    a: Vector
    value: float
    error: float


def shares(margin: Margin, a: Vector) -> Vector:
    """q_i = y_i a_i / s_i, moved into [0, 1); 0 where a sample has no weight."""
    q = np.divide(margin.y * a, margin.weights, out=np.zeros_like(a), where=margin.weights > 0)
    return np.asarray(np.clip(q, 0.0, _MOST_SHARE))


def dual_value(margin: Margin, a: Vector) -> float:
    """sum_i s_i H(q_i): what the loss contributes to the dual."""
    q = shares(margin, a)
    return float(margin.weights @ (entr(q) + entr(1 - q)))


def predictor_of(margin: Margin, a: Vector) -> Vector:
    """The u (n,) whose dual vector is a; finite, also where a is at an end of its box."""
    q = np.clip(shares(margin, a), np.finfo(np.float64).tiny, None)
    return np.asarray(-margin.y * logit(q))


def best_length(margin: Margin, a: Vector, top: float) -> float:
    """The t > 0 with the largest sum_i s_i H(t q_i) - t^2/2 top, for t a inside its box."""
    q = shares(margin, a)
    used = q > 0
    q, sized = q[used], margin.weights[used] * q[used]
    if q.size == 0:
        return 1.0

    def slope(t: float) -> float:
        return float(sized @ (np.log1p(-t * q) - np.log(t * q))) - t * top

    low, high = 1e-12, (1 - 1e-9) / q.max()
    if slope(low) <= 0 or slope(high) >= 0:
        return low if slope(low) <= 0 else float(high)
    return float(brentq(slope, low, high, rtol=1e-3))


def feasible(margin: Margin, a: Vector) -> Feasible:
    """A dual vector near `a` that proves a bound.

    The best free part at the predictor of `a` makes basis @ a = 0, since that is the derivative of the loss in b; what
    rounding leaves of it, `certified` pays for.
    """
    u = predictor_of(margin, a)
    return certified(margin, dual_vector(margin, u + free_part(margin, u) @ margin.basis))


def certified(margin: Margin, a: Vector) -> Feasible:
    """What is proven of a dual vector with basis @ a = r, r almost 0: the better of two proofs."""
    q = shares(margin, a)
    a = margin.weights * margin.y * q
    value = dual_value(margin, a)
    value -= _CARE * _EPS * ((a.size + 16) * value + 64 * float(margin.weights.sum()))
    return max(_corrected(margin, a, q, value), _tolerated(margin, a, value), key=lambda proof: proof.value)


def _corrected(margin: Margin, a: Vector, q: Vector, value: float) -> Feasible:
    """Of a corrected vector; all zeros, which proves 0, if r is too large, or the basis dependent.

    a' = a - M basis'v with M = diag(s q (1-q)) and v = (basis M basis')^-1 r has basis @ a' = 0. If |basis'v| <= reach
    in every sample, q moves by at most reach * q (1-q): it stays in its box, and H falls by at most that times
    |logit q| + 4 reach, as H is concave with the derivative -logit q.
    """
    spare = margin.weights * q * (1 - q)
    reach = _reach(margin, a, spare)
    if not reach <= _FARTHEST:
        return Feasible(np.zeros_like(a), 0.0, 0.0)
    inside = q > 0
    fall = reach * float(spare[inside] @ (np.abs(logit(q[inside])) + 4 * reach))
    return Feasible(a, max(value - _CARE * fall, 0.0), _CARE * reach * float(np.linalg.norm(spare)))


def _tolerated(margin: Margin, a: Vector, value: float) -> Feasible:
    """Of the vector as it is: a free part b gains at most |b_j| |r_j| by each row, and LARGEST_FREE bounds b.

    It also holds where rows depend on each other, or where part of the labels is separated and b has no best value.
    """
    sizes = np.sqrt((margin.basis**2) @ margin.weights / margin.weights.sum())
    products = margin.basis * a
    error = (2 * math.isqrt(a.size) + 16) * _EPS
    left = np.abs(_sums(products)) + error * _sums(np.abs(products))
    gained = np.divide(left, sizes, out=np.where(left > 0, np.inf, 0.0), where=sizes > 0)
    return Feasible(a, max(value - _CARE * LARGEST_FREE * float(gained.sum()), 0.0), 0.0)


def _sums(products: Matrix) -> Vector:
    """Of every row, in two stages: each adds about the square root of n numbers, and rounding grows no faster."""
    width = math.isqrt(products.shape[1]) + 1
    return np.asarray(np.add.reduceat(products, np.arange(0, products.shape[1], width), axis=1).sum(axis=1))


def _reach(margin: Margin, a: Vector, spare: Vector) -> float:
    """A bound for |basis'v| in every sample; infinite if the basis is dependent, or a is at an end of its box."""
    basis = margin.basis
    if len(basis) == 0:
        return 0.0
    if not spare.any():
        return 0.0 if not a.any() else np.inf
    inner = (basis * spare) @ basis.T
    scale = 1 / np.sqrt(np.maximum(np.diagonal(inner), np.finfo(np.float64).tiny))
    least = np.linalg.eigvalsh(inner * np.outer(scale, scale))[0] - 4 * len(basis) * (a.size + 16) * _EPS
    left = np.abs(basis @ a) + (a.size + 16) * _EPS * (np.abs(basis) @ np.abs(a))
    if least <= 0:
        return np.inf
    size = np.sqrt(np.einsum("qi,qi->i", basis * scale[:, None], basis * scale[:, None]).max())
    return _CARE * float(size * np.linalg.norm(scale * left) / least)
