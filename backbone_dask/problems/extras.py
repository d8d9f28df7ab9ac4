"""What may be given besides a table and a target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from backbone_dask.errors import InvalidSettingError


@dataclass(frozen=True, slots=True)
class Extras:
    """What may be given besides a table and a target.

    Attributes
    ----------
    sample_weight : array (samples,); a sample of weight 2 counts as two.
    covariates : table (samples, q), or names or ids of features of the table: in every model, unpenalised.
    fit_intercept : whether the model has an intercept.
    groups : a group for every feature (p,), or a list of lists of names or ids: they enter together.
    nonnegative : whether coefficients must be 0 or more.
    class_weight : "balanced", or weights of classes, which multiply the sample weights.
    """

    sample_weight: Any = None
    covariates: Any = None
    fit_intercept: bool = True
    groups: Any = None
    nonnegative: bool = False
    class_weight: Any = None

    def __post_init__(self) -> None:
        for name in ("fit_intercept", "nonnegative"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise InvalidSettingError(f"{name} is {getattr(self, name)!r}; it must be True or False")
