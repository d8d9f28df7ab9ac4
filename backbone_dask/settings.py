"""What a user may choose, checked once, before any work starts."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from numbers import Integral, Real
from typing import Any

from backbone_dask.errors import InvalidSettingError

SMALLEST_SCREEN = 1000
DEFAULT_NONZERO = 10


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one run; None means "choose from the data".

    Attributes
    ----------
    n_nonzero : k, the most features in the final model.
    gamma : ridge weight on columns scaled to X_j'X_j = n; None is 1/sqrt(n).
    screen_size : alpha p, features that survive the screen; None is the larger of 4n and 1000.
    screen_rounds : passes over the columns; each after the first screens what the model so far leaves unexplained.
    subproblem_fraction : beta, share of the candidates in one subproblem, which examines at least backbone_max of them.
    n_subproblems : M, subproblems at the first level; halved at each further one.
    backbone_max : B_max, largest backbone that the exact solve takes.
    sampling : how subproblems draw candidates: exponential, uniform, proportional or covering.
    patience : a level ends early after this many subproblems in a row that add nothing; None never ends early.
    time_limit : seconds for the exact solve.
    gap_tolerance : relative gap at which the exact solve counts as proven.
    seed : of every random draw.
    """

    n_nonzero: int | None = None
    gamma: float | None = None
    screen_size: int | None = None
    screen_rounds: int = 1
    subproblem_fraction: float = 0.5
    n_subproblems: int = 10
    backbone_max: int = 250
    sampling: str = "exponential"
    patience: int | None = 2
    time_limit: float = 60.0
    gap_tolerance: float = 1e-4
    seed: int = 0

    def resolve(self, *, n_samples: int, n_features: int) -> ResolvedSettings:
        """The same settings with every choice made for data of this shape; raises InvalidSettingError."""
        plain = Settings(**{name: _plain(name, value) for name, value in asdict(self).items()})
        return plain._resolved(n_samples, n_features)

    def _resolved(self, n_samples: int, n_features: int) -> ResolvedSettings:
        chosen = asdict(self)
        chosen["n_nonzero"] = self._n_nonzero(n_samples, n_features)
        chosen["gamma"] = self.gamma if self.gamma is not None else 1 / math.sqrt(n_samples)
        wanted = self.screen_size if self.screen_size is not None else max(4 * n_samples, SMALLEST_SCREEN)
        chosen["screen_size"] = min(wanted, n_features)
        if self.sampling == "covering":
            # A level that stops early has not examined every candidate.
            chosen["patience"] = None
        self._check(chosen["n_nonzero"], n_samples, n_features)
        return ResolvedSettings(**chosen)

    def _n_nonzero(self, n_samples: int, n_features: int) -> int:
        """As asked, else the default or the most that the data and the other settings leave room for."""
        if self.n_nonzero is not None:
            return self.n_nonzero
        screened = n_features if self.screen_size is None else self.screen_size
        return max(min(DEFAULT_NONZERO, n_samples, n_features, screened, self.backbone_max), 1)

    def _check(self, k: int, n_samples: int, n_features: int) -> None:
        for wrong, message in (
            (k < 1, f"n_nonzero is {k}; it must be at least 1"),
            (k > n_features, f"n_nonzero is {k}, but the data have only {n_features} features"),
            (k > n_samples, f"n_nonzero is {k}, but the data have only {n_samples} samples"),
            (not _positive(self.gamma), f"gamma is {self.gamma}; it must be positive and finite"),
            (
                _below(self.screen_size, k),
                f"screen_size is {self.screen_size}; it must be at least n_nonzero ({k})",
            ),
            (
                not 0 < self.subproblem_fraction <= 1,
                f"subproblem_fraction is {self.subproblem_fraction}; it must be in (0, 1]",
            ),
            (self.screen_rounds < 1, f"screen_rounds is {self.screen_rounds}; it must be at least 1"),
            (self.n_subproblems < 1, f"n_subproblems is {self.n_subproblems}; it must be at least 1"),
            (self.backbone_max < k, f"backbone_max is {self.backbone_max}; it must be at least n_nonzero ({k})"),
            (_below(self.patience, 1), f"patience is {self.patience}; it must be at least 1, or None"),
            (not 0 < self.time_limit < math.inf, f"time_limit is {self.time_limit}; it must be positive and finite"),
            (not 0 <= self.gap_tolerance < 1, f"gap_tolerance is {self.gap_tolerance}; it must be in [0, 1)"),
            (self.seed < 0, f"seed is {self.seed}; it must not be negative"),
        ):
            if wrong:
                raise InvalidSettingError(message)


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Settings after every choice is made; what a run records."""

    n_nonzero: int
    gamma: float
    screen_size: int
    screen_rounds: int
    subproblem_fraction: float
    n_subproblems: int
    backbone_max: int
    sampling: str
    patience: int | None
    time_limit: float
    gap_tolerance: float
    seed: int


_OPTIONAL = ("n_nonzero", "gamma", "screen_size", "patience")
_WHOLE = ("n_nonzero", "screen_size", "screen_rounds", "n_subproblems", "backbone_max", "patience", "seed")


def _plain(name: str, value: Any) -> Any:
    """A Python number, whatever kind of number it was; refuses a fraction where a whole number is needed."""
    if name == "sampling" or (value is None and name in _OPTIONAL):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if name in _WHOLE or not isinstance(value, Real):
        kind = "whole number" if name in _WHOLE else "number"
        raise InvalidSettingError(f"{name} is {value!r}; it must be a {kind}")
    return float(value)


def _positive(value: float | None) -> bool:
    return value is None or (value > 0 and math.isfinite(value))


def _below(value: int | None, least: int) -> bool:
    return value is not None and value < least
