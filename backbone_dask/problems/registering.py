"""Parts of one's own by name: afterwards settings take the name as they take those that are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from backbone_dask import settings, tree_settings
from backbone_dask.errors import InvalidSettingError
from backbone_dask.exact.catalogue import ExactSolver, exact_solvers
from backbone_dask.problems.linear import LEARNERS
from backbone_dask.protocols import Screen
from backbone_dask.screens.catalogue import NamedScreen, classes, real_target, screens, two_classes
from backbone_dask.subproblems.learners import FromNothing
from backbone_dask.values import SparseFit, Target

Takes: TypeAlias = Literal["numbers", "two classes", "classes"]
_CHECKS: dict[Takes, Callable[[Target], Target]] = {
    "numbers": real_target,
    "two classes": two_classes,
    "classes": classes,
}
_BUILT_IN = {"none", *screens.names(), *exact_solvers.names(), *LEARNERS}


def register_screen(name: str, score: Screen, *, takes: Takes = "numbers") -> None:
    """Let `screen(...)` and the `screen` of estimators take this name; classes also for trees.

    `score(columns, y)` gives one utility for each column; see `ScreenContract` for what it promises. `takes` says what
    y may be: it is then given as numbers, as -1 and 1, or as 0, 1, 2, ...

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import register_screen, screen
    >>> def slope(columns, y):
    ...     return np.abs(columns.standardised() @ (y - y.mean()).astype(np.float32)).astype(np.float64)
    >>> register_screen("slope", slope)
    >>> X = np.random.default_rng(0).normal(size=(50, 200))
    >>> [best] = screen(X, X[:, 7], screen="slope", keep=1).values()
    >>> best.candidates.tolist()
    [7]
    """
    if takes not in _CHECKS:
        raise InvalidSettingError(f"takes is {takes!r}; use {', '.join(map(repr, _CHECKS))}")
    screens.register(_free(name))(NamedScreen(score, _CHECKS[takes]))
    if takes != "numbers":
        _admit(tree_settings.CHOICES, "screen", name)


def register_subproblem_solver(name: str, fit: Callable[..., SparseFit]) -> None:
    """Let the setting `subproblem` of regressions take this name.

    `fit(X, y, *, n_nonzero, gamma, seed)` finds at most `n_nonzero` rows of X (features, samples); see
    `SubproblemSolverContract` for what it promises.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneRegressor, register_subproblem_solver
    >>> from backbone_dask.values import SparseFit
    >>> def largest_products(X, y, *, n_nonzero, gamma, seed):
    ...     support = np.sort(np.argsort(-np.abs(X @ y), kind="stable")[:n_nonzero])
    ...     return SparseFit(len(X), support, X[support] @ y / y.size, 0.0)
    >>> register_subproblem_solver("largest-products", largest_products)
    >>> X = np.random.default_rng(0).normal(size=(50, 200))
    >>> BackboneRegressor(n_nonzero=1, subproblem="largest-products").fit(X, X[:, 7]).support_.tolist()
    [7]
    """
    LEARNERS[_free(name)] = FromNothing(fit)
    _admit(settings.CHOICES, "subproblem", name)


def register_exact_solver(name: str, fit: ExactSolver) -> None:
    """Let the setting `exact` of regressions take this name.

    `fit(X, y, *, n_nonzero, gamma, warm_start, seconds, gap_tolerance)` solves the reduced problem with squared loss
    and returns an `Outcome`; see `ExactSolverContract` for what it promises. It may run in another process: define it
    in a module that workers can import, or in the notebook or script itself.

    Examples
    --------
    >>> import numpy as np
    >>> from backbone_dask import BackboneRegressor, register_exact_solver
    >>> from backbone_dask.exact.branch_and_bound import fit_branch_and_bound
    >>> def quick(X, y, *, seconds, **settings):
    ...     return fit_branch_and_bound(X, y, seconds=min(seconds, 1.0), **settings)
    >>> register_exact_solver("quick", quick)
    >>> X = np.random.default_rng(0).normal(size=(50, 200))
    >>> BackboneRegressor(n_nonzero=1, exact="quick").fit(X, X[:, 7]).support_.tolist()
    [7]
    """
    exact_solvers.register(_free(name))(fit)
    _admit(settings.CHOICES, "exact", name)


def _free(name: str) -> str:
    if name in _BUILT_IN:
        raise InvalidSettingError(f"{name!r} is one of our own parts; choose another name")
    return name


def _admit(choices: dict[str, tuple[str, ...]], setting: str, name: str) -> None:
    if name not in choices[setting]:
        choices[setting] = (*choices[setting], name)
