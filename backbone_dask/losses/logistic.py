"""Logistic loss: c(S) = min over w, b of sum_i s_i log(1 + exp(-y_i u_i)) + 1/(2 gamma) |w|^2, u = X_S'w + basis'b."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from backbone_dask.errors import InvalidDataError
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.losses.steps import Step, StepRule, newton_step
from backbone_dask.values import Mask

PRECISION = 1e-9
"""A fit ends after the step that promises less than this share of the objective; what is then left is its square."""
_FINEST = 1e-24
_ROUNDING = 1e-13
"""Falls below this share of the objective drown in the rounding of its sum, so nothing can be learnt from them."""
_VANISHING = 1e-14
"""Ridge on the free part for each unit of sample weight: it matters only where the basis alone separates the labels."""
_FAINT = 1e-10
"""Relative ridge that keeps a model definite whose columns depend on each other."""
_MOST_ROUNDS, _MOST_HALVINGS = 100, 40
_FARTHEST = 64.0
"""No step changes a predictor by more: where all are far from 0 the curvature is nothing, and Newton's step endless."""


@dataclass(frozen=True, slots=True)
class Margin:
    """What a logistic model is fitted to.

    Attributes
    ----------
    y : array (n,), labels -1.0 and 1.0
    weights : array (n,), s_i >= 0, of sum n by convention
    basis : array (q, n), rows that are in every model and not penalised: ones for an intercept, covariates; q may be 0
    """

    y: Vector
    weights: Vector
    basis: Matrix

    @classmethod
    def of(cls, y: Vector, weights: Vector | None = None, basis: Matrix | None = None) -> Margin:
        """Checked; weights are 1 and the basis is an intercept unless given."""
        y = np.asarray(y, np.float64)
        weights = np.ones_like(y) if weights is None else np.asarray(weights, np.float64)
        basis = np.ones((1, y.size)) if basis is None else np.asarray(basis, np.float64)
        _check(y, weights, basis)
        return cls(y, weights, basis)


