"""Linear minorants of the optimal value: every vector w gives one, by the dual vector a = t (y - X'w)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.losses.squared import Vector


@dataclass(frozen=True, slots=True)
class Cut:
    """c(z) >= intercept - slopes'z for every z in [0, 1]^p, rounding included; slopes >= 0."""

    intercept: float
    slopes: Vector

    def bound(self, face: Face) -> float:
        """The least value of the cut over the supports of a face."""
        return self.intercept - face.heaviest(self.slopes) * (1 + self.slopes.size * float(np.finfo(np.float64).eps))


def dual_cut(gram: Gram, weights: Vector, gamma: float, length: float = 1.0) -> Cut:
    """The cut y'a - 1/2 a'a - gamma/2 sum_j z_j (X_j'a)^2 at a = length * (y - X'w).

    Every inner product is moved to the safe end of its error interval: rounding * (product of the norms), where the
    norm of y - X'w counts as |y| + sum_j |w_j| |X_j|, since that is how large its terms are.
    """
    size = np.sqrt(gram.yy) + float(np.abs(weights) @ gram.norms)
    error = gram.rounding * size
    image = gram.G @ weights
    ya = gram.yy - float(gram.b @ weights) - error * np.sqrt(gram.yy)
    aa = gram.yy - 2 * float(gram.b @ weights) + float(weights @ image) + 4 * error * size
    reach = np.abs(gram.b - image) + error * gram.norms
    return Cut(length * ya - 0.5 * length**2 * aa, 0.5 * gamma * length**2 * reach**2)


def best_length_cut(gram: Gram, weights: Vector, gamma: float, face: Face) -> Cut:
    """The dual cut along the ray of y - X'w whose bound over the face is largest."""
    image = gram.G @ weights
    ya = gram.yy - float(gram.b @ weights)
    aa = gram.yy - 2 * float(gram.b @ weights) + float(weights @ image)
    top = face.heaviest((gram.b - image) ** 2)
    curvature = aa + gamma * top
    return dual_cut(gram, weights, gamma, ya / curvature if ya > 0 and curvature > 0 else 0.0)
