"""What a user may choose, checked once, before any work starts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from backbone_dask.certificate import Certify, as_certify
from backbone_dask.errors import InvalidSettingError
from backbone_dask.setting_ranges import (
    CHANCE,
    below,
    is_validation,
    least,
    least_fraction,
    nearest,
    number,
    positive,
    require_room,
    shown,
    validation_help,
)

SMALLEST_SCREEN = 1000
DEFAULT_NONZERO = 10
GAMMA_GRID = 5
WEAKER = (16.0, 4.0)
"""Times the usual ridge weight, which come before it in the grid."""
LARGEST_AUTO = 50
_AUTO_STEP = 1.5
MISSED = 0.05
"""Probability that a subproblem misses a relevant feature it examines; benchmarks/subproblems measures less."""
CHOICES: dict[str, tuple[str, ...]] = {
    "subproblem": ("relaxation", "elastic-net", "rounding"),
    "subproblem_size": ("fixed", "grid", "incremental"),
    "exact": ("branch-and-bound", "outer-approximation"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one run; None means "choose from the data".

    Attributes
    ----------
    n_nonzero : k, the most features in the final model; a list, or "auto", to choose on validation samples.
    gamma : ridge weight on columns scaled to X_j'X_j = n; None is 1/sqrt(n). A list, or "grid" (five values from
        1/(k n) to 1/sqrt(n), and 4 and 16 times the last), to choose on validation samples.
    validation : how k and gamma are chosen from several: the share of samples to train on (0.7), a number of folds
        (by the rule of one standard error for gamma), or "ebic", a criterion that needs no samples held out.
    screen_size : alpha p, features that survive the screen; None is the larger of 4n and 1000. Of at most as many,
        "chance" keeps those that score higher than any column does for ten shuffled responses.
    screen_rounds : passes over the columns; each after the first screens what the model so far leaves unexplained.
    subproblem_fraction : beta, share of the candidates in one subproblem, which examines at least backbone_max of them.
    n_subproblems : M, subproblems at the first level, halved at each further one; "auto" takes the theorem's number.
        0: all survivors are the backbone; where screen_size is left open, at most backbone_max survive.
    subproblem : how a subproblem is solved: relaxation (SR-REL), elastic-net or rounding.
    subproblem_size : support size of a subproblem: fixed (k), grid (k/3, 2k/3 or k) or incremental, on a hold-out.
    subproblem_gamma : ridge weight of subproblems; None is gamma, of several the one that is nearest to 1/sqrt(n);
        "grid" chooses on the hold-out.
    sample_fraction : share of the samples that each subproblem sees.
    backbone_max : B_max, largest backbone that the exact solve takes.
    sampling : how subproblems draw candidates: exponential, uniform, proportional or covering.
    patience : a level ends early after this many subproblems in a row that add nothing; None never ends early.
    exact : how the reduced problem is solved: branch-and-bound or outer-approximation.
    time_limit : seconds for the exact solve, and in all for those that k and gamma are chosen by.
    gap_tolerance : relative gap at which the exact solve counts as proven.
    certify : whether all columns are priced for a bound over all of them: True, False, or a dict of what
        :class:`backbone_dask.certificate.Certify` has.
    seed : of every random draw.
    """

    n_nonzero: int | Sequence[int] | str | None = None
    gamma: float | Sequence[float] | str | None = None
    validation: float | int | str = 0.7
    screen_size: int | str | None = None
    screen_rounds: int = 1
    subproblem_fraction: float = 0.5
    n_subproblems: int | str = 10
    subproblem: str = "relaxation"
    subproblem_size: str = "fixed"
    subproblem_gamma: float | str | None = None
    sample_fraction: float = 1.0
    backbone_max: int = 250
    sampling: str = "exponential"
    patience: int | None = 2
    exact: str = "branch-and-bound"
    time_limit: float = 60.0
    gap_tolerance: float = 1e-4
    certify: bool | Mapping[str, Any] | Certify | None = None
    seed: int = 0

    def resolve(self, *, n_samples: int, n_features: int, total: float | None = None) -> ResolvedSettings:
        """The same settings with every choice made for data of this shape; raises InvalidSettingError.

        `total` is how many samples the sample weights stand for.
        """
        plain = Settings(**{name: _plain(name, value) for name, value in asdict(self).items()})
        return plain._resolved(n_samples, n_features, n_samples if total is None else total)

    def _resolved(self, n_samples: int, n_features: int, total: float) -> ResolvedSettings:
        sizes = self._sizes(n_samples, n_features)
        gammas = self._gammas(sizes[-1], total)
        survivors = min(self._survivors(n_samples), n_features)
        self._check(sizes[-1], n_samples, n_features)
        self._require_samples(max(sizes[-1], 2), n_samples)
        require_room(self.n_subproblems, survivors, self.backbone_max)
        chosen = asdict(self) | {
            "n_nonzero": sizes[-1],
            "gamma": nearest(gammas, 1 / math.sqrt(total)),
            "sizes": sizes,
            "gammas": gammas,
            "screen_size": survivors,
            "by_chance": isinstance(self.screen_size, str),
            "n_subproblems": self._n_subproblems(survivors, sizes[-1]),
            # A level that stops early has not examined every candidate.
            "patience": None if self.sampling == "covering" else self.patience,
            "certify": self.certify,
        }
        return ResolvedSettings(**chosen)

    def _survivors(self, n_samples: int) -> int:
        """The most that are to survive the screen."""
        if isinstance(self.screen_size, int):
            return self.screen_size
        return max(4 * n_samples, SMALLEST_SCREEN) if self.n_subproblems else self.backbone_max

    def _sizes(self, n_samples: int, n_features: int) -> tuple[int, ...]:
        """Support sizes to choose from, rising; one if there is nothing to choose."""
        if isinstance(self.n_nonzero, int):
            return (self.n_nonzero,)
        screened = self.screen_size if isinstance(self.screen_size, int) else n_features
        room = max(min(n_samples, n_features, screened, self.backbone_max), 1)
        if self.n_nonzero is None:
            return (min(DEFAULT_NONZERO, room),)
        if isinstance(self.n_nonzero, str):
            return _spread(min(room, LARGEST_AUTO, max(n_samples // 4, 1)))
        return tuple(sorted(set(self.n_nonzero)))

    def _gammas(self, n_nonzero: int, total: float) -> tuple[float, ...]:
        """Ridge weights to choose from, the weakest ridge first; one if there is nothing to choose."""
        usual = 1 / math.sqrt(total)
        if self.gamma is None:
            return (usual,)
        if isinstance(self.gamma, str):
            # |x_i|^2 is about p for standardised columns: the paper's p / (k n max |x_i|^2) is about 1 / (k n).
            ratio = 1 / max(n_nonzero, 1) / math.sqrt(total)
            papers = (usual * ratio ** (at / (GAMMA_GRID - 1)) for at in range(GAMMA_GRID))
            return (*(usual * times for times in WEAKER), *papers)
        if isinstance(self.gamma, float | int):
            return (float(self.gamma),)
        return tuple(sorted({float(gamma) for gamma in self.gamma}, reverse=True))

    def _n_subproblems(self, n_survivors: int, n_nonzero: int) -> int:
        if isinstance(self.n_subproblems, int):
            return self.n_subproblems
        return enough_subproblems(n_survivors, n_nonzero, self.subproblem_fraction)

    def _check(self, k: int, n_samples: int, n_features: int) -> None:
        for wrong, message in (
            (least(self.n_nonzero, 1) < 1, f"n_nonzero is {shown(self.n_nonzero)}; it must be at least 1"),
            (k > n_features, f"n_nonzero is {k}, but the data have only {n_features} features"),
            (k > n_samples, f"n_nonzero is {k}, but the data have only {n_samples} samples"),
            (not positive(self.gamma), f"gamma is {shown(self.gamma)}; it must be positive and finite"),
            (
                not positive(self.subproblem_gamma),
                f"subproblem_gamma is {self.subproblem_gamma}; it must be positive and finite",
            ),
            (not is_validation(self.validation, n_samples), validation_help(self.validation, n_samples)),
            (
                below(self.screen_size, k),
                f"screen_size is {self.screen_size}; it must be at least n_nonzero ({k})",
            ),
            (
                not 0 < self.subproblem_fraction <= 1,
                f"subproblem_fraction is {self.subproblem_fraction}; it must be in (0, 1]",
            ),
            (not 0 < self.sample_fraction <= 1, f"sample_fraction is {self.sample_fraction}; it must be in (0, 1]"),
            (self.screen_rounds < 1, f"screen_rounds is {self.screen_rounds}; it must be at least 1"),
            (
                self.screen_size == CHANCE and self.screen_rounds > 1,
                f"screen_size='chance' is for one round, and screen_rounds is {self.screen_rounds}; give a number",
            ),
            (least(self.n_subproblems, 1) < 0, f"n_subproblems is {self.n_subproblems}; it must not be negative"),
            (self.backbone_max < k, f"backbone_max is {self.backbone_max}; it must be at least n_nonzero ({k})"),
            (below(self.patience, 1), f"patience is {self.patience}; it must be at least 1, or None"),
            (not 0 < self.time_limit < math.inf, f"time_limit is {self.time_limit}; it must be positive and finite"),
            (not 0 <= self.gap_tolerance < 1, f"gap_tolerance is {self.gap_tolerance}; it must be in [0, 1)"),
            (self.seed < 0, f"seed is {self.seed}; it must not be negative"),
        ):
            if wrong:
                raise InvalidSettingError(message)

    def _require_samples(self, needed: int, n_samples: int) -> None:
        """A subproblem of fewer samples than features finds noise, and one of a single sample nothing."""
        seen = round(self.sample_fraction * n_samples)
        if self.sample_fraction < 1 and seen < needed:
            raise InvalidSettingError(
                f"sample_fraction is {self.sample_fraction}; a subproblem would see {seen} of {n_samples} samples and "
                f"needs {needed}: use at least {least_fraction(n_samples, needed):g}"
            )


@dataclass(frozen=True, slots=True)
class ResolvedSettings:
    """Settings after every choice is made; what a run records.

    `n_nonzero` is the largest of `sizes` and `gamma` the one of `gammas` that is nearest to 1/sqrt(n): what the
    backbone is built for. `screen_size` is the most that survive, and `by_chance` whether chance leaves fewer.
    """

    n_nonzero: int
    gamma: float
    sizes: tuple[int, ...]
    gammas: tuple[float, ...]
    validation: float | int | str
    screen_size: int
    by_chance: bool
    screen_rounds: int
    subproblem_fraction: float
    n_subproblems: int
    subproblem: str
    subproblem_size: str
    subproblem_gamma: float | str | None
    sample_fraction: float
    backbone_max: int
    sampling: str
    patience: int | None
    exact: str
    time_limit: float
    gap_tolerance: float
    certify: Certify | None
    seed: int

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one size or ridge weight."""
        return len(self.sizes) * len(self.gammas) > 1

    def at(self, n_nonzero: int, gamma: float) -> ResolvedSettings:
        """The same with the choice made."""
        return replace(self, n_nonzero=n_nonzero, gamma=gamma, sizes=(n_nonzero,), gammas=(gamma,))


def enough_subproblems(n_survivors: int, n_nonzero: int, fraction: float, missed: float = MISSED) -> int:
    """log(alpha p k) / log(1 / (1 - beta + beta p_sub)), rounded up: every relevant feature is found by one of them."""
    lost = 1 - fraction + fraction * missed
    return max(1, math.ceil(math.log(max(n_survivors * n_nonzero, 2)) / math.log(1 / lost))) if lost else 1


_OPTIONAL = ("n_nonzero", "gamma", "subproblem_gamma", "screen_size", "patience")
_WORDS = {
    "n_nonzero": "auto",
    "gamma": "grid",
    "screen_size": CHANCE,
    "subproblem_gamma": "grid",
    "validation": "ebic",
    "n_subproblems": "auto",
}
_LISTS = ("n_nonzero", "gamma")
_WHOLE = ("n_nonzero", "screen_size", "screen_rounds", "n_subproblems", "backbone_max", "patience", "seed")


def _plain(name: str, value: Any) -> Any:
    """Python numbers and words, whatever kind they were; refuses what the setting cannot be."""
    if name == "sampling" or (value is None and name in _OPTIONAL):
        return value
    if name == "certify":
        return as_certify(value)
    if name in CHOICES:
        return _one_of(name, value, CHOICES[name])
    if isinstance(value, str):
        return _one_of(name, value, (_WORDS[name],) if name in _WORDS else ())
    if name in _LISTS and hasattr(value, "__len__"):
        if not len(value):
            raise InvalidSettingError(f"{name} is an empty list; give at least one value")
        return tuple(number(name, each, whole=name in _WHOLE) for each in value)
    return number(name, value, whole=name in _WHOLE)


def _one_of(name: str, value: Any, words: tuple[str, ...]) -> Any:
    if value not in words:
        known = ", ".join(map(repr, words))
        kind = "" if name in CHOICES else "it must be a number" + (" or " if words else "")
        raise InvalidSettingError(f"{name} is {value!r}; {kind or 'use '}{known}")
    return value


def _spread(most: int) -> tuple[int, ...]:
    """1, 2, 3, 5, 8, ... up to `most`."""
    sizes, size = {most}, 1.0
    while round(size) < most:
        sizes.add(round(size))
        size *= _AUTO_STEP
    return tuple(sorted(sizes))
