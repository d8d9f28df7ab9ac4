"""The paper's theorem as advice: how many survivors and subproblems, and whether the samples are enough for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral

from backbone_dask.errors import InvalidSettingError
from backbone_dask.settings import SMALLEST_SCREEN, enough_subproblems

SURVIVORS_PER_SAMPLE = 4


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Settings for data of some shape, and the samples for which the theorem holds.

    Attributes
    ----------
    screen_size, subproblem_fraction, n_subproblems, gamma : the settings of these names.
    needed_samples : the smallest n of at least (sigma^2 + 2k) log(alpha p) log(beta alpha p), where alpha p is the
        screen_size advised for that n, and sigma^2 the noise at unit coefficients. It does not depend on `n_samples`.
    enough_samples : whether there are as many. If not, the method may still find everything; nothing promises it.
    """

    screen_size: int
    subproblem_fraction: float
    n_subproblems: int
    gamma: float
    needed_samples: int
    enough_samples: bool


def recommend(
    n_samples: int, n_features: int, n_nonzero: int, *, snr: float = 2.0, subproblem_fraction: float = 0.5
) -> Recommendation:
    """What the theorem advises for n samples of p features of which k are relevant.

    `snr` is the signal's variance over the noise's: with k unit coefficients the noise has variance k / snr.

    Examples
    --------
    >>> from backbone_dask import recommend
    >>> advice = recommend(5000, 1_000_000, 10)
    >>> advice.screen_size, advice.n_subproblems
    (20000, 19)
    >>> advice.needed_samples, advice.enough_samples
    (1824, True)
    """
    _check(n_samples, n_features, n_nonzero, snr)
    if not 0 < subproblem_fraction <= 1:
        raise InvalidSettingError(f"subproblem_fraction is {subproblem_fraction}; it must be in (0, 1]")
    survivors = _survivors(n_samples, n_features)
    needed = _needed(n_features, n_nonzero, snr, subproblem_fraction)
    return Recommendation(
        survivors,
        subproblem_fraction,
        enough_subproblems(survivors, n_nonzero, subproblem_fraction),
        1 / math.sqrt(n_samples),
        needed,
        n_samples >= needed,
    )


def _survivors(n_samples: int, n_features: int) -> int:
    return min(max(SURVIVORS_PER_SAMPLE * n_samples, SMALLEST_SCREEN), n_features)


def _needed(n_features: int, n_nonzero: int, snr: float, fraction: float) -> int:
    """Grows from one sample until there are as many as are asked for, which are more for more samples: the fewest."""
    needed, found = 0, 1
    while found > needed:
        needed, survivors = found, _survivors(found, n_features)
        logs = math.log(max(survivors, math.e)) * math.log(max(fraction * survivors, math.e))
        found = math.ceil((n_nonzero / snr + 2 * n_nonzero) * logs)
    return needed


def _check(n_samples: int, n_features: int, n_nonzero: int, snr: float) -> None:
    counts = {"n_samples": n_samples, "n_features": n_features, "n_nonzero": n_nonzero}
    for name, value in {**counts, "snr": snr}.items():
        if not value > 0:
            raise InvalidSettingError(f"{name} is {value}; it must be positive")
    for name, value in counts.items():
        if not isinstance(value, Integral):
            raise InvalidSettingError(f"{name} is {value}; it must be a whole number")
    for name in ("n_samples", "n_features"):
        if n_nonzero > counts[name]:
            raise InvalidSettingError(f"n_nonzero is {n_nonzero}, but {name} is only {counts[name]}; use at most that")
