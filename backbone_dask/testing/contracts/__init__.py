"""One class per protocol: inherit, provide the fixtures it names, and pytest runs every promise."""

import pytest

pytest.register_assert_rewrite(
    "backbone_dask.testing.contracts.exact",
    "backbone_dask.testing.contracts.screen",
    "backbone_dask.testing.contracts.subproblem",
    "backbone_dask.testing.contracts.tree",
)

from backbone_dask.testing.contracts.exact import ExactSolverContract  # noqa: E402
from backbone_dask.testing.contracts.screen import ScreenContract  # noqa: E402
from backbone_dask.testing.contracts.subproblem import SubproblemSolverContract  # noqa: E402
from backbone_dask.testing.contracts.tree import TreeSolverContract  # noqa: E402

__all__ = ["ExactSolverContract", "ScreenContract", "SubproblemSolverContract", "TreeSolverContract"]
