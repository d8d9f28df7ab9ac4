"""The classes of a logistic model: which they are, and what each of them weighs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import checked_weights
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.values import Target

_SHOWN = 5


def two_classes(y: Target, weights: NDArray[np.float64], names: Sequence[str] = ()) -> tuple[float, float]:
    """The labels among the samples that have a weight, the smaller one first; two, or InvalidDataError.

    `names` are those of the classes 0, 1, ..., where they have some.
    """
    labels, known = np.unique(y[weights > 0]), np.unique(y)
    called = class_names(labels.tolist(), names) or [f"{label:g}" for label in labels]
    if labels.size == 1 < known.size:
        raise InvalidDataError(
            f"only class {called[0]} has samples of positive weight; give samples of another class a weight"
        )
    if labels.size == 1:
        raise one_class_only(called[0])
    if labels.size > 2:
        raise InvalidDataError(
            f"a logistic model (fit --task classification) takes two classes, and y holds {labels.size} "
            f"({_shown(called)}); use --task tree, or make a target of one class against the rest, or use "
            "BackboneClassifier in Python, which does so for every class; for numbers there is regression"
        )
    return float(labels[0]), float(labels[1])


def class_names(classes: Sequence[float], names: Sequence[str]) -> tuple[str, ...]:
    """What the classes 0, 1, ... are called; nothing where they have no names."""
    return tuple(names[int(each)] for each in classes) if names else ()


def one_class_only(called: Any) -> InvalidDataError:
    """Where there is nothing to tell apart."""
    return InvalidDataError(f"y holds one class only ({called}); give samples of two classes or more")


def words_for_numbers(words: Sequence[str]) -> InvalidDataError:
    """Where classes with names are to be explained as if they were numbers."""
    return InvalidDataError(
        f"the target holds {len(words)} classes by name ({_shown(words)}), and a regression needs numbers; use --task "
        "classification (two classes) or --task tree, in Python BackboneClassifier or BackboneTreeClassifier"
    )


def _shown(words: Sequence[str]) -> str:
    return ", ".join(words[:_SHOWN]) + ", ..." * (len(words) > _SHOWN)


def weigh_classes(class_weight: Any, labels: NDArray[Any], sample_weight: Any) -> NDArray[np.float64]:
    """Sample weights (samples,), each times the weight of its class.

    "balanced" gives all classes the same total, in which sample weights count. A mapping from classes to weights may
    leave out some: they weigh 1.
    """
    weights = checked_weights(sample_weight, labels.size)
    classes, codes = np.unique(labels, return_inverse=True)
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, weights)
        share = weights.sum() / np.count_nonzero(totals)
        return np.asarray(weights * np.divide(share, totals, out=np.zeros_like(totals), where=totals > 0)[codes])
    if not isinstance(class_weight, Mapping):
        raise InvalidSettingError(f"class_weight is {class_weight!r}; use 'balanced', a dict of classes, or None")
    return weights * _given(class_weight, classes.tolist())[codes]


def _given(class_weight: Mapping[Any, Any], classes: list[Any]) -> NDArray[np.float64]:
    for label, weight in class_weight.items():
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise InvalidSettingError(f"class_weight of {label!r} is {weight!r}; it must be a number, 0 or more")
    unknown = [label for label in class_weight if label not in classes]
    if unknown and not all(label in class_weight for label in classes):
        raise InvalidSettingError(f"class_weight names {unknown[0]!r}, which is no class of y: {classes[:_SHOWN]}")
    return np.array([float(class_weight.get(label, 1.0)) for label in classes])
