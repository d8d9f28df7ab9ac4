"""Algorithm 3: which candidates each subproblem examines. Every draw is addressed by (seed, level, index)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from backbone_dask.registry import Registry
from backbone_dask.values import CandidateIds, Screening, Subproblem, Utilities

LogWeights: TypeAlias = NDArray[np.float64]
weights: Registry[Callable[[Utilities], LogWeights]] = Registry("sampling")


@weights.register("exponential")
def exponential(utilities: Utilities) -> LogWeights:
    """The paper's exp(s / max s + 1)."""
    largest = utilities.max(initial=0.0)
    return utilities / largest + 1 if largest > 0 else np.ones_like(utilities)


@weights.register("uniform")
def uniform(utilities: Utilities) -> LogWeights:
    return np.zeros_like(utilities)


@weights.register("proportional")
def proportional(utilities: Utilities) -> LogWeights:
    return np.log(np.maximum(utilities, np.finfo(float).tiny))


# Covering weighs as the paper does; what it adds is the deal that examines every candidate.
weights.register("covering")(exponential)


@dataclass(frozen=True, slots=True)
class Sampler:
    """Draws subproblems: ceil(fraction |U|) candidates each, and never fewer than `least`.

    Below the first level there are few candidates, and few subproblems: all of them are dealt out, so that nothing that
    was found relevant is lost for want of being looked at again. Covering does so at the first level, too.
    """

    sampling: str
    fraction: float
    least: int
    seed: int

    def __call__(self, screening: Screening, *, level: int, count: int) -> list[Subproblem]:
        """`count` subproblems of `screening`; the same arguments give the same ids."""
        ids = screening.candidates
        log_weights = weights[self.sampling](screening.utilities)
        streams = np.random.SeedSequence([self.seed, level]).spawn(count + 1)
        bonus = _deal(ids.size, count, streams[count]) if self._deals(level) else np.zeros(count)
        size = self.size(ids.size, count, level)
        return [_draw(level, index, ids, log_weights + bonus[index], size, streams[index]) for index in range(count)]

    def size(self, n_candidates: int, count: int, level: int = 0) -> int:
        """How many candidates one of `count` subproblems examines."""
        share = math.ceil(n_candidates / max(count, 1)) if self._deals(level) else 0
        return min(max(math.ceil(self.fraction * n_candidates), self.least, share), n_candidates)

    def _deals(self, level: int) -> bool:
        return level > 0 or self.sampling == "covering"


def _deal(n_candidates: int, count: int, stream: np.random.SeedSequence) -> list[LogWeights]:
    """Every candidate is dealt to one subproblem, in which it then comes before all others."""
    owner = np.random.default_rng(stream).permutation(np.arange(n_candidates) % count)
    return [np.where(owner == index, np.inf, 0.0) for index in range(count)]


def _draw(
    level: int, index: int, ids: CandidateIds, log_weights: LogWeights, size: int, stream: np.random.SeedSequence
) -> Subproblem:
    # Gumbel keys: one vectorised pass, the same law as drawing one at a time without replacement.
    keys = log_weights + np.random.default_rng(stream).gumbel(size=ids.size)
    chosen = np.argpartition(keys, ids.size - size)[ids.size - size :]
    seed = int(stream.generate_state(1)[0])
    return Subproblem(level, index, np.sort(ids[chosen]), seed)
