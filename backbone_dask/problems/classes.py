"""The two classes of a logistic model: which they are, and what is said where there are none or more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backbone_dask.errors import InvalidDataError
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
            "every class"
        )
    return float(labels[0]), float(labels[1])
