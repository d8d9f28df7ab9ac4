"""Screens by name, each with the check that its target must pass before the pass over the columns starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backbone_dask.errors import InvalidDataError
from backbone_dask.protocols import Screen
from backbone_dask.registry import Registry
from backbone_dask.screens.correlation import correlation
from backbone_dask.screens.entropy import Entropy
from backbone_dask.screens.logistic import logistic, logistic_loss
from backbone_dask.screens.multicategory_svm import multicategory_svm
from backbone_dask.screens.splines import Splines
from backbone_dask.values import MOST_CLASSES, Target

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class NamedScreen:
    """A screen, and `check`: the target as `score` takes it, or InvalidDataError with what is wrong with it."""

    score: Screen
    check: Callable[[Target], Target]


def real_target(y: Target) -> Target:
    """Any finite numbers that are not all equal, in units of the largest: no score depends on the units."""
    y = _finite(y)
    if (y == y[0]).all():
        raise InvalidDataError(f"y is constant ({y[0]:g}); there is nothing to explain")
    return np.asarray(y / np.abs(y).max())


def two_classes(y: Target) -> Target:
    """Two labels, whatever they are, as -1 (the smaller) and +1."""
    y = _finite(y)
    labels = np.unique(y)
    if labels.size == 1:
        raise InvalidDataError(f"y holds one class only ({labels[0]:g}); give samples of two classes")
    if labels.size != 2:
        raise InvalidDataError(
            f"a logistic screen takes two classes, and y holds {_listed(labels)}; "
            "use 'svm' or 'entropy' for more classes, 'correlation' or 'splines' for numbers"
        )
    return np.where(y == labels[1], 1.0, -1.0)


def classes(y: Target) -> Target:
    """From 2 to `MOST_CLASSES` labels as 0, 1, ..., in their order."""
    y = _finite(y)
    labels, codes = np.unique(y, return_inverse=True)
    if labels.size < 2:
        raise InvalidDataError(f"y holds one class only ({labels[0]:g}); give samples of two classes or more")
    if labels.size > MOST_CLASSES or (labels.size > 2 and (labels != np.round(labels)).any()):
        raise InvalidDataError(
            f"y holds {_listed(labels)}, which are no classes: give at most {MOST_CLASSES} whole numbers, "
            "or use 'correlation' or 'splines' for numbers"
        )
    return codes.astype(np.float64)


def _finite(y: Target) -> Target:
    y = np.asarray(y, np.float64)
    if y.ndim != 1 or y.size == 0:
        raise InvalidDataError(f"y has shape {y.shape}; give one number per sample")
    wrong = np.flatnonzero(~np.isfinite(y))
    if wrong.size:
        raise InvalidDataError(
            f"y contains NaN or infinity at sample {wrong[0]} ({wrong.size} in all); leave these samples out"
        )
    return y


def _listed(labels: Target) -> str:
    shown = ", ".join(f"{label:g}" for label in labels[:_SHOWN])
    return f"{labels.size} different value{'s' * (labels.size > 1)} ({shown}{', ...' if labels.size > _SHOWN else ''})"


screens: Registry[NamedScreen] = Registry("screen")
screens.register("correlation")(NamedScreen(correlation, real_target))
screens.register("logistic")(NamedScreen(logistic, two_classes))
screens.register("logistic-loss")(NamedScreen(logistic_loss, two_classes))
screens.register("svm")(NamedScreen(multicategory_svm, classes))
screens.register("splines")(NamedScreen(Splines(), real_target))
screens.register("entropy")(NamedScreen(Entropy(), classes))
