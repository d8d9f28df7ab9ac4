from __future__ import annotations

from functools import partial
from itertools import combinations

import numpy as np
from exact_cases import objective, planted

from backbone_dask.exact.exclusion import excluding_cuts
from backbone_dask.exact.face import Face
from backbone_dask.exact.gram import Gram
from backbone_dask.exact.incumbent import improve
from backbone_dask.exact.perspective import solve_relaxation


def test_the_cuts_lie_below_every_support_and_exclude_more_than_the_one_given() -> None:
    X, y, _ = planted(12, 3, 60, seed=2)
    gram, whole, gamma = Gram.of(X, y), Face.whole(12, 3), 0.05
    relax = partial(solve_relaxation, gram, gamma=gamma)
    goal = 0.999 * improve(gram, np.array([0]), 3, gamma).objective
    cuts = excluding_cuts(relax, whole, relax(whole), np.array([0, 4, 8]), goal)
    supports = [list(support) for support in combinations(range(12), 3)]
    values = np.array([[cut.intercept - cut.slopes[support].sum() for support in supports] for cut in cuts])
    assert (values <= [objective(X, y, support, gamma) for support in supports]).all()
    excluded = [support for support, best in zip(supports, values.max(axis=0), strict=True) if best >= goal]
    assert [0, 4, 8] in excluded
    assert len(excluded) > 1
