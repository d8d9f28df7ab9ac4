"""One question of a screen, or many by one pass: several targets, every fold, what is left beside some columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from backbone_dask.columns import Columns, measured
from backbone_dask.protocols import Screen, Shuffle
from backbone_dask.screens.sums import exact_squares, exact_sums, weighted_squares, weighted_sums
from backbone_dask.threads import one_blas_thread
from backbone_dask.values import Mask, Target

FloatMatrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """A target on some of the samples: what one row of a panel answers."""

    target: str
    fold: int | None
    """The fold that is left out; None for all samples."""


@dataclass(frozen=True, slots=True)
class OneQuestion:
    """A screen against one target, as a panel."""

    screen: Screen
    y: Target
    n_questions: int = 1

    def __call__(self, columns: Columns) -> FloatMatrix:
        return self.screen(columns, self.y)[None]

    def shuffled(self, shuffle: Shuffle) -> SubsetsPanel:
        return SubsetsPanel(self.screen, shuffle(self.y), (np.ones(self.y.size, np.bool_),))


@dataclass(frozen=True, slots=True)
class TargetsPanel:
    """|cor(X_j, y)| for many targets: a matrix product."""

    targets: FloatMatrix

    @property
    def n_questions(self) -> int:
        return len(self.targets)

    def __call__(self, columns: Columns) -> FloatMatrix:
        centred = self.targets - self.targets.mean(axis=1, keepdims=True)
        unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
        return _ratio(weighted_sums(columns, unit), columns.scale * np.sqrt(self.targets.shape[1]))


@dataclass(frozen=True, slots=True)
class FoldsPanel:
    """|cor(X_j, y)| for every target, on all samples and with each fold left out: sums per fold, subtracted.

    `folds` holds the fold of every sample, counted from 0; -1 is in every training set. Questions run over targets,
    and for each over "no fold left out", fold 0, fold 1, ...
    """

    targets: FloatMatrix
    folds: NDArray[np.int64]

    @property
    def n_folds(self) -> int:
        return int(self.folds.max()) + 1

    @property
    def n_questions(self) -> int:
        return len(self.targets) * (self.n_folds + 1)

    def __call__(self, columns: Columns) -> FloatMatrix:
        inside = self._inside()
        sums = _left_out(exact_sums(columns, inside))
        squares = _left_out(exact_squares(columns, inside))
        sizes = _left_out(inside.sum(axis=1, keepdims=True))
        # Rounding must not make a column that is constant outside a fold look as if it varied.
        spread = np.maximum(squares - sums**2 / sizes, 0)
        spread[spread <= 1e-12 * squares] = 0
        scores = [self._target(columns, y, inside, sums, spread) for y in self.targets]
        return np.concatenate(scores)

    def _target(
        self, columns: Columns, y: Target, inside: FloatMatrix, sums: FloatMatrix, spread: FloatMatrix
    ) -> FloatMatrix:
        centred = y - y.mean()
        products = _left_out(exact_sums(columns, inside * centred))
        totals = _left_out((inside * centred).sum(axis=1, keepdims=True))
        sizes = _left_out(inside.sum(axis=1, keepdims=True))
        deviation = _left_out((inside * centred**2).sum(axis=1, keepdims=True)) - totals**2 / sizes
        return _ratio(np.abs(products - sums * totals / sizes), np.sqrt(spread * np.maximum(deviation, 0)))

    def _inside(self) -> FloatMatrix:
        """Membership of every fold, and last of the samples that no fold leaves out."""
        rows = [*range(self.n_folds), -1]
        return np.array([self.folds == fold for fold in rows], np.float64)


@dataclass(frozen=True, slots=True)
class SubsetsPanel:
    """Any screen on subsets of the samples: one read of a block serves them all, one score for each."""

    screen: Screen
    targets: FloatMatrix
    subsets: tuple[Mask, ...]

    @property
    def n_questions(self) -> int:
        return len(self.targets) * len(self.subsets)

    def __call__(self, columns: Columns) -> FloatMatrix:
        parts = [_restricted(columns, subset) for subset in self.subsets]
        pairs = [(part, y[subset]) for y in self.targets for part, subset in zip(parts, self.subsets, strict=True)]
        return np.stack([self.screen(part, y) for part, y in pairs])

    def shuffled(self, shuffle: Shuffle) -> SubsetsPanel:
        return replace(self, targets=np.concatenate([shuffle(y) for y in self.targets]))


@dataclass(frozen=True, slots=True)
class ScorePanel:
    """The score test of every column, given what is in the model: |x'v| / sqrt(x'Hx - |B x|^2), as a correlation.

    H weighs the samples by the curvature of the loss at that model, and v is minus the loss's gradient there. In terms
    of root = sqrt(H): `basis` is orthonormal, shape (directions, samples), and spans root * (what is in the model), so
    B = basis * root; `residual` = v / root is orthogonal to it, and there may be several, a row for each question. With
    squared loss it is the partial correlation. A column in the span itself scores 0. `centred`: the model has an
    intercept, and the mean of a column does not matter.
    """

    root: Target
    basis: FloatMatrix
    residual: Target | FloatMatrix
    centred: bool = True

    @property
    def n_questions(self) -> int:
        return len(np.atleast_2d(self.residual))

    def shuffled(self, shuffle: Shuffle) -> ScorePanel:
        """What is left to explain, with signs by chance, and brought out of the span again.

        Samples of other weights have other spreads, and a permutation would bring them together with others' weights.
        """
        with one_blas_thread():
            responses = shuffle.flipped(np.ravel(self.residual))
            return replace(self, residual=responses - (responses @ self.basis.T) @ self.basis)

    def __call__(self, columns: Columns) -> FloatMatrix:
        residuals = np.atleast_2d(self.residual)
        lengths = np.sqrt(np.sum(residuals * residuals, axis=1, keepdims=True))
        units = np.divide(residuals, lengths, out=np.zeros_like(residuals), where=lengths > 0)
        rows, curvature = np.vstack([units, self.basis]) * self.root, (self.root**2)[None]
        sums, whole = weighted_sums(columns, rows), weighted_squares(columns, curvature)[0]
        if not self.centred:
            inside = weighted_sums(columns, curvature)[0]
            whole = whole + columns.mean * (2 * inside + columns.mean * curvature.sum())
            sums = sums + columns.mean * rows.sum(axis=1, keepdims=True)
        asked = len(residuals)
        left = whole - (sums[asked:] ** 2).sum(axis=0)
        # What is left of a column inside the span is rounding.
        return _ratio(np.abs(sums[:asked]), np.sqrt(np.where(left > 1e-4 * whole, left, 0)))


def _left_out(by_fold: FloatMatrix) -> FloatMatrix:
    """Totals over all samples, then without each fold; the last row belongs to no fold."""
    total = by_fold.sum(axis=0, keepdims=True)
    return np.concatenate([total, total - by_fold[:-1]])


def _ratio(above: FloatMatrix, below: FloatMatrix) -> FloatMatrix:
    below = np.broadcast_to(below, above.shape)
    scores = np.divide(np.abs(above), below, out=np.zeros_like(above), where=below > 0)
    return np.minimum(scores, 1.0)


def _restricted(columns: Columns, subset: Mask) -> Columns:
    if subset.all():
        return columns
    return measured(np.ascontiguousarray(columns.values[:, subset]), columns.missing)[0]
