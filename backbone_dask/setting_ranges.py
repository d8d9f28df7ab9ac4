"""Whether the values of settings are in their ranges, whatever kind of value they are: one, several or a word."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from backbone_dask.errors import InvalidSettingError

CHANCE = "chance"
"""A screen_size that shuffled responses give."""


def values(value: Any) -> list[Any]:
    """The numbers of a setting; none if it is a word, or left to the data."""
    if value is None or isinstance(value, str):
        return []
    return list(value) if isinstance(value, tuple) else [value]


def number(name: str, value: Any, *, whole: bool) -> int | float:
    """A Python number, whatever kind it was; refuses what is none, and fractions where a whole number is needed."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if whole or isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise InvalidSettingError(f"{name} is {value!r}; it must be a {'whole number' if whole else 'number'}")
    return float(value)


def least(value: Any, default: int) -> int:
    return min(values(value), default=default)


def shown(value: Any) -> str:
    return ", ".join(map(str, values(value)))


def positive(value: Any) -> bool:
    return all(each > 0 and math.isfinite(each) for each in values(value))


def below(value: int | str | None, least: int) -> bool:
    return isinstance(value, int) and value < least


def is_validation(value: float | int | str, n_samples: int) -> bool:
    if isinstance(value, str):
        return True
    return 2 <= value <= n_samples if isinstance(value, int) else 0 < value < 1


def validation_help(value: float | int | str, n_samples: int) -> str:
    return f"validation is {value}; use a share of the samples in (0, 1), 2 to {n_samples} folds, or 'ebic'"


def least_fraction(n_samples: int, needed: int) -> float:
    """The least share, of six digits, whose rounded number of samples is as many as needed; 1 if all are too few."""
    return min(math.ceil(1e6 * needed / n_samples) / 1e6, 1.0)


def nearest(gammas: Sequence[float], usual: float) -> float:
    """By its ratio to the usual one: a subproblem of a much weaker ridge fits the noise of thousands of columns."""
    return min(gammas, key=lambda gamma: abs(math.log(gamma / usual)))


def require_room(n_subproblems: int | str, n_survivors: int, backbone_max: int, screened: bool = True) -> None:
    """Without subproblems all survivors are the backbone: said before a long screen, not after it."""
    if n_subproblems == 0 and n_survivors > backbone_max:
        raise InvalidSettingError(
            f"n_subproblems is 0, so all {n_survivors} features that survive the screen would be the backbone, more "
            f"than backbone_max={backbone_max}; {'lower screen_size' if screened else 'choose a screen'}, raise "
            "backbone_max, or let subproblems choose"
        )