def _check(y: Vector, weights: Vector, basis: Matrix) -> None:
    if y.ndim != 1 or not (np.abs(y) == 1).all():
        raise InvalidDataError("labels must be a vector of -1 and 1; recode the two classes first")
    if weights.shape != y.shape or basis.ndim != 2 or basis.shape[1] != y.size:
        raise InvalidDataError(
            f"{y.size} labels need weights of shape {y.shape}, not {weights.shape}, and a basis of shape "
            f"(rows, {y.size}), not {basis.shape}"
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise InvalidDataError("sample weights must be finite, not negative, and not all zero")
    if not np.isfinite(basis).all():
        raise InvalidDataError("the basis holds values that are not finite; drop those samples first")


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """The ridge fit on one support.

    Attributes
    ----------
    weights : array (k,), of the rows of the support
    free : array (q,), of the rows of the basis
    objective : c(S), up to the precision of the fit, at these weights
    predictor : array (n,), u
    dual : array (n,), a = minus the derivative of the loss at u
    removal_cost : array (k,), w_j^2 / (2 [inverse Hessian]_jj), to second order what the loss of one feature costs
    """

    weights: Vector
    free: Vector
    objective: float
    predictor: Vector
    dual: Vector
    removal_cost: Vector

    def only(self, used: Mask) -> LogisticFit:
        """The same fit without rows of weight 0, which it does not need."""
        return replace(self, weights=self.weights[used], removal_cost=self.removal_cost[used])


def value(margin: Margin, u: Vector) -> float:
    """sum_i s_i log(1 + exp(-y_i u_i)) for predictors u (n,)."""
    return float(margin.weights @ np.logaddexp(0.0, -margin.y * u))


def dual_vector(margin: Margin, u: Vector) -> Vector:
    """a_i = s_i y_i / (1 + exp(y_i u_i)): minus the derivative of the loss, shape (n,)."""
    return np.asarray(margin.weights * margin.y * expit(-margin.y * u))


def curvature(margin: Margin, u: Vector) -> Vector:
    """Second derivative of the loss in each predictor, shape (n,)."""
    return np.asarray(margin.weights * expit(u) * expit(-u))


def model_hessian(margin: Margin, rows: Matrix, h: Vector, gamma: float) -> Matrix:
    """Of the quadratic model at a curvature h (n,), in the weights of rows (q, n) and then the free part; definite."""
    scaled = np.concatenate([rows, margin.basis]) * np.sqrt(h)
    hessian = np.asarray(scaled @ scaled.T)
    ridge = np.full(len(scaled), np.finfo(np.float64).tiny)
    ridge[: len(rows)] = 1 / gamma
    hessian[np.diag_indices_from(hessian)] += ridge + _FAINT * np.diagonal(hessian)
    return hessian


def fit(
    margin: Margin,
    rows: Matrix,
    gamma: float,
    start: tuple[Vector, Vector] | None = None,
    rule: StepRule = newton_step,
) -> LogisticFit:
    """Minimise over w and b, for the rows (k, n) of a support; `start` holds weights (k,) and free part (q,).

    `rule` says where a step leads to: it knows what weights are allowed.
    """
    k = len(rows)
    design = np.concatenate([rows, margin.basis])
    ridge = np.concatenate([np.full(k, 1 / gamma), _free_ridge(margin)])
    first = np.zeros(ridge.size) if start is None else np.concatenate(start)
    found = _minimise(_Valley(margin, design, ridge, np.zeros_like(margin.y)), first, PRECISION, rule)
    weights, free = found.point[:k], found.point[k:]
    objective = value(margin, found.predictor) + float(weights @ weights) / (2 * gamma)
    removal = weights**2 / (2 * found.inverse_diagonal[:k])
    return LogisticFit(weights, free, objective, found.predictor, dual_vector(margin, found.predictor), removal)


def free_part(margin: Margin, offset: Vector) -> Vector:
    """The b (q,) that is best for predictors offset + basis'b, to the last digits: then basis @ a = 0."""
    valley = _Valley(margin, margin.basis, _free_ridge(margin), offset)
    return _minimise(valley, np.zeros(len(margin.basis)), _FINEST, newton_step).point


def _free_ridge(margin: Margin) -> Vector:
    sizes = (margin.basis**2) @ margin.weights
    # A row without a sample that counts says nothing, and keeps the coefficient 0 by any ridge.
    return np.asarray(_VANISHING * np.where(sizes > 0, sizes, 1.0))


@dataclass(frozen=True, slots=True)
class _Valley:
    """The function of a point (d,): loss at offset + design'point, plus half its square weighed by the ridge (d,)."""

    margin: Margin
    design: Matrix
    ridge: Vector
    offset: Vector

    def predictor(self, point: Vector) -> Vector:
        return np.asarray(self.offset + point @ self.design)

    def height(self, point: Vector, u: Vector) -> float:
        return value(self.margin, u) + 0.5 * float(self.ridge @ point**2)

    def slope(self, point: Vector, u: Vector) -> Vector:
        return np.asarray(self.ridge * point - self.design @ dual_vector(self.margin, u))

    def hessian(self, u: Vector) -> Matrix:
        scaled = self.design * np.sqrt(curvature(self.margin, u))
        return np.asarray(scaled @ scaled.T + np.diag(self.ridge))


@dataclass(frozen=True, slots=True)
class _Bottom:
    point: Vector
    predictor: Vector
    inverse_diagonal: Vector


def _minimise(valley: _Valley, point: Vector, precision: float, rule: StepRule) -> _Bottom:
    """Damped steps, until one promises less than `precision` of the height, or no step leads down."""
    u = valley.predictor(point)
    height = valley.height(point, u)
    diagonal = np.zeros_like(point)
    for _ in range(_MOST_ROUNDS):
        step = rule(valley.hessian(u), valley.slope(point, u), point)
        diagonal = step.inverse_diagonal
        after = _descend(valley, point, step, height)
        if after is None:
            break
        point, u, height = after
        if step.promised <= precision * height:
            break
    return _Bottom(point, u, diagonal)


def _descend(valley: _Valley, point: Vector, step: Step, height: float) -> tuple[Vector, Vector, float] | None:
    """Point, predictor and height after the longest step of length 1, 1/2, 1/4, ... that keeps its promise."""
    length = _longest(np.abs(step.direction @ valley.design).max(initial=0.0))
    for _ in range(_MOST_HALVINGS):
        after = point + length * step.direction
        u = valley.predictor(after)
        there = valley.height(after, u)
        if there <= height - 0.1 * length * step.promised or 0 < step.promised <= _ROUNDING * height:
            return after, u, there
        length /= 2
    return None


def _longest(reach: float) -> float:
    """The first power of 1/2 at which a step that changes predictors by up to `reach` changes none too much."""
    return 1.0 if reach <= _FARTHEST else 2.0 ** -math.ceil(math.log2(reach / _FARTHEST))
