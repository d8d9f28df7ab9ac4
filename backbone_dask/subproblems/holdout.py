"""Some of the samples: a hold-out to choose settings on, a part to solve a subproblem on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numba
import numpy as np

from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.losses import logistic
from backbone_dask.losses.logistic import Margin
from backbone_dask.losses.squared import Matrix, Vector
from backbone_dask.subproblems.logistic_relaxation import fit_logistic_relaxation
from backbone_dask.subproblems.products import Positions
from backbone_dask.subproblems.relaxation import fit_relaxation, refine
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import SparseFit, Standardised, Target

TRAINING_SHARE = 0.7
_SPLIT, _SAMPLES = 1, 2
"""Addresses of the draws of one subproblem."""


@dataclass(frozen=True, slots=True)
class Split:
    """Samples to fit on and samples to judge the fit by; sorted."""

    training: Positions
    validation: Positions


def draw_split(n_samples: int, seed: int) -> Split:
    """The hold-out of a subproblem: 0.7 of the samples train, at least one does, and at least one validates."""
    if n_samples < 2:
        raise InvalidDataError(
            f"a hold-out needs at least 2 samples, not {n_samples}; use a fixed support size and one gamma"
        )
    order = np.random.default_rng([seed, _SPLIT]).permutation(n_samples)
    size = min(max(round(TRAINING_SHARE * n_samples), 1), n_samples - 1)
    return Split(np.sort(order[:size]), np.sort(order[size:]))


def draw_samples(n_samples: int, fraction: float, seed: int) -> Positions:
    """A share in (0, 1] of the samples, at least one; sorted."""
    if not 0 < fraction <= 1:
        raise InvalidSettingError(f"sample_fraction is {fraction}; it must be in (0, 1]")
    size = max(round(fraction * n_samples), 1)
    return np.sort(np.random.default_rng([seed, _SAMPLES]).permutation(n_samples)[:size])


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Some samples of a standardised matrix: X (m, s) has X_j'X_j = s again, or a row of zeros for a constant one.

    `scale` (m,) is what each row was divided by, 0 for a row of zeros.
    """

    X: Standardised
    scale: Vector

    def in_units_of_the_whole(self, fit: SparseFit) -> SparseFit:
        """The same model as weights of the rows that the excerpt was taken from."""
        return SparseFit(fit.n_columns, fit.support, fit.weights / self.scale[fit.support], fit.objective)


def excerpt(X: Standardised, samples: Positions) -> Excerpt:
    """The given samples of X (m, n).

    Rows are not centred again. The intercept was taken out of X and y over all samples, and where samples have
    weights it does not lie along the ones: to centre would be to take out something else.
    """
    out, scale = np.empty((X.shape[0], samples.size), np.float32), np.empty(X.shape[0])
    _excerpt(X, samples, out, scale)
    return Excerpt(out, scale)


@numba.njit(cache=True, nogil=True)
def _excerpt(X, samples, out, scale):  # type: ignore[no-untyped-def]
    for j in range(X.shape[0]):
        squares, changes = 0.0, 0
        for i in range(samples.size):
            value = X[j, samples[i]]
            out[j, i] = value
            squares += np.float64(value) * value
            changes += value != out[j, 0]
        scale[j] = np.sqrt(squares / samples.size) if changes else 0.0
        inverse = 1.0 / scale[j] if changes else 0.0
        for i in range(samples.size):
            out[j, i] = np.float32(out[j, i] * inverse)


class Learner(Protocol):
    """A sparse solver, and how wrong its models are on samples that they have not seen."""

    def fit(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float | None,
        start: Positions | None = None,
        seed: int,
    ) -> SparseFit:
        """A model on at most `n_nonzero` rows of X (m, n), as good as can be; `start` is a support worth a look."""
        ...

    def refine(
        self, X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, start: Positions, seed: int
    ) -> SparseFit:
        """The same from the support of another size or gamma alone, for less work."""
        ...

    def on(self, samples: Positions) -> Learner:
        """The same for some of the samples only."""
        ...

    def error(self, fit: SparseFit, X: Standardised, y: Target, split: Split) -> float:
        """The mean loss on the validation samples of a model of the training samples, in the units of X (m, n)."""
        ...


@dataclass(frozen=True, slots=True)
class SquaredLearner:
    """SR-REL for squared loss. Whatever else is in the model was taken out of X and y."""

    def fit(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float | None,
        start: Positions | None = None,
        seed: int,
    ) -> SparseFit:
        return fit_relaxation(X, y, n_nonzero=n_nonzero, gamma=gamma, start=start, seed=seed)

    def refine(
        self, X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, start: Positions, seed: int
    ) -> SparseFit:
        return refine(X, y, n_nonzero=n_nonzero, gamma=gamma, start=start)

    def on(self, samples: Positions) -> SquaredLearner:
        return self

    def error(self, fit: SparseFit, X: Standardised, y: Target, split: Split) -> float:
        with one_blas_thread():
            residual = y[split.validation] - _predicted(fit, X, split.validation)
            return float(residual @ residual) / residual.size


@dataclass(frozen=True, slots=True)
class LogisticLearner:
    """SR-REL for logistic loss and labels -1 and 1, with sample weights (n,) and an unpenalised basis (q, n)."""

    weights: Vector
    basis: Matrix

    def fit(
        self,
        X: Standardised,
        y: Target,
        *,
        n_nonzero: int,
        gamma: float | None,
        start: Positions | None = None,
        seed: int,
    ) -> SparseFit:
        margin = Margin.of(y, self.weights, self.basis)
        return fit_logistic_relaxation(X, margin, n_nonzero=n_nonzero, gamma=gamma, start=start, seed=seed)

    def refine(
        self, X: Standardised, y: Target, *, n_nonzero: int, gamma: float | None, start: Positions, seed: int
    ) -> SparseFit:
        return self.fit(X, y, n_nonzero=n_nonzero, gamma=gamma, start=start, seed=seed)

    def on(self, samples: Positions) -> LogisticLearner:
        return replace(self, weights=self.weights[samples], basis=self.basis[:, samples])

    def error(self, fit: SparseFit, X: Standardised, y: Target, split: Split) -> float:
        with one_blas_thread():
            free = logistic.free_part(self._margin(y, split.training), _predicted(fit, X, split.training))
            margin = self._margin(y, split.validation)
            loss = logistic.value(margin, _predicted(fit, X, split.validation) + free @ margin.basis)
        return loss / max(float(margin.weights.sum()), np.finfo(np.float64).tiny)

    def _margin(self, y: Target, samples: Positions) -> Margin:
        # Not checked: among a few samples all weights may be 0.
        return Margin(y[samples], self.weights[samples], self.basis[:, samples])


def _predicted(fit: SparseFit, X: Standardised, samples: Positions) -> Vector:
    return np.asarray(fit.weights @ X[fit.support][:, samples].astype(np.float64))
