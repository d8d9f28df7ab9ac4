"""How many features a subproblem looks for: a given number, the best of a few, or more as long as it pays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from backbone_dask.errors import InvalidSettingError
from backbone_dask.subproblems.gammas import GammaRule, OneGamma
from backbone_dask.subproblems.holdout import Learner, Split, SquaredLearner, draw_samples, draw_split, excerpt
from backbone_dask.subproblems.products import Positions
from backbone_dask.values import SparseFit, Standardised, Target

NEGLIGIBLE = 0.01
"""A share of the validation error. At 0.01 the same relevant features are found as at 0, among fewer others; at 0.02
and 0.05 some are lost. Measured in benchmarks/subproblems, as is STEPS."""
STEPS = 5
"""Gains of steps of a tenth drown in the noise of few samples, and the scheme then stops too early."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A model of the training samples, and its error on the others."""

    n_nonzero: int
    gamma: float
    support: Positions
    error: float


Try = Callable[[int, Positions | None], Attempt]
"""Fits a support of the given size, from the support of another one."""


class SizeRule(Protocol):
    """Which support sizes are tried, and which of them is taken."""

    @property
    def only(self) -> int | None:
        """The size, where there is nothing to choose."""
        ...

    def choose(self, attempt: Try) -> Attempt: ...


@dataclass(frozen=True, slots=True)
class FixedSize:
    """k_m, as given."""

    n_nonzero: int

    def __post_init__(self) -> None:
        _require_size("n_nonzero", self.n_nonzero)

    @property
    def only(self) -> int | None:
        return self.n_nonzero

    def choose(self, attempt: Try) -> Attempt:
        return attempt(self.n_nonzero, None)


@dataclass(frozen=True, slots=True)
class SizeGrid:
    """The size with the least validation error; of equals the smaller one."""

    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.sizes or list(self.sizes) != sorted(set(self.sizes)):
            raise InvalidSettingError(f"sizes are {self.sizes}; give at least one, in rising order")
        _require_size("the least of sizes", self.sizes[0])

    @classmethod
    def thirds(cls, n_nonzero: int) -> SizeGrid:
        """k/3, 2k/3 and k, rounded up."""
        _require_size("n_nonzero", n_nonzero)
        return cls(tuple(sorted({-(-n_nonzero * part // 3) for part in (1, 2, 3)})))

    @property
    def only(self) -> int | None:
        return self.sizes[0] if len(self.sizes) == 1 else None

    def choose(self, attempt: Try) -> Attempt:
        tried: list[Attempt] = []
        for size in self.sizes:
            tried.append(attempt(size, tried[-1].support if tried else None))
        return min(tried, key=lambda one: one.error)


@dataclass(frozen=True, slots=True)
class IncrementalSize:
    """The first of the sizes first, first + step, ... that neither of the next two improves on by more than a little.

    Sizes end with `most`, which may be less than a step away from the one before. `negligible` is the share of a size's
    validation error that an improvement must exceed.
    """

    first: int
    step: int
    most: int
    negligible: float = NEGLIGIBLE

    def __post_init__(self) -> None:
        for name in ("first", "step", "most"):
            _require_size(name, getattr(self, name))
        if self.first > self.most:
            raise InvalidSettingError(f"first is {self.first}; it must be at most {self.most}, the largest size")
        if not 0 <= self.negligible < 1:
            raise InvalidSettingError(f"negligible is {self.negligible}; it must be in [0, 1)")

    @classmethod
    def up_to(cls, n_nonzero: int) -> IncrementalSize:
        """Five steps of the same size."""
        _require_size("n_nonzero", n_nonzero)
        step = -(-n_nonzero // STEPS)
        return cls(step, step, n_nonzero)

    @property
    def only(self) -> int | None:
        return self.most if self.first == self.most else None

    def choose(self, attempt: Try) -> Attempt:
        tried = [attempt(self.first, None)]
        while tried[-1].n_nonzero < self.most and not self._stands(tried[-3:]):
            tried.append(attempt(min(tried[-1].n_nonzero + self.step, self.most), tried[-1].support))
        # Sizes near the largest have fewer than two behind them to be compared with.
        return next(tried[i] for i in range(len(tried)) if self._unbeaten(tried[i : i + 3]))

    def _stands(self, three: list[Attempt]) -> bool:
        return len(three) == 3 and self._unbeaten(three)

    def _unbeaten(self, few: list[Attempt]) -> bool:
        return all(one.error >= (1 - self.negligible) * few[0].error for one in few[1:])


@dataclass(frozen=True, slots=True)
class FitChosenSize:
    """Solves a subproblem with a support size and a ridge weight chosen on a hold-out of it.

    Each size is fitted to the training samples, from the support of the size before, then each further gamma at the
    chosen size, from the support of the gamma before. The model is that of all samples at what was chosen. With one
    size and one gamma nothing is held out. A `sample_fraction` below 1 draws the samples that the subproblem sees; its
    objective is then that of those samples. The same arguments give the same bits.
    """

    size: SizeRule
    gamma: GammaRule = field(default_factory=OneGamma)
    learner: Learner = field(default_factory=SquaredLearner)
    sample_fraction: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.sample_fraction <= 1:
            raise InvalidSettingError(f"sample_fraction is {self.sample_fraction}; it must be in (0, 1]")

    def __call__(self, X: Standardised, y: Target, *, seed: int) -> SparseFit:
        if self.sample_fraction == 1:
            return self._fit(self.learner, X, y, seed)
        samples = draw_samples(X.shape[1], self.sample_fraction, seed)
        part = excerpt(X, samples)
        return part.in_units_of_the_whole(self._fit(self.learner.on(samples), part.X, y[samples], seed))

    def _fit(self, learner: Learner, X: Standardised, y: Target, seed: int) -> SparseFit:
        gamma = self.gamma.first(X.shape[1])
        if self.size.only is not None and self.gamma.is_settled:
            return learner.fit(X, y, n_nonzero=self.size.only, gamma=gamma, start=None, seed=seed)
        chosen = self._chosen(learner, X, y, seed)
        return learner.fit(X, y, n_nonzero=chosen.n_nonzero, gamma=chosen.gamma, start=chosen.support, seed=seed)

    def _chosen(self, learner: Learner, X: Standardised, y: Target, seed: int) -> Attempt:
        trial = holdout_trial(learner, X, y, draw_split(X.shape[1], seed), seed)
        best = self.size.choose(partial(trial, self.gamma.first(X.shape[1])))
        last = best
        for gamma in self.gamma.others(X, best.n_nonzero):
            last = trial(gamma, best.n_nonzero, last.support)
            best = last if last.error < best.error else best
        return best


def holdout_trial(
    learner: Learner, X: Standardised, y: Target, split: Split, seed: int
) -> Callable[[float, int, Positions | None], Attempt]:
    """A function of (gamma, n_nonzero, start) that fits the training samples and judges by the others."""
    part, trained = excerpt(X, split.training), learner.on(split.training)
    target = y[split.training]

    def trial(gamma: float, n_nonzero: int, start: Positions | None) -> Attempt:
        search = trained.fit if start is None else partial(trained.refine, start=start)
        fit = search(part.X, target, n_nonzero=n_nonzero, gamma=gamma, seed=seed)
        error = learner.error(part.in_units_of_the_whole(fit), X, y, split)
        return Attempt(n_nonzero, gamma, fit.support, error)

    return trial


def _require_size(name: str, value: int) -> None:
    if value < 1:
        raise InvalidSettingError(f"{name} is {value}; it must be at least 1")
