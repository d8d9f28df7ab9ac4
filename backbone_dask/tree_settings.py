"""What a user may choose for a tree, checked once, before any work starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from backbone_dask.errors import InvalidSettingError
from backbone_dask.setting_ranges import CHANCE, below, is_validation, number, require_room

TREE_SCREENS = ("none", "entropy", "logistic", "svm")
TREE_SOLVERS = ("local-search", "dynamic-programming", "mio")
MOST_DEPTH = 12
SMALLEST_SCREEN = 1000
SCREENED_PER_SAMPLE = 10
AUTO_BUCKETS = (1.0, 5.0, 20.0)
LARGEST_COMPLEXITY = 0.05
N_COMPLEXITIES = 6
SEARCH_THRESHOLDS = 63
EXACT_THRESHOLDS = 8
MOST_THRESHOLDS = 255


@dataclass(frozen=True, slots=True)
class TreeSettings:
    """Settings of a run that ends with a tree; None means "choose from the data".

    Attributes
    ----------
    depth : most splits on a path; a list to choose on validation samples.
    min_bucket : least weight of a leaf; a list, or "auto" (1, 5 and 20), to choose on validation samples.
    complexity : share of the samples that a split must get right to be worth it; a list, or "auto" (six values from one
        sample to 5 %), to choose on validation samples.
    split_features : most features in a split; 1 is a threshold on one feature, more are hyperplanes.
    validation : the share of samples to train on (0.7), or a number of folds, where there is something to choose.
    screen : none (every column that varies stays), entropy, logistic or svm.
    screen_size : features that survive the screen; None is the larger of 10 n and 1000. Of at most as many, "chance"
        keeps those that score higher than any column does for ten shuffled responses.
    subproblem_fraction : beta, share of the candidates in one subproblem, which examines at least backbone_max of them.
    n_subproblems : M, subproblems at the first level, halved at each further one. 0: all survivors are the backbone;
        where screen_size is left open, at most backbone_max survive.
    subproblem_depth : depths that a subproblem's tree chooses from; None is 2 to depth - 2.
    backbone_max : B_max, largest backbone that the reduced problem takes.
    pricing_rounds : rounds in which columns that would improve the tree at one of its nodes join the backbone.
    sampling : how subproblems draw candidates: exponential, uniform, proportional or covering.
    patience : a level ends early after this many subproblems in a row that add nothing; None never ends early.
    exact : how the reduced problem is solved: local-search, dynamic-programming (pystreed) or mio (Pyomo and HiGHS).
    n_thresholds : most thresholds of a feature in the reduced problem; None is 63 for the local search, which then
        moves those it uses freely, and 8 for the solvers that prove.
    n_starts : starts of the local search: the greedy tree, and random ones.
    search_width : splits of a node that the local search tries with everything below grown anew.
    time_limit : seconds for the reduced problem, and in all for the trees that the others are chosen by.
    seed : of every random draw.
    """

    depth: int | Sequence[int] = 5
    min_bucket: float | Sequence[float] | str = "auto"
    complexity: float | Sequence[float] | str = "auto"
    split_features: int = 1
    validation: float | int = 0.7
    screen: str = "entropy"
    screen_size: int | str | None = None
    subproblem_fraction: float = 0.5
    n_subproblems: int = 10
    subproblem_depth: int | Sequence[int] | None = None
    backbone_max: int = 250
    pricing_rounds: int = 3
    sampling: str = "exponential"
    patience: int | None = None
    exact: str = "local-search"
    n_thresholds: int | None = None
    n_starts: int = 4
    search_width: int = 32
    time_limit: float = 300.0
    seed: int = 0

    def resolve(self, *, n_samples: int, n_features: int, mean_weight: float = 1.0) -> ResolvedTreeSettings:
        """The same settings with every choice made for data of this shape; raises InvalidSettingError.

        Buckets that are left to the data count samples of `mean_weight`.
        """
        plain = TreeSettings(**{name: _plain(name, value) for name, value in asdict(self).items()})
        plain._check(n_samples)
        return plain._resolved(n_samples, n_features, mean_weight)

    def _resolved(self, n_samples: int, n_features: int, mean_weight: float) -> ResolvedTreeSettings:
        depths = _listed(self.depth)
        usual = max(SCREENED_PER_SAMPLE * n_samples, SMALLEST_SCREEN) if self.n_subproblems else self.backbone_max
        wanted = self.screen_size if isinstance(self.screen_size, int) else usual
        survivors = n_features if self.screen == "none" else min(wanted, n_features)
        require_room(self.n_subproblems, survivors, self.backbone_max, screened=self.screen != "none")
        shared = {name: value for name, value in asdict(self).items() if name in ResolvedTreeSettings.__slots__}
        return ResolvedTreeSettings(
            **shared
            | {
                "depths": depths,
                "min_buckets": _buckets(self.min_bucket, n_samples, mean_weight),
                "complexities": _complexities(self.complexity, n_samples),
                "subproblem_depths": _subproblem_depths(self.subproblem_depth, depths[-1]),
                "screen_size": survivors,
                "by_chance": isinstance(self.screen_size, str),
                "n_thresholds": self.n_thresholds or _thresholds(self.exact),
                # A level that stops early has not examined every candidate.
                "patience": None if self.sampling == "covering" else self.patience,
            }
        )

    def _check(self, n_samples: int) -> None:
        for wrong, message in (*self._of_the_tree(), *self._of_the_run(n_samples)):
            if wrong:
                raise InvalidSettingError(message)

    def _of_the_tree(self) -> tuple[tuple[bool, str], ...]:
        """What is wrong with the settings of the tree itself, and what to say of it."""
        hyperplanes = self.split_features > 1 and self.exact != "local-search"
        return (
            (_outside(self.depth, 0, MOST_DEPTH), f"depth is {self.depth}; use 0 to {MOST_DEPTH}"),
            (
                _outside(self.subproblem_depth, 1, MOST_DEPTH),
                f"subproblem_depth is {self.subproblem_depth}; use 1 to {MOST_DEPTH}",
            ),
            (_outside(self.min_bucket, 0, math.inf), f"min_bucket is {self.min_bucket}; use a finite weight >= 0"),
            (_outside(self.complexity, 0, 1), f"complexity is {self.complexity}; it must be in [0, 1]"),
            (_outside(self.n_thresholds, 1, MOST_THRESHOLDS), f"n_thresholds is {self.n_thresholds}; use 1 to 255"),
            (hyperplanes, f"split_features is {self.split_features}; hyperplane splits need exact='local-search'"),
        )

    def _of_the_run(self, n_samples: int) -> tuple[tuple[bool, str], ...]:
        help_with_validation = (
            f"validation is {self.validation}; use a share of the samples in (0, 1) or 2 to {n_samples} folds"
        )
        kept = self.screen == "none" and self.screen_size is not None
        return (
            (not is_validation(self.validation, n_samples), help_with_validation),
            (_outside(self.screen_size, 1, math.inf), f"screen_size is {self.screen_size}; it must be at least 1"),
            (kept, "screen='none' keeps every column; leave out screen_size, or choose a screen"),
            (
                not 0 < self.subproblem_fraction <= 1,
                f"subproblem_fraction is {self.subproblem_fraction}; it must be in (0, 1]",
            ),
            (not 0 < self.time_limit < math.inf, f"time_limit is {self.time_limit}; it must be positive and finite"),
            *((getattr(self, name) < 1, f"{name} is {getattr(self, name)}; it must be at least 1") for name in _COUNTS),
            (below(self.patience, 1), f"patience is {self.patience}; it must be at least 1, or None"),
            *(
                (getattr(self, name) < 0, f"{name} is {getattr(self, name)}; it must not be negative")
                for name in _ZEROS
            ),
        )


@dataclass(frozen=True, slots=True)
class ResolvedTreeSettings:
    """Settings after every choice is made; what a run records."""

    depths: tuple[int, ...]
    min_buckets: tuple[float, ...]
    complexities: tuple[float, ...]
    split_features: int
    validation: float | int
    screen: str
    screen_size: int
    by_chance: bool
    subproblem_fraction: float
    n_subproblems: int
    subproblem_depths: tuple[int, ...]
    backbone_max: int
    pricing_rounds: int
    sampling: str
    patience: int | None
    exact: str
    n_thresholds: int
    n_starts: int
    search_width: int
    time_limit: float
    seed: int

    @property
    def has_choice(self) -> bool:
        """Whether there is more than one depth, bucket or complexity."""
        return len(self.depths) * len(self.min_buckets) * len(self.complexities) > 1


_COUNTS = ("split_features", "backbone_max", "n_starts", "search_width")
_ZEROS = ("n_subproblems", "pricing_rounds", "seed")
CHOICES: dict[str, tuple[str, ...]] = {"screen": TREE_SCREENS, "exact": TREE_SOLVERS}
_WORDS = {"min_bucket": "auto", "complexity": "auto", "screen_size": CHANCE}
_LISTS = ("depth", "min_bucket", "complexity", "subproblem_depth")
_OPTIONAL = ("screen_size", "subproblem_depth", "patience", "n_thresholds")
_WHOLE = (*_COUNTS, *_ZEROS, "depth", "screen_size", "subproblem_depth", "patience", "n_thresholds")


def _plain(name: str, value: Any) -> Any:
    """Python numbers and words, whatever kind they were; refuses what the setting cannot be."""
    value = value.item() if getattr(value, "ndim", None) == 0 else value
    if name == "sampling" and not isinstance(value, str):
        raise InvalidSettingError(f"sampling is {value!r}; it must be a name")
    if name == "sampling" or (value is None and name in _OPTIONAL):
        return value
    words = CHOICES.get(name, (_WORDS[name],) if name in _WORDS else ())
    if isinstance(value, str) or name in CHOICES:
        if value not in words:
            kind = () if name in CHOICES else ("a number",)
            raise InvalidSettingError(f"{name} is {value!r}; use {', '.join([*kind, *map(repr, words)])}")
        return value
    if name in _LISTS and hasattr(value, "__len__"):
        if not len(value):
            raise InvalidSettingError(f"{name} is an empty list; give at least one value")
        return tuple(sorted({number(name, each, whole=name in _WHOLE) for each in value}))
    return number(name, value, whole=name in _WHOLE)


def _listed(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _outside(value: Any, least: float, most: float) -> bool:
    if value is None or isinstance(value, str):
        return False
    return any(not least <= each <= most or math.isinf(each) for each in _listed(value))


def _buckets(value: Any, n_samples: int, mean_weight: float) -> tuple[float, ...]:
    """The given ones; "auto" leaves out those that more than a few leaves could not fill."""
    if isinstance(value, str):
        return tuple(mean_weight * bucket for bucket in AUTO_BUCKETS if bucket == 1 or 20 * bucket <= n_samples)
    return tuple(float(each) for each in _listed(value))


def _complexities(value: Any, n_samples: int) -> tuple[float, ...]:
    if not isinstance(value, str):
        return tuple(float(each) for each in _listed(value))
    least = min(1 / n_samples, LARGEST_COMPLEXITY / 2)
    ratio = LARGEST_COMPLEXITY / least
    return tuple(least * ratio ** (at / (N_COMPLEXITIES - 1)) for at in range(N_COMPLEXITIES))


def _subproblem_depths(value: Any, depth: int) -> tuple[int, ...]:
    """The paper's 2 to D - 2, and never nothing."""
    if value is not None:
        return _listed(value)
    return tuple(range(min(2, max(depth, 1)), max(depth - 2, min(2, max(depth, 1))) + 1))


def _thresholds(exact: str) -> int:
    return SEARCH_THRESHOLDS if exact == "local-search" else EXACT_THRESHOLDS
