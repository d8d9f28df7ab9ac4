"""The words of the method as small frozen values. What travels between machines is one of these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

CandidateIds: TypeAlias = NDArray[np.int64]
"""Global feature ids: sorted, unique."""
Utilities: TypeAlias = NDArray[np.float64]
"""One score per feature: finite, >= 0, larger is better."""
Mask: TypeAlias = NDArray[np.bool_]
Target: TypeAlias = NDArray[np.float64]
"""The response, shape (samples,)."""
Standardised: TypeAlias = NDArray[np.float32]
"""Shape (features, samples); every row has mean 0 and X_j'X_j = n, or is all zero if it is constant."""

MOST_CLASSES = 50
"""A response of more different labels is no response of classes."""

ModelT = TypeVar("ModelT")
ModelT_co = TypeVar("ModelT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class FeatureBlock:
    """A run of whole features [start, stop): the unit of reading and screening."""

    index: int
    start: int
    stop: int

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, slots=True)
class Shard:
    """A run of features [start, stop) that lies on a host, or with a worker of that name."""

    start: int
    stop: int
    host: str


@dataclass(frozen=True, slots=True)
class Seat:
    """A worker as placement sees it. Its name stays when it is restarted, its address does not."""

    name: str
    hosts: frozenset[str] = frozenset()
    threads: int = 1

    def answers_to(self, host: str) -> bool:
        return host == self.name or host in self.hosts


@dataclass(frozen=True, slots=True)
class Ranking:
    """The best candidates of a part of the table, by id, and how many of its columns were constant."""

    candidates: CandidateIds
    utilities: Utilities
    n_scored: int
    n_constant: int


@dataclass(frozen=True, slots=True)
class Screening:
    """Survivors of the screen with their utilities, by id.

    `chance` is the best utility of any column for shuffled responses, where survivors had to exceed it.
    """

    candidates: CandidateIds
    utilities: Utilities
    n_features: int
    n_constant: int
    chance: float | None = None

    def restrict(self, ids: CandidateIds) -> Screening:
        """The same screening with `ids` as the only survivors."""
        at = np.searchsorted(self.candidates, ids)
        return replace(self, candidates=ids, utilities=self.utilities[at])


@dataclass(frozen=True, slots=True)
class Subproblem:
    """One unit of distributed work: ids and a seed, never data."""

    level: int
    index: int
    candidates: CandidateIds
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What one subproblem found relevant, in global ids."""

    level: int
    index: int
    relevant: CandidateIds
    objective: float
    seconds: float


@dataclass(frozen=True, slots=True)
class LevelRecord:
    """One round of the hierarchy: who was asked, what they said, what is left.

    `examined` counts, after each answer, the candidates that some subproblem has looked at by then.
    """

    level: int
    n_candidates: int
    n_planned: int
    coverage: float
    answers: tuple[Answer, ...]
    backbone: CandidateIds
    examined: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SparseFit:
    """A linear model on the rows of one standardised matrix: positions in it, and their weights."""

    n_columns: int
    support: NDArray[np.int64]
    weights: NDArray[np.float64]
    objective: float


class Termination(StrEnum):
    """Why an exact solve stopped. How good its answer is, the gap says."""

    PROVEN = "proven"
    """The gap is within the tolerance."""
    TIME_LIMIT = "time_limit"
    ROUND_LIMIT = "round_limit"

    @staticmethod
    def worst(several: Iterable[Termination]) -> Termination:
        """A time limit if any is one, for it is what may end otherwise on another machine; else a round limit."""
        found = set(several)
        limits = (Termination.TIME_LIMIT, Termination.ROUND_LIMIT)
        return next((each for each in limits if each in found), Termination.PROVEN)


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One size and ridge weight that was tried: its error on each validation set, and how its fits ended.

    `weights` are those of the validation sets, `gap` is the largest and `termination` the worst. Where it is a time
    limit, the errors may be others on another machine, and with them the choice.
    """

    n_nonzero: int
    gamma: float
    errors: tuple[float, ...]
    gap: float
    termination: Termination = Termination.PROVEN
    weights: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        return mean_error(self.errors, self.weights)


@dataclass(frozen=True, slots=True)
class TreePoint:
    """One way to limit a tree that was tried: its error on each validation set, and the worst end of its searches."""

    depth: int
    min_bucket: float
    complexity: float
    errors: tuple[float, ...]
    termination: Termination = Termination.ROUND_LIMIT
    weights: tuple[float, ...] = ()

    @property
    def error(self) -> float:
        return mean_error(self.errors, self.weights)


def mean_error(errors: tuple[float, ...], weights: tuple[float, ...]) -> float:
    """The mean over validation sets, each by the weight of its samples; equal ones if none are given."""
    weights = weights or (1.0,) * len(errors)
    return sum(weight * error for weight, error in zip(weights, errors, strict=True)) / sum(weights)


@dataclass(frozen=True, slots=True)
class TracePoint:
    """What a solve had found and proved, so many seconds after it began."""

    seconds: float
    objective: float
    bound: float


@dataclass(frozen=True, slots=True)
class Outcome(Generic[ModelT]):
    """The best model of an exact solve, a proven lower bound for its objective, and why it stopped.

    `trace` is how objective and bound came closer: seconds never decrease, nor does the bound, the objective never
    rises, and the last point is the outcome. It is empty where a solver does not record it.
    """

    model: ModelT
    objective: float
    bound: float
    termination: Termination
    rounds: int
    seconds: float
    trace: tuple[TracePoint, ...] = ()

    @property
    def gap(self) -> float:
        """(objective - bound) / |objective|: 0 is proven optimal for the reduced problem."""
        if self.objective <= self.bound:
            return 0.0
        return (self.objective - self.bound) / max(abs(self.objective), np.finfo(float).tiny)
