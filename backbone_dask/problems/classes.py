"""The classes of a logistic model: which they are, and what each of them weighs."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backbone_dask.adjustment import checked_weights
from backbone_dask.errors import InvalidDataError, InvalidSettingError
from backbone_dask.values import Target

_SHOWN = 5


def two_classes(y: Target, weights: NDArray[np.float64]) -> tuple[float, float]:
    """The labels among the samples that have a weight, the smaller one first; two, or InvalidDataError."""
    labels, known = np.unique(y[weights > 0]), np.unique(y)
    if labels.size == 1 < known.size:
        raise InvalidDataError(
            f"only class {labels[0]:g} has samples of positive weight; give samples of another class a weight"
        )
    if labels.size == 1:
        raise InvalidDataError(f"y holds one class only ({labels[0]:g}); give samples of two classes")
    if labels.size > 2:
        shown = ", ".join(f"{label:g}" for label in labels[:_SHOWN]) + ", ..." * (labels.size > _SHOWN)
        raise InvalidDataError(
            f"a logistic model (fit --task classification) takes two classes, and y holds {labels.size} ({shown}); "
            "make a target of one class against the rest, or use BackboneClassifier in Python, which does so for "
            "every class; for numbers there is regression"
        )
    return float(labels[0]), float(labels[1])


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
