"""The logistic loss near one predictor as a squared loss: what solvers for squared loss can be asked instead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.gram import Gram, largest_eigenvalue
from backbone_dask.exact.logistic_data import LogisticData
from backbone_dask.losses.logistic import curvature, dual_vector
from backbone_dask.losses.squared import Matrix, Vector

_LEAST_CURVATURE = 1e-4
"""As a share of |a_i|: where a sample is badly wrong there is a slope without curvature, and steps go too far."""


@dataclass(frozen=True, slots=True)
class Metric:
    """Products of the features in the metric of a curvature h, after the basis was taken out.

    Attributes
    ----------
    root : array (n,), the square root of h
    span : array (n, q), an orthonormal basis of the rows root * basis
    G, eigenvalue : products (p, p) of what is left of these rows, and their largest eigenvalue
    """

    root: Vector
    span: Matrix
    G: Matrix
    eigenvalue: float

    @classmethod
    def at(cls, data: LogisticData, u: Vector) -> Metric:
        """The metric of the loss at the predictor u (n,)."""
        h = np.maximum(curvature(data.margin, u), _LEAST_CURVATURE * np.abs(dual_vector(data.margin, u)))
        root = np.sqrt(h)
        span = np.linalg.qr((data.margin.basis * root).T)[0]
        rows = data.X * root
        # Subtracted from the rows and not from their products, which could come out negative for rows in the span.
        rows -= (rows @ span) @ span.T
        G = rows @ rows.T
        return cls(root, span, G, largest_eigenvalue(G))

    def gram(self, data: LogisticData, u: Vector) -> Gram:
        """The squared loss with the gradient that the logistic one has at u."""
        slope = np.divide(dual_vector(data.margin, u), self.root, out=np.zeros_like(u), where=self.root > 0)
        response = self.root * u + slope
        response = response - self.span @ (self.span.T @ response)
        b = data.X @ (self.root * response)
        return Gram(self.G, b, float(response @ response), u.size, self.eigenvalue)
